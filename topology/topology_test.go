package topology

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/unit"
)

const (
	rate = 12_500_000_000 * unit.Rate(unit.Byte)
	hop  = 500 * unit.Nanosecond
)

// TestScripts builds networks, changes them and asks for routes, as testdata shows:
//
//	preset NAME ranks=N       a preset
//	build                     parameters, key=value; lines "node: …", "network: …" for a cluster
//	links [ranks=N]           wires, one a line: from to [both]
//	override PATTERN          one change a line: rate, share or latency
//	print                     the links with their ports
//	nodes                     the names of all nodes, a kind a line
//	route SRC DST             the links of a route; "route all" for every pair
//	match links|ranks PATTERN
//	teams all|node|rail
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		g := &Graph{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			made, out, err := run(t, g, d)
			if err != nil {
				return err.Error() + "\n"
			}
			g = made
			return out
		})
	})
}

// run executes one command of a script on g and returns the network from then on.
func run(t *testing.T, g *Graph, d *datadriven.TestData) (*Graph, string, error) {
	words := make([]string, len(d.CmdArgs))
	for i, a := range d.CmdArgs {
		words[i] = a.String()
	}
	ranks := 0
	if d.Cmd == "preset" || d.Cmd == "links" {
		d.MaybeScanArgs(t, "ranks", &ranks)
	}
	switch d.Cmd {
	case "preset":
		made, err := plain(words[0], ranks, rate, hop)
		return summary(made, err)
	case "build":
		made, err := Build(params(t, d.Input))
		return summary(made, err)
	case "nodes":
		return g, printNodes(g), nil
	case "teams":
		teams, err := g.Teams(words[0])
		return g, fmt.Sprintln(teams), err
	case "links":
		made, err := Links(ranks, wires(t, d.Input))
		return summary(made, err)
	case "override":
		for _, line := range strings.Split(d.Input, "\n") {
			if err := g.Override(strings.Join(words, " "), change(t, line)); err != nil {
				return nil, "", err
			}
		}
		return g, printLinks(g), nil
	case "print":
		return g, printLinks(g), nil
	case "route":
		if words[0] == "all" {
			return g, printRoutes(g), nil
		}
		return g, printRoute(g, number(t, words[0]), number(t, words[1])), nil
	case "match":
		out, err := match(g, words)
		return g, out, err
	}
	t.Fatalf("unknown command %s", d.Cmd)
	return nil, "", nil
}

func summary(g *Graph, err error) (*Graph, string, error) {
	if err == nil {
		err = g.Connected()
	}
	if err != nil {
		return nil, "", err
	}
	return g, fmt.Sprintf("%s: %d ranks, %d nodes, %d links\n",
		g.Preset, len(g.Ranks), g.NumNodes(), g.NumLinks()), nil
}

func wires(t *testing.T, input string) []Wire {
	var list []Wire
	for _, line := range strings.Split(input, "\n") {
		f := strings.Fields(line)
		w := Wire{From: f[0], To: f[1], Bandwidth: rate, Latency: hop}
		for _, option := range f[2:] {
			if option == "both" {
				w.Both = true
				continue
			}
			c := change(t, strings.ReplaceAll(option, "_", " "))
			if c.Latency != nil {
				w.Latency = *c.Latency
			}
			if c.Bandwidth != 0 {
				w.Bandwidth = c.Bandwidth
			}
		}
		list = append(list, w)
	}
	return list
}

func change(t *testing.T, s string) Change {
	if share, err := unit.ParseShare(s); err == nil {
		return Change{Share: share}
	}
	if bandwidth, err := unit.ParseRate(s); err == nil {
		return Change{Bandwidth: bandwidth}
	}
	latency, err := unit.ParseTime(s)
	require.NoError(t, err)
	return Change{Latency: &latency}
}

func number(t *testing.T, s string) int {
	n, err := strconv.Atoi(s)
	require.NoError(t, err)
	return n
}

func printLinks(g *Graph) string {
	var out strings.Builder
	for i, l := range g.Links() {
		fmt.Fprintf(&out, "%2d %-16s %v %v port %d\n", i, l.Name, l.Bandwidth, l.Latency, l.Port)
	}
	return out.String()
}

func printRoute(g *Graph, src, dst int) string {
	var names []string
	for _, l := range g.Route(src, dst, nil) {
		names = append(names, g.Links()[l].Name)
	}
	if len(names) == 0 {
		return "no links\n"
	}
	return strings.Join(names, " ") + "\n"
}

func printRoutes(g *Graph) string {
	var out strings.Builder
	for s := range g.Ranks {
		for d := range g.Ranks {
			fmt.Fprintf(&out, "%d %d: %s", s, d, printRoute(g, s, d))
		}
	}
	return out.String()
}

func match(g *Graph, words []string) (string, error) {
	pattern := strings.Join(words[1:], " ")
	find := g.MatchLinks
	if words[0] == "ranks" {
		find = g.MatchRanks
	}
	found, err := find(pattern)
	return fmt.Sprintln(found), err
}

func TestWireErrorCanBeMatched(t *testing.T) {
	_, err := Links(2, []Wire{
		{From: "gpu0", To: "gpu1", Bandwidth: rate},
		{From: "gpu1", To: "gpu2", Bandwidth: rate},
	})
	var wire *WireError
	require.ErrorAs(t, err, &wire)
	require.Equal(t, WireError{1, "to", "gpu2", "there are 2 ranks, gpu0 to gpu1"}, *wire)
}

func TestImpossibleWires(t *testing.T) {
	good := Wire{From: "gpu0", To: "gpu1", Bandwidth: rate, Latency: hop, Both: true}
	tests := []struct {
		change func(*Wire)
		want   string
	}{
		{func(w *Wire) { w.Bandwidth = 0 },
			`link 0: bandwidth = "0 B/s": a rate above zero is expected`},
		{func(w *Wire) { w.Latency = -1 },
			`link 0: latency = "-1 ps": a time from 0 s to 1000 s is expected`},
		{func(w *Wire) { w.Latency = unit.Forever },
			`link 0: latency = "never": a time from 0 s to 1000 s is expected`},
		{func(w *Wire) { w.From = "" }, `link 0: from = "": ` +
			`a name without blanks, quotes, *, < and > is expected`},
		{func(w *Wire) { w.To = "a b" }, `link 0: to = "a b": ` +
			`a name without blanks, quotes, *, < and > is expected`},
	}
	for _, tt := range tests {
		w := good
		tt.change(&w)
		_, err := Links(0, []Wire{w})
		require.EqualError(t, err, tt.want)
	}
}

func TestPresetsRefuseWhatNoNetworkHas(t *testing.T) {
	for _, preset := range presets() {
		_, err := plain(preset, 0, rate, hop)
		require.EqualError(t, err, "ranks = 0: 1 to 1048576 are expected")
		_, err = plain(preset, MaxRanks+1, rate, hop)
		require.EqualError(t, err, "ranks = 1048577: 1 to 1048576 are expected")
		_, err = plain(preset, 2, 0, hop)
		require.EqualError(t, err, "bandwidth = 0 B/s: a rate above zero is expected")
		_, err = plain(preset, 2, rate, -1)
		require.EqualError(t, err,
			"latency = -1 ps: a time from 0 s to 1000 s is expected")
	}
	_, err := FullMesh(50000, rate, hop)
	require.EqualError(t, err, "ranks = 50000: "+
		"a full-mesh of as many has 2499950000 links; the limit is 2147483647")
	mesh, err := FullMesh(5000, rate, hop)
	require.NoError(t, err)
	require.EqualError(t, mesh.Listable(),
		"a full-mesh of 5000 ranks has 24995000 links; at most 16777216 are listed")
	_, err = mesh.MatchLinks("*")
	require.Equal(t, mesh.Listable(), err)
}

func TestOverrideIsAllOrNothing(t *testing.T) {
	g, err := Links(0, []Wire{
		{From: "gpu0", To: "gpu1", Bandwidth: rate},
		{From: "gpu1", To: "gpu0", Bandwidth: 1},
	})
	require.NoError(t, err)
	before := g.Clone()
	// Half of 1 B/s is nothing: gpu0->gpu1, which comes first, must not be halved either.
	err = g.Override("*", Change{Share: 500_000})
	require.EqualError(t, err,
		"50 % of 1 B/s, the bandwidth of gpu1->gpu0, is less than 1 B/s")
	late := unit.Forever
	for _, bad := range []Change{
		{Bandwidth: 1, Share: 1}, {Bandwidth: -1}, {Share: -1}, {Bandwidth: 2, Latency: &late},
	} {
		require.Error(t, g.Override("*", bad))
	}
	require.Equal(t, before.Links(), g.Links())
}

func TestCloneSharesNothing(t *testing.T) {
	g, err := Switch(2, rate, hop)
	require.NoError(t, err)
	c := g.Clone()
	require.NoError(t, c.Override("gpu0->switch", Change{Bandwidth: 1}))
	require.Equal(t, rate, g.Links()[0].Bandwidth)
	require.Equal(t, g.Route(0, 1, nil), c.Route(0, 1, nil))
}

func ExampleSwitch() {
	g, _ := Switch(8, 12_500_000_000, 500*unit.Nanosecond)
	latency := unit.Time(0)
	for _, l := range g.Route(3, 5, nil) {
		fmt.Println(g.Links()[l].Name)
		latency += g.Links()[l].Latency
	}
	fmt.Println("a message pays", latency)
	// Output:
	// gpu3->switch
	// switch->gpu5
	// a message pays 1.00 us
}

func ExampleGraph_Override() {
	g, _ := Ring(4, 12_500_000_000, 500*unit.Nanosecond)
	if err := g.Override("gpu1 <-> gpu2", Change{Share: 500_000}); err != nil {
		fmt.Println(err)
	}
	for _, l := range g.Links() {
		fmt.Println(l.Name, l.Bandwidth)
	}
	fmt.Println(g.Override("gpu1->gpu9", Change{Bandwidth: 1}))
	// Output:
	// gpu0->gpu1 12.5 GB/s
	// gpu1->gpu2 6.25 GB/s
	// gpu2->gpu3 12.5 GB/s
	// gpu3->gpu0 12.5 GB/s
	// gpu0->gpu3 12.5 GB/s
	// gpu1->gpu0 12.5 GB/s
	// gpu2->gpu1 6.25 GB/s
	// gpu3->gpu2 12.5 GB/s
	// "gpu1->gpu9" matches no link; nearest: gpu1->gpu2, gpu1->gpu0, gpu0->gpu1
}
