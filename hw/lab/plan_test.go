package lab

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/topology"
	"collsim/unit"
)

// TestPlan shows the commands that build networks. "wires" takes wires, one a line, with a rate
// each; a preset a number of ranks. Settings, the same everywhere, are shown once.
func TestPlan(t *testing.T) {
	datadriven.RunTest(t, "testdata/plan.txt", func(t *testing.T, d *datadriven.TestData) string {
		p, err := newPlan(graphOf(t, d), "lab")
		if err != nil {
			return err.Error() + "\n"
		}
		var b strings.Builder
		for _, c := range p.commands {
			switch {
			case c.space == "":
				fmt.Fprintf(&b, "%s %s\n", c.tool, c.line)
			case c.tool == "set" && c.space == "lab-0":
				fmt.Fprintf(&b, "everywhere: %s\n", c.line)
			case c.tool != "set":
				fmt.Fprintf(&b, "%s -n %s %s\n", c.tool, c.space, c.line)
			}
		}
		return b.String()
	})
}

func graphOf(t *testing.T, d *datadriven.TestData) *topology.Graph {
	t.Helper()
	p := topology.Params{Preset: d.Cmd, Bandwidth: 1_000_000, Ranks: 4}
	if d.HasArg("ecmp") {
		p.Routing = topology.ECMP
	}
	if d.HasArg("ranks") {
		d.ScanArgs(t, "ranks", &p.Ranks)
	}
	if d.Cmd != "wires" {
		g, err := topology.Build(p)
		require.NoError(t, err)
		return g
	}
	var all []topology.Wire
	for line := range strings.Lines(d.Input) {
		ends, rate, _ := strings.Cut(strings.TrimSpace(line), " at ")
		w := topology.Wire{Bandwidth: unit.Unlimited, Latency: unit.Microsecond}
		if rate != "" {
			var err error
			w.Bandwidth, err = unit.ParseRate(rate)
			require.NoError(t, err)
		}
		if w.From, w.To, w.Both = strings.Cut(ends, " <-> "); !w.Both {
			w.From, w.To, _ = strings.Cut(ends, " -> ")
		}
		all = append(all, w)
	}
	g, err := topology.Links(0, all)
	require.NoError(t, err)
	return g
}

// TestEveryRouteIsThere follows the routes that a plan writes down, wire after wire: they are the
// topology's.
func TestEveryRouteIsThere(t *testing.T) {
	for _, params := range []topology.Params{
		{Preset: "switch", Ranks: 5}, {Preset: "ring", Ranks: 6}, {Preset: "full-mesh", Ranks: 4},
		{Preset: "torus", Shape: []int{3, 3}}, {Preset: "leaf-spine", Ranks: 8, K: 4},
		{Preset: "tree", Ranks: 7, K: 2}, {Preset: "fat-tree", K: 4},
	} {
		params.Bandwidth = 1000
		g, err := topology.Build(params)
		require.NoError(t, err)
		all, err := wires(g)
		require.NoError(t, err)
		require.Len(t, all, len(g.Links())/2)
		p, err := newPlan(g, "lab")
		require.NoError(t, err)
		next := map[string]string{} // namespace and address: the wire
		for _, c := range p.commands {
			if words := strings.Fields(c.line); c.tool == "ip" && words[0] == "route" {
				next[c.space+" "+words[2]] = words[6]
			}
		}
		for src := range g.Ranks {
			for dst := range g.Ranks {
				for _, k := range g.Route(src, dst, nil) {
					w := next[fmt.Sprintf("lab-%d %s", g.Links()[k].From, addressOf(dst))]
					var n int
					_, err := fmt.Sscanf(w, "w%d", &n)
					require.NoError(t, err, "%s, %s to %d", params.Preset, g.Links()[k].Name, dst)
					require.Contains(t, all[n].links, k)
				}
			}
		}
	}
}

func TestPlanRefuses(t *testing.T) {
	g, err := topology.Switch(MaxRanks+1, 1000, 0)
	require.NoError(t, err)
	_, err = newPlan(g, "lab")
	require.EqualError(t, err, "65 ranks: at most 64 are expected")

	g, err = topology.Switch(MaxRanks, 1000, 0)
	require.NoError(t, err)
	p, err := newPlan(g, "lab")
	require.NoError(t, err)
	queues := 0
	for _, c := range p.commands {
		if _, minor, ok := strings.Cut(c.line, " classid 1:"); c.tool == "tc" && ok {
			minor, _, _ = strings.Cut(minor, " ")
			_, err := strconv.ParseUint(minor, 16, 16)
			require.NoError(t, err, "the kernel keeps it in 16 bits")
			queues++
		}
	}
	// Every direction has a class for all; up, one for its rank, down, one for each of the others.
	require.Equal(t, 2*MaxRanks+MaxRanks+MaxRanks*(MaxRanks-1), queues)
}

func TestBuffers(t *testing.T) {
	of := func(rate unit.Rate) buffers {
		g, err := topology.Switch(2, rate, 0)
		require.NoError(t, err)
		return buffersFor(g)
	}
	require.Equal(t, buffers{125_000, 4 << 20}, of(12_500_000), "10 ms at 100 Mbit/s")
	require.Equal(t, buffers{1_250_000, 40_000_000}, of(125_000_000), "10 ms at 1 Gbit/s")
	require.Equal(t, buffers{64 << 10, 4 << 20}, of(1000), "at least some frames")
	require.Equal(t, buffers{4 << 20, 128 << 20}, of(unit.Unlimited), "at most")
}
