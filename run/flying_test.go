package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// TestMemoryOfMessages: the bound on memory is above the largest resident set of the command on one
// processor, where most of it is messages that have been sent and not received.
func TestMemoryOfMessages(t *testing.T) {
	for _, c := range []struct {
		set       []string
		mebibytes float64
	}{
		{[]string{"collective.algorithm=one-shot"}, 57},
		{[]string{"collective.algorithm=binomial"}, 31},
		{[]string{"collective.algorithm=two-shot"}, 32},
		{nil, 28},
		{[]string{"collective.kind=reduce", "collective.algorithm=flat", `topology.preset="torus"`,
			"topology.ranks=448", "topology.shape=[7, 8, 8]", "collective.bytes=7689472"}, 55},
		{[]string{"collective.kind=reduce", "collective.algorithm=linear", "topology.ranks=5971",
			`topology.preset="fat-tree"`, "topology.oversubscription=2", "collective.bytes=16067712",
			"device.preset=h100-sxm", `sim.sharing="fifo"`, `sim.segment="64 KiB"`,
			"sim.engine=event", "check.proof=false"}, 430},
	} {
		s, err := Load("s.toml", []byte("[topology]\npreset = \"ring\"\nranks = 6\n"+
			"bandwidth = \"12.5 GB/s\"\nlatency = \"500 ns\"\n[collective]\nkind = \"all_reduce\"\n"+
			"algorithm = \"ring\"\nbytes = \"1 MiB\"\n"), LoadOptions{Set: c.set})
		require.NoError(t, err)
		e, err := s.Estimate(s.Points[0])
		require.NoError(t, err)
		ratio := float64(e.Memory) / float64(unit.MiB) / c.mebibytes
		require.True(t, 1 <= ratio && ratio <= 4, "%v: %.2f", c.set, ratio)
	}
}

// TestEstimateOfNothing: of what has no elements nothing is executed, and no bound is searched.
func TestEstimateOfNothing(t *testing.T) {
	s, err := Load("s.toml", []byte("[topology]\npreset = \"fat-tree\"\nranks = 9798\n"+
		"bandwidth = \"12.5 GB/s\"\nlatency = \"500 ns\"\n[collective]\nkind = \"all_to_all\"\n"+
		"algorithm = \"direct\"\nbytes = 4\n"), LoadOptions{})
	require.NoError(t, err)
	e, err := s.Estimate(s.Points[0])
	require.NoError(t, err)
	require.Zero(t, e.Messages)
	require.Less(t, e.Seconds, 0.1)
}
