package run

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/scenarios"
)

// TestWays: on a switch of 16 ranks every way has two links. Of a ring nobody meets, but where it
// has two channels, lanes of a rank do; of a pairwise exchange, whose rows are shifts, nobody, but
// links are everybody's; of recursive doubling on a tree of 4 · 4 ranks all of a row cross one link
// in the two rows that leave a switch, of four.
func TestWays(t *testing.T) {
	for _, c := range []struct {
		network, kind, algorithm string
		want                     ways
	}{
		{"switch", "all_reduce", "ring", ways{2, 0, true, false}},
		{"switch", "all_reduce", "ring\"\nchannels = 2\n#\"", ways{2, 0, false, true}},
		{"switch", "all_to_all", "pairwise", ways{2, 0, false, false}},
		{"tree\"\nk = 4\n#\"", "all_reduce", "recursive-doubling", ways{3, 0.5, false, false}},
	} {
		p, m, w := workFrom(t, "[topology]\npreset = \"%s\"\nranks = 16\n[collective]\nkind = %q\n"+
			"algorithm = \"%s\"\n", c.network, c.kind, c.algorithm)
		w.look(m.whole, p, 0)
		require.Equal(t, c.want, w.ways, c.network+" "+c.algorithm)
		c.want.meet, c.want.alone, c.want.beside = 0, false, false
		w.look(m.whole, p, 1)
		require.Equal(t, c.want, w.ways, "who meets is not looked at")
	}
}

// TestWaysOfEveryOther: of lanes that send in every other step, as those that add what they receive
// in a step of its own, sends are seen nevertheless.
func TestWaysOfEveryOther(t *testing.T) {
	for ranks := 100; ranks <= 500; ranks += 50 {
		p, m, w := workFrom(t, "[topology]\npreset = \"switch\"\nranks = %d\n[collective]\n"+
			"kind = \"reduce_scatter\"\nalgorithm = \"pairwise\"\n", ranks)
		w.look(m.whole, p, 0)
		require.Equal(t, 2.0, w.hops, "%d ranks", ranks)
	}
}

// TestWaysOfManyLanes: where each peer has a lane of its own, lanes are looked at evenly: on a ring
// of n ranks it is n / 4 links to a peer, on average.
func TestWaysOfManyLanes(t *testing.T) {
	p, m, w := workFrom(t, "[topology]\npreset = \"ring\"\nranks = %d\n[collective]\n"+
		"kind = \"all_gather\"\nalgorithm = \"direct\"\n", 1024)
	w.look(m.whole, p, 1)
	require.InEpsilon(t, 256, w.hops, 0.05)
}

// TestWaysOfManyPrograms: where each rank has a long program of its own, not all are made to look
// at: flows are taken to meet.
func TestWaysOfManyPrograms(t *testing.T) {
	p, m, w := workFrom(t, "[topology]\npreset = \"switch\"\nranks = %d\n[collective]\n"+
		"kind = \"reduce_scatter\"\nalgorithm = \"direct\"\n", 2100)
	require.Greater(t, w.messages, int64(mostSteps))
	w.look(m.whole, p, 0)
	require.Equal(t, 1.0, w.meet)
}

// workFrom is the work of a point of 1 MiB on links of 25 GB/s, before a look at ways.
func workFrom(t *testing.T, format string, args ...any) (*scenarios.Point, *made, work) {
	t.Helper()
	s, err := Load("s.toml", fmt.Appendf(nil, format, args...), LoadOptions{Set: []string{
		`topology.bandwidth="25 GB/s"`, `topology.latency="1 us"`, `collective.bytes="1 MiB"`}})
	require.NoError(t, err)
	p := s.Points[0]
	m, err := s.make(p, p.Algorithm)
	require.NoError(t, err)
	return p, m, workOf(m.whole)
}
