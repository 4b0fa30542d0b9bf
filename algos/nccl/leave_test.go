package nccl

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// TestLeave: by which NIC sends and rings leave a node, as ncclTopoGetNetDev and the search of
// graphs have it (graph/search.cc).
func TestLeave(t *testing.T) {
	const byRoute, own, rail, near, first = schedule.LeaveByRoute, schedule.LeaveByOwn,
		schedule.LeaveByRail, schedule.LeaveByNeighbour, schedule.LeaveByFirst
	for _, test := range []struct {
		env, machine   string
		ranks, perNode int
		sends, ring    schedule.Leave
	}{
		{"", "", 16, 8, first, byRoute},
		{"", "", 8, 8, byRoute, byRoute},
		{"", "", 8, 1, byRoute, byRoute},
		{"NCCL_P2P_PXN_LEVEL=1", "", 16, 8, near, byRoute},
		{"NCCL_P2P_PXN_LEVEL=0", "", 16, 8, own, byRoute},
		{"NCCL_PXN_DISABLE=0", "", 16, 8, first, byRoute},
		{"NCCL_PXN_DISABLE=1", "", 16, 8, own, byRoute},
		{"NCCL_PXN_DISABLE=1 NCCL_P2P_PXN_LEVEL=2", "", 16, 8, own, byRoute},
		{"NCCL_PXN_DISABLE=1 NCCL_CROSS_NIC=0", "", 16, 8, rail, rail},
		{"NCCL_CROSS_NIC=0", "", 16, 8, first, near},
		{"NCCL_CROSS_NIC=1", "", 16, 8, first, own},
		{"NCCL_CROSS_NIC=2", "", 16, 8, first, byRoute},
		{"NCCL_CROSS_NIC=0", "x sm=90 joined=pcie gpus=8 pcie=48", 16, 8, rail, rail},
		{"", "x sm=90 joined=pcie gpus=8 pcie=48", 16, 8, own, byRoute},
		{"", "x sm=80 joined=links gpus=4 links=4+4+4 nics=1x25 far-nics", 8, 4, own, byRoute},
	} {
		e, err := ParseEnv(test.env)
		require.NoError(t, err)
		s := Setting{Env: e, Machine: test.machine, PerNode: test.perNode}
		m, err := s.model(&collective.Spec{Kind: collective.AllReduce, Ranks: test.ranks})
		require.NoError(t, err)
		require.Equal(t, []schedule.Leave{test.sends, test.ring},
			[]schedule.Leave{m.leaveP2P(), m.leaveRing()}, "%+v", test)
		x, err := p2pOf(allToAll(test.ranks, 1<<20), s)
		require.NoError(t, err)
		require.Equal(t, test.sends, x.protocol().Leave)
	}
}

// TestCrossNIC: rings that leave a node by the NIC that they enter by send over the NVLinks of all
// its GPUs. NVLinks of an H100 then have no room for 8 channels of 48 GB/s; 8 of 45 fit.
func TestCrossNIC(t *testing.T) {
	spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: 16, Count: 1 << 26}
	for env, want := range map[string]float64{"": 48, "NCCL_CROSS_NIC=1": 48, "NCCL_CROSS_NIC=0": 45} {
		e, err := ParseEnv(env)
		require.NoError(t, err)
		s := Setting{Env: e, PerNode: 8, Among: []Way{{Ring, Simple}}}
		c, err := Choose(spec, s)
		require.NoError(t, err)
		require.Equal(t, 8, c.model.ring.channels, env)
		require.Equal(t, want, c.model.ring.intra, env)
		require.Equal(t, env != "NCCL_CROSS_NIC=0", c.model.isKnown(2, 8), env)
		require.Equal(t, c.model.leaveRing(), c.protocol().Leave)
	}
}
