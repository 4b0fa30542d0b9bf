package run

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos/nccl"
	"collsim/unit"
)

// tuningsOf simulates all tunings of a scenario.
func tuningsOf(t *testing.T, text string, sizes []unit.Bytes) (*Scenario, []*Tuning) {
	s, err := Load("tune.toml", []byte(text), LoadOptions{})
	require.NoError(t, err)
	list, err := s.Tunings(sizes)
	require.NoError(t, err)
	for _, x := range list {
		for i := range x.Sizes {
			require.NoError(t, x.Simulate(i))
		}
	}
	return s, list
}

// tuneText is a scenario of a kind on nodes of a DGX H100.
func tuneText(kind string, nodes int, more string) string {
	return fmt.Sprintf("topology.preset = \"dgx-h100\"\ntopology.nodes = %d\ncheck.proof = false\n"+
		"check.numbers = false\ncollective.kind = %q\ncollective.algorithm = \"nccl:auto\"\n"+
		"collective.bytes = \"1 MiB\"\n%s", nodes, kind, more)
}

var tunedKinds = []string{"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce"}

// TestTunePasses: bounds rule out no choice that would be the best, and no choice takes less than
// its bound: all of them are simulated, and the best is the same.
func TestTunePasses(t *testing.T) {
	for _, test := range []struct {
		kind  string
		nodes int
		more  string
	}{{"all_reduce", 1, ""}, {"all_reduce", 2, ""}, {"all_gather", 1, ""}, {"reduce_scatter", 2, ""},
		{"reduce", 2, ""}, {"broadcast", 1, "benchmark.calls = 5\n"}} { // whose calls overlap
		_, list := tuningsOf(t, tuneText(test.kind, test.nodes, test.more),
			[]unit.Bytes{16 * unit.KiB, 2 * unit.MiB})
		for _, x := range list {
			everyChoice(t, x)
		}
	}
}

// everyChoice simulates all choices of a tuning.
func everyChoice(t *testing.T, x *Tuning) {
	for i := range x.Sizes {
		size := &x.Sizes[i]
		costs, err := x.costs(size)
		require.NoError(t, err)
		best := size.Own
		tried, passed := size.Tried, size.RuledOut
		keys := append(candidates(costs), tunedKey{costs.Taken, 0})
		require.Equal(t, tried+passed, len(keys))
		for _, key := range keys {
			c, err := x.simulate(size, key, unit.Forever)
			require.NoError(t, err)
			p := x.at(size.Bytes)
			p.Tuner = lineOf(p.Spec.Kind, key) + "\n"
			of, err := x.costsAt(p)
			require.NoError(t, err)
			require.LessOrEqual(t, x.least(p, of), c.Time, "%v %v", key, size.Bytes)
			require.Equal(t, key.Way, of.Taken)
			if c.Time < best.Time {
				best = c
			}
		}
		require.Equal(t, best, size.Best, "%v of %v", x.Point.Spec.Kind, size.Bytes)
	}
}

// pluginLine is a line of a tuner's file as NCCL's plugin reads it, without a look at ParseTuner:
// fields in order, and what they mean, from the source of plugins/tuner/example/plugin.c.
type pluginLine struct {
	kind             string
	from, to         uint64
	algorithm, proto string
	channels         int
	nodes, ranks     int
}

// readPlugin reads a file so.
func readPlugin(t *testing.T, text string) (list []pluginLine) {
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		require.NoError(t, err)
		return n
	}
	for _, line := range strings.Split(text, "\n") {
		require.Less(t, len(line), 255)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, ",")
		require.Len(t, f, 10)
		l := pluginLine{kind: f[0], algorithm: f[3], proto: f[4], channels: number(f[5]),
			nodes: number(f[6]), ranks: number(f[7])}
		var err error
		l.from, err = strconv.ParseUint(f[1], 10, 64)
		require.NoError(t, err)
		l.to, err = strconv.ParseUint(f[2], 10, 64)
		require.NoError(t, err)
		require.Equal(t, []string{"-1", "-1"}, f[8:])
		list = append(list, l)
	}
	return list
}

// choose is what the plugin does of a call: the first line that matches and that NCCL has not ruled
// out, with the number of channels that it asks for, of which 0 is NCCL's own; nil: none.
func choose(list []pluginLine, kind string, bytes uint64, nodes, ranks int,
	has func(l pluginLine) bool) *pluginLine {
	for i := range list {
		l := &list[i]
		if l.kind == kind && l.from <= bytes && bytes <= l.to && (l.nodes == -1 || l.nodes == nodes) &&
			(l.ranks == -1 || l.ranks == ranks) && has(*l) {
			return l
		}
	}
	return nil
}

// TestTuneFile: NCCL's plugin finds in the file, at every size, the choice that the table has: what
// is best where that is written, else NCCL's own. And nccl:auto with that file takes the times that
// were predicted. Of other kinds it finds NCCL's own choice.
func TestTuneFile(t *testing.T) {
	dir := t.TempDir()
	for _, nodes := range []int{1, 2} {
		for _, kind := range tunedKinds[:5/nodes] {
			for _, all := range []bool{true, false}[:1+nodes%2] {
				s, list := tuningsOf(t, tuneText(kind, nodes, ""), []unit.Bytes{32 * unit.KiB, 1 * unit.MiB,
					8 * unit.MiB})
				require.NoError(t, s.TunedFits(list, TuneFormats()[0]))
				text, _, err := s.WriteTuned(list, TuneFormats()[0], all)
				require.NoError(t, err)
				x := list[0]
				lines := readPlugin(t, text)
				name := strings.ReplaceAll(kind, "_", "")
				for i := range x.Sizes {
					size := &x.Sizes[i]
					want := size.Own
					if size.Written(all) {
						want = size.Best
					}
					l := choose(lines, name, uint64(size.Bytes), nodes, 8*nodes, func(l pluginLine) bool {
						return true // its lines are ways that NCCL has
					})
					require.NotNil(t, l)
					words := strings.ToLower(want.Algorithm.String() + " " + want.Protocol.String())
					require.Equal(t, words, strings.ReplaceAll(l.algorithm, "_", "")+" "+l.proto,
						"%s of %v", kind, size.Bytes)
					require.Equal(t, want.Channels, l.channels)
				}
				require.Nil(t, choose(lines, name, 1<<20, 4, 32, func(pluginLine) bool { return true }))
				takesBack(t, x, dir, text, kind, nodes, all)
			}
		}
	}
}

// takesBack runs nccl:auto with a file at all sizes of a tuning.
func takesBack(t *testing.T, x *Tuning, dir, text, kind string, nodes int, all bool) {
	for i := range x.Sizes {
		size := &x.Sizes[i]
		want := size.Own
		if size.Written(all) {
			want = size.Best
		}
		again, err := Load(dir+"/again.toml", []byte(tuneText(kind, nodes,
			"nccl.tuner = \"t.csv\"\n")), LoadOptions{
			Set:  []string{fmt.Sprintf("collective.bytes=%d", int64(size.Bytes))},
			Read: func(string, unit.Bytes) ([]byte, error) { return []byte(text), nil }})
		require.NoError(t, err)
		report, err := again.Run(context.Background(), RunOptions{})
		require.NoError(t, err)
		r := report.Results[0]
		require.Equal(t, want.Time, r.Time, "%s of %v", kind, size.Bytes)
		require.Equal(t, want.Algorithm.String(), r.Picked.Algorithm)
		require.Equal(t, want.Used, r.Picked.Channels)
	}
}

// TestTuneFileOwn: where nothing is better, the file has NCCL's own choice at all sizes and of all
// kinds, switch points to the byte included.
func TestTuneFileOwn(t *testing.T) {
	s, list := tuningsOf(t, tuneText("all_reduce", 1, ""), []unit.Bytes{8 * unit.KiB})
	text, _, err := s.WriteTuned(list, TuneFormats()[0], false)
	require.NoError(t, err)
	for _, kind := range tunedKinds {
		other, err := Load("o.toml", []byte(tuneText(kind, 1, "")), LoadOptions{})
		require.NoError(t, err)
		plain := other.Points[0]
		tuned := *plain
		tuned.Tuner = text
		for bytes := unit.Bytes(1 << 10); bytes < unit.GiB; bytes = bytes*9/8 + 52 {
			plain.Spec = plain.Spec.WithBytes(bytes)
			tuned.Spec = plain.Spec
			row, err := find(plain.Spec.Kind, "nccl:auto")
			require.NoError(t, err)
			want, err := nccl.CostsOf(row, plain.Spec, optionsOn(plain, plain.Algorithm, row))
			require.NoError(t, err)
			got, err := nccl.CostsOf(row, tuned.Spec, optionsOn(&tuned, tuned.Algorithm, row))
			require.NoError(t, err)
			require.Equal(t, want.Taken, got.Taken, "%s of %d B", kind, bytes)
			require.Equal(t, want.Used, got.Used, "%s of %d B", kind, bytes)
		}
	}
}

// TestTuneFormats: RCCL's file keeps to Ring and Tree and leaves channels to it by −1; variables
// are written where no size loses by them.
func TestTuneFormats(t *testing.T) {
	s, list := tuningsOf(t, tuneText("all_reduce", 2, ""), []unit.Bytes{unit.MiB, 2 * unit.MiB,
		64 * unit.MiB})
	text, notes, err := s.WriteTuned(list, TuneFormats()[1], true)
	require.NoError(t, err)
	require.Contains(t, text, "\nallreduce,1048576,4194303,tree,ll,-1,2,16,-1,-1\n")
	require.NotContains(t, text, "nvls")
	require.Contains(t, strings.Join(notes, "\n"), "NVLSTree")
	s, list = tuningsOf(t, tuneText("all_reduce", 2, ""), []unit.Bytes{unit.MiB, 2 * unit.MiB})
	text, _, err = s.WriteTuned(list, TuneFormats()[2], false)
	require.NoError(t, err)
	variables := ""
	for _, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, "#") && line != "" {
			variables += " " + line
		}
	}
	require.NotEmpty(t, variables, text)
	for i := range list[0].Sizes {
		size := &list[0].Sizes[i]
		p := list[0].at(size.Bytes)
		p.Environment = strings.TrimSpace(variables)
		costs, err := nccl.CostsOf(list[0].row, p.Spec, optionsOn(p, list[0].Algorithm, list[0].row))
		require.NoError(t, err)
		c, err := list[0].simulate(size, tunedKey{costs.Taken, 0}, unit.Forever)
		require.NoError(t, err)
		require.Less(t, c.Time, size.Own.Time, variables)
	}
}
