package run

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/sim"
)

// TestPlayed holds what an estimate expects a simulation to do against what it does: which engine
// plays, and how many ranks stand for all. The cost follows from these and from what is counted of
// the schedule, which is no expectation.
func TestPlayed(t *testing.T) {
	folds := map[bool]int{}
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
		require.Empty(t, e.Refused)
		m, err := s.make(p, p.Algorithm)
		require.NoError(t, err)
		g, err := p.Topology.Graph()
		require.NoError(t, err)
		ran, err := sim.Run(m.whole, envOf(p, g), sim.Options{Engine: engineOf(p), Folded: true})
		require.NoError(t, err)
		require.Equal(t, ran.Messages, e.Messages, text)
		folds[ran.Folded != nil]++
		played := 0
		if f := ran.Folded; f != nil {
			played = len(f.Ends) / f.Lanes
		}
		if m.whole.HasRoles() { // its classes are known only when they are played
			require.Equal(t, played > 0, e.Played > 0, text)
			continue
		}
		require.EqualValues(t, played, e.Played, text)
	}
	require.Greater(t, min(folds[true], folds[false]), 8)
}

// TestEnds: an estimate counts the sizes that flow at once, by which fluid sharing is expected to
// take long; there are none where messages are served one after the other.
func TestEnds(t *testing.T) {
	for sharing, least := range map[string]float64{"fluid": 0.1, "fifo": 0} {
		var rows strings.Builder
		for r := range 96 {
			rows.WriteString("[")
			for c := range 96 {
				fmt.Fprintf(&rows, "%d, ", 1000+(r*96+c)*7919%10_007)
			}
			rows.WriteString("],\n")
		}
		text := fmt.Sprintf("[topology]\npreset = \"switch\"\nranks = 96\nbandwidth = \"25 GB/s\"\n"+
			"latency = \"1 us\"\n[collective]\nkind = \"all_to_allv\"\nalgorithm = \"direct\"\n"+
			"dtype = \"int8\"\nsplits = [\n%s]\n[sim]\nsharing = %q\n", rows.String(), sharing)
		s, err := Load("s.toml", []byte(text), LoadOptions{})
		require.NoError(t, err)
		m, err := s.make(s.Points[0], s.Points[0].Algorithm)
		require.NoError(t, err)
		w := workOf(m.whole)
		require.EqualValues(t, 96*96, w.sizes)
		require.EqualValues(t, 96*95, w.places)
		require.EqualValues(t, 96*95, w.ends())
		w.look(m.whole, s.Points[0], 0)
		took := playing(m.whole, s.Points[0], w, 0)
		require.True(t, least < took && took < least+0.15, "%s: %v s", sharing, took)
	}
}
