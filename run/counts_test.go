package run

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/sim"
)

// TestClasses holds how many ranks are expected to stand for all in a simulation against how many
// do: memory and the magnitude of time follow from it.
func TestClasses(t *testing.T) {
	folds, known := map[bool]int{}, 0
	for _, c := range []struct {
		preset          string
		ranks           int
		kind, algorithm string
		bytes           int
		more            string // keys of [sim], and tables
	}{
		{"switch", 64, "all_reduce", "ring", 1 << 20, ""},
		{"switch", 64, "all_reduce", "ring", 1<<20 + 12, ""}, // blocks of two sizes
		{"switch", 64, "all_reduce", "ring", 1 << 20, "sharing = \"fifo\"\n"},
		{"switch", 64, "all_reduce", "ring", 1 << 20, "engine = \"event\"\n"},
		{"switch", 64, "all_reduce", "ring", 1 << 20, "engine = \"sweep\"\n"},
		{"switch", 64, "all_reduce", "ring", 1 << 20, "[[topology.rank]]\nmatch = \"3\"\n" +
			"start = \"1 us\"\n"},
		{"switch", 64, "all_reduce", "ring(channels=8)", 1 << 20, ""},
		{"switch", 64, "all_reduce", "ring", 1 << 20, "[device]\npreset = \"h100-sxm\"\n"},
		{"switch", 64, "all_reduce", "ring", 1 << 20, "sharing = \"fifo\"\n[device]\n" +
			"preset = \"h100-sxm\"\n"},
		{"ring", 64, "all_reduce", "ring", 1 << 20, ""},
		{"full-mesh", 64, "all_to_all", "pairwise", 1 << 20, ""},
		{"switch", 2048, "all_to_all", "pairwise", 1 << 23, ""},
		{"switch", 64, "all_to_all", "direct", 1 << 20, ""},
		{"switch", 64, "all_to_all", "direct", 1 << 20, "sharing = \"fifo\"\n"},
		{"switch", 64, "all_to_all", "bruck", 1 << 20, ""},
		{"switch", 64, "all_reduce", "recursive-doubling", 1 << 20, ""},
		{"switch", 63, "all_reduce", "recursive-doubling", 1 << 20, ""},
		{"switch", 64, "all_reduce", "rabenseifner", 1 << 20, ""},
		{"switch", 64, "all_reduce", "one-shot", 1 << 20, ""},
		{"switch", 64, "all_reduce", "two-shot", 1 << 20, ""},
		{"switch", 64, "broadcast", "binomial", 1 << 20, ""},
		{"switch", 64, "all_reduce", "double-binary-tree", 1 << 16, ""},
		{"switch", 1024, "all_reduce", "double-binary-tree", 1 << 18, ""},
		{"switch", 1024, "all_reduce", "double-binary-tree", 1 << 18, "sharing = \"fifo\"\n"},
		{"fat-tree", 54, "all_reduce", "ring", 1 << 20, ""},
		{"fat-tree", 54, "all_to_all", "pairwise", 54 << 14, ""},
		{"leaf-spine", 64, "all_to_all", "pairwise", 1 << 20, ""},
	} {
		text := fmt.Sprintf("[topology]\npreset = %q\nranks = %d\nbandwidth = \"25 GB/s\"\n"+
			"latency = \"1 us\"\n[collective]\nkind = %q\nalgorithm = %q\nbytes = %d\n"+
			"[check]\nproof = false\nnumbers = false\n[sim]\n%s", c.preset, c.ranks, c.kind,
			c.algorithm, c.bytes, c.more)
		s, err := Load("s.toml", []byte(text), LoadOptions{})
		require.NoError(t, err, text)
		p := s.Points[0]
		e, err := s.Estimate(p)
		require.NoError(t, err)
		m, err := s.make(p, p.Algorithm)
		require.NoError(t, err)
		g, err := p.Topology.Graph()
		require.NoError(t, err)
		ran, err := sim.Run(m.whole, envOf(p, g), sim.Options{Engine: engineOf(p), Folded: true})
		require.NoError(t, err)
		require.Equal(t, ran.Messages, e.Messages, text)
		folds[ran.Folded != nil]++
		executed := 0
		if f := ran.Folded; f != nil {
			executed = len(f.Ends) / f.Lanes
		}
		if n := classesOf(m.whole, p); n > 0 { // else that is only known while they are
			require.LessOrEqual(t, int64(executed), n, text)
			if !m.whole.HasRoles() {
				require.EqualValues(t, executed, n, text)
			}
			known++
		}
	}
	require.Greater(t, known, 8)
	require.Greater(t, min(folds[true], folds[false]), 8)
}

// TestCountsAreThoseOfARun holds what check counts against what a run counts, where a run sends
// more than messages of equal blocks: multimem of NVLS and SHARP, puts, blocks of given sizes.
func TestCountsAreThoseOfARun(t *testing.T) {
	for _, name := range []string{"four-dgx", "collnet", "sharp", "dispatch", "experts",
		"own-schedule", "mlp", "moe", "profile"} {
		s, err := Load("example:"+name, nil, LoadOptions{Set: []string{"check.numbers=false",
			"check.proof=false"}})
		require.NoError(t, err)
		report, err := s.Run(context.Background(), RunOptions{})
		require.NoError(t, err)
		for i, p := range s.Points {
			e, err := s.Estimate(p)
			require.NoError(t, err)
			r := report.Results[i]
			require.Equal(t, []int64{r.Steps, r.Messages, int64(r.BytesSent)},
				[]int64{e.Steps, e.Messages, int64(e.Bytes)}, "%s %s", name, p.ID)
		}
		for i, p := range s.Programs {
			e, err := s.EstimateProgram(p)
			require.NoError(t, err)
			if name == "profile" { // its call is by the fastest of several, all of which are counted
				require.Greater(t, e.Algorithms, 2)
				continue
			}
			require.Equal(t, 1, e.Algorithms)
			require.Equal(t, report.Programs[i].BytesSent, e.Bytes, "%s %s", name, p.ID)
		}
	}
}
