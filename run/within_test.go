package run

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWithin: what is taken is known well of messages that are served one after the other, of flows
// that have their links for themselves, and where one rank stands for all; else it is not, and less
// where ranks have programs or GPUs or many lanes of their own.
func TestWithin(t *testing.T) {
	for _, c := range []struct {
		set  []string
		want float64
	}{
		{nil, WellKnown}, // a ring
		{[]string{"collective.kind=all_to_all", "collective.algorithm=direct"}, RoughlyKnown},
		{[]string{"collective.kind=all_to_all", "collective.algorithm=direct",
			"sim.sharing=fifo"}, WellKnown},
		{[]string{"sim.sharing=fifo", `sim.segment="64 KiB"`}, RoughlyKnown},
		{[]string{"device.preset=h100-sxm"}, HardlyForeseen},
		{[]string{"topology.ranks=12", "collective.algorithm=recursive-doubling"}, HardlyForeseen},
		{[]string{"topology.ranks=20", "collective.kind=all_to_all", "collective.algorithm=direct",
			"sim.sharing=fifo"}, HardlyForeseen},
		{[]string{"sim.sharing=fifo", `device.send_buffer="64 KiB"`}, RoughlyKnown},
		{[]string{"collective.channels=2", `topology.preset="ring"`}, HardlyForeseen},
		{[]string{"topology.ranks=256", `topology.preset="ring"`, "collective.kind=all_to_all",
			"collective.algorithm=pairwise", "sim.sharing=fifo"}, RoughlyKnown},
		{[]string{"check.numbers=true", `collective.bytes="256 MiB"`}, RoughlyKnown},
		{[]string{`topology.preset="tree"`, "topology.k=4"}, WellKnown},
		{[]string{`topology.preset="tree"`, "topology.k=4",
			"collective.algorithm=recursive-doubling"}, RoughlyKnown},
		{[]string{"topology.ranks=4096", "sim.engine=fold"}, WellKnown},
		{[]string{"topology.ranks=4096", "sim.engine=fold",
			`topology.rank=[{match = "gpu5", slowdown = 1.5}]`}, RoughlyKnown},
		{[]string{"collective.teams=[[0, 1], [2, 3]]", "sim.sharing=fifo"}, RoughlyKnown},
	} {
		s, err := Load("s.toml", []byte("[topology]\npreset = \"switch\"\nranks = 16\n"+
			"bandwidth = \"25 GB/s\"\nlatency = \"1 us\"\n[collective]\nkind = \"all_reduce\"\n"+
			"algorithm = \"ring\"\nbytes = \"1 MiB\"\n[sim]\nengine = \"event\"\n"+
			"[check]\nnumbers = false\nproof = false\n"), LoadOptions{Set: c.set})
		require.NoError(t, err)
		e, err := s.Estimate(s.Points[0])
		require.NoError(t, err)
		require.Equal(t, c.want, e.Within, "%v", c.set)
	}
}

// TestSearchedWays: bounds search the ways of each rank of a mesh, which takes longer than to play
// a ring that is swept; of a torus they search those of one, and of a switch none.
func TestSearchedWays(t *testing.T) {
	estimate := func(network string) float64 {
		s, err := Load("s.toml", []byte("[topology]\n"+network+"\nbandwidth = \"25 GB/s\"\n"+
			"latency = \"1 us\"\n[collective]\nkind = \"all_reduce\"\nalgorithm = \"ring\"\n"+
			"bytes = \"64 MiB\"\n[check]\nnumbers = false\n"), LoadOptions{})
		require.NoError(t, err)
		e, err := s.Estimate(s.Points[0])
		require.NoError(t, err)
		return e.Seconds / SharedCore
	}
	require.InEpsilon(t, 1.1, estimate("preset = \"mesh\"\nshape = [64, 64]"), 0.5) // measured
	require.Less(t, estimate("preset = \"torus\"\nshape = [64, 64]"), 0.1)
	require.Less(t, estimate("preset = \"switch\"\nranks = 4096"), 0.1)
}

// TestMemoryWithin: memory is well known of a ring that is folded, or of which few ranks are
// played, and roughly where a proof walks all ranks, or each has a program of its own.
func TestMemoryWithin(t *testing.T) {
	for _, c := range []struct {
		set  []string
		want float64
	}{
		{[]string{"check.proof=true"}, WellKnown},
		{[]string{"check.proof=true", "collective.count=2050", "topology.ranks=1024"}, RoughlyKnown},
		{[]string{"check.proof=true", "collective.algorithm=one-shot", "topology.ranks=500"},
			RoughlyKnown},
		{[]string{"collective.algorithm=one-shot", "topology.ranks=500"}, RoughlyKnown},
		{[]string{"collective.algorithm=one-shot", "topology.ranks=8"}, WellKnown}, // of the command
	} {
		s, err := Load("s.toml", []byte("[topology]\npreset = \"switch\"\nranks = 16\n"+
			"bandwidth = \"25 GB/s\"\nlatency = \"1 us\"\n[collective]\nkind = \"all_reduce\"\n"+
			"algorithm = \"ring\"\ncount = 262144\n[check]\nnumbers = false\nproof = false\n"),
			LoadOptions{Set: c.set})
		require.NoError(t, err)
		e, err := s.Estimate(s.Points[0])
		require.NoError(t, err)
		require.Equal(t, c.want, e.MemoryWithin, "%v: %v", c.set, e.Takes)
	}
}
