package nccl

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
)

// TestEnv: variables choose as NCCL reads them: lists for all collectives and for one, all but
// some, the last of equal ones, and bounds of channels. 8 H100 without any take Ring LL of 24
// channels at 1 KiB, and NVLS at 64 MiB.
func TestEnv(t *testing.T) {
	const short, long = 1 << 10, 64 << 20
	for _, test := range []struct {
		env   string
		bytes int64
		want  string
		all   int
	}{
		{"", short, "Ring LL", 24},
		{"", long, "NVLS Simple", 16},
		{"NCCL_ALGO=tree", short, "Tree LL", 24},
		{"NCCL_ALGO=TREE,collnetdirect", short, "Tree LL", 24},
		{"NCCL_ALGO=^nvls", long, "Ring Simple", 24},
		{"NCCL_ALGO=tree;allreduce:ring", long, "Ring Simple", 24},
		{"NCCL_ALGO=ring;allreduce:^ring,nvls", long, "Tree Simple", 24},
		{"NCCL_ALGO=allgather:tree", long, "NVLS Simple", 16},
		{"NCCL_ALGO=ring NCCL_ALGO=tree", short, "Tree LL", 24},
		{"NCCL_PROTO=ll128", short, "Tree LL128", 24},
		{"NCCL_PROTO=^ll;allreduce:simple", short, "NVLS Simple", 16},
		{"NCCL_PROTO=^ll NCCL_ALGO=ring", long, "Ring Simple", 24},
		{"NCCL_NVLS_ENABLE=0", long, "Ring Simple", 24},
		{"NCCL_NVLS_ENABLE=2", long, "NVLS Simple", 16},
		{"NCCL_NVLS_NCHANNELS=8", long, "NVLS Simple", 8},
		{"NCCL_MAX_NCHANNELS=8 NCCL_MAX_CTAS=4", short, "Ring LL", 4},
		{"NCCL_MIN_NCHANNELS=32 NCCL_MIN_CTAS=16", short, "Ring LL", 32},
		{"NCCL_MIN_NCHANNELS=6 NCCL_MAX_NCHANNELS=4", short, "Ring LL", 6},
	} {
		e, err := ParseEnv(test.env)
		require.NoError(t, err, test.env)
		again, err := ParseEnv(e.String())
		require.NoError(t, err)
		require.Equal(t, e, again)
		spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
			Ranks: 8, Count: test.bytes / 4}
		c, err := Choose(spec, Setting{Env: e})
		require.NoError(t, err, test.env)
		require.Equal(t, test.want, c.Way.String(), test.env)
		require.Equal(t, test.all, c.all, test.env)
	}
}

// TestEnvOfLinks: a list that does not leave LL128 out asks for it where links would not have it.
func TestEnvOfLinks(t *testing.T) {
	spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: 8, Count: 1 << 20}
	for env, want := range map[string]bool{"": false, "NCCL_PROTO=^simple": true,
		"NCCL_PROTO=ll,ll128": true, "NCCL_PROTO=^ll128": false, "NCCL_PROTO=broadcast:ll128": false} {
		e, err := ParseEnv(env)
		require.NoError(t, err)
		s := Setting{Env: e, Machine: "x sm=80 joined=pcie gpus=8 pcie=24"}
		m, err := s.model(&spec)
		require.NoError(t, err)
		require.Equal(t, want, m.has(&spec, Way{Ring, LL128}), env)
	}
}

// TestEnvRefuses: what leaves nothing to choose is said, and so is what no variable may be.
func TestEnvRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"NCCL_ALGO":               "a variable and its value",
		"NCCL_ALGO=":              "a variable and its value",
		"NCCL_ALGO=rings":         `"rings": one of Tree, Ring`,
		"NCCL_ALGO=ring,":         `"": one of Tree, Ring`,
		"NCCL_ALGO=ring;tree":     "all but the first begin with a function",
		"NCCL_ALGO=sendrecv:ring": `"sendrecv": allreduce`,
		"NCCL_PROTO=ll64":         `"ll64": one of LL, LL128, Simple`,
		"NCCL_MAX_NCHANNELS=0":    "1 to 64",
		"NCCL_NVLS_ENABLE=yes":    "0, 1 or 2",
		"NCCL_IB_TC=41":           "changes nothing that is chosen here",
	} {
		_, err := ParseEnv(text)
		require.ErrorContains(t, err, want, text)
	}
	e, err := ParseEnv("NCCL_ALGO=tree")
	require.NoError(t, err)
	spec := collective.Spec{Kind: collective.Broadcast, Type: dtype.Float32, Ranks: 8, Count: 1024}
	_, err = Choose(spec, Setting{Env: e})
	require.EqualError(t, err, "nccl: NCCL does no broadcast by any of its algorithms: "+
		"NCCL_ALGO=tree leaves none")
}

// FuzzEnv: whatever is read is written and read back the same; nothing panics.
func FuzzEnv(f *testing.F) {
	f.Add("NCCL_ALGO=ring,tree;allreduce:^ring NCCL_PROTO=^ll128 NCCL_MAX_NCHANNELS=8")
	f.Add("NCCL_ALGO=^;:^ NCCL_PROTO=;;")
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseEnv(text)
		if err != nil {
			return
		}
		again, err := ParseEnv(e.String())
		require.NoError(t, err)
		require.Equal(t, e, again)
	})
}
