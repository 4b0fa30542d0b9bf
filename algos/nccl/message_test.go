package nccl

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
)

// TestEnvOfSends: what variables say of sends and receives, of 1 MiB to each peer. By hand, from
// init.cc and paths.cc: on 8 H100 there are 32 channels, 4 of them for each message; on two such
// nodes 16 channels, 4 of them at most.
func TestEnvOfSends(t *testing.T) {
	const pcie = "rtx-4090 sm=89 joined=pcie gpus=4 pcie=24"
	for _, test := range []struct {
		env, machine        string
		nodes, perNode      int
		all, parts, perPart int // channels, parts of a message, chunks of a part
		byLL                bool
	}{
		{"", "dgx-h100", 1, 8, 32, 4, 1, false},
		{"NCCL_P2P_NVL_CHUNKSIZE=131072", "dgx-h100", 1, 8, 32, 4, 2, false},
		{"NCCL_P2P_PCI_CHUNKSIZE=16384", "dgx-h100", 1, 8, 32, 4, 1, false},
		{"NCCL_P2P_LL_THRESHOLD=262144", "dgx-h100", 1, 8, 32, 4, 1, true},
		{"NCCL_MAX_P2P_NCHANNELS=4", "dgx-h100", 1, 8, 4, 1, 2, false},
		{"NCCL_MIN_P2P_NCHANNELS=33", "dgx-h100", 1, 8, 64, 8, 1, false},
		{"NCCL_BUFFSIZE=524288", "dgx-h100", 1, 8, 32, 4, 4, false}, // slots of 64 KiB
		{"", "dgx-h100", 2, 8, 16, 4, 2, false},
		{"NCCL_P2P_NET_CHUNKSIZE=65536", "dgx-h100", 2, 8, 16, 4, 4, false},
		{"NCCL_NCHANNELS_PER_NET_PEER=8", "dgx-h100", 2, 8, 16, 8, 1, false},
		{"NCCL_NCHANNELS_PER_NET_PEER=8", "dgx-h100", 1, 8, 32, 4, 1, false},
		{"", pcie, 1, 4, 4, 1, 8, false},
		{"NCCL_P2P_PCI_CHUNKSIZE=524288", pcie, 1, 4, 4, 1, 2, false},
	} {
		e, err := ParseEnv(test.env)
		require.NoError(t, err, test.env)
		n := test.nodes * test.perNode
		spec := collective.Spec{Kind: collective.AllToAll, Type: dtype.Float32, Ranks: n, Count: 1 << 18}
		x, err := p2pOf(spec, Setting{Machine: test.machine, PerNode: test.perNode, Env: e})
		require.NoError(t, err, test.env)
		m := x.same
		require.Equal(t, []any{test.all, test.parts, test.perPart, test.byLL},
			[]any{x.channels, len(m.parts), len(m.ends) / len(m.parts), m.ll}, "%+v", test)
	}
	for _, wrong := range []string{"NCCL_P2P_LL_THRESHOLD=-1", "NCCL_P2P_NVL_CHUNKSIZE=1",
		"NCCL_MAX_P2P_NCHANNELS=0", "NCCL_NCHANNELS_PER_NET_PEER=many"} {
		_, err := ParseEnv(wrong)
		require.ErrorContains(t, err, "expected", wrong)
	}
}
