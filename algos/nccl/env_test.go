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
		"NCCL_ALGO":                            "a variable and its value",
		"NCCL_ALGO=":                           "a variable and its value",
		"NCCL_ALGO=rings":                      `"rings": one of Tree, Ring`,
		"NCCL_ALGO=ring,":                      `"": one of Tree, Ring`,
		"NCCL_ALGO=ring;tree":                  "all but the first begin with a function",
		"NCCL_ALGO=sendrecv:ring":              `"sendrecv": allreduce`,
		"NCCL_PROTO=ll64":                      `"ll64": one of LL, LL128, Simple`,
		"NCCL_MAX_NCHANNELS=0":                 "1 to 64",
		"NCCL_NVLS_ENABLE=yes":                 "0, 1 or 2",
		"NCCL_IB_TC=41":                        "NCCL_IB_TC has no effect on choice or time here",
		"NCCL_BUFSIZE=4194304":                 "no variable of NCCL's; did you mean NCCL_BUFFSIZE?",
		"HOME=/root":                           "HOME is no variable of NCCL's that has an effect here",
		"NCCL_BUFFSIZE=1k":                     "16384 to 1073741824 bytes",
		"NCCL_NTHREADS=many":                   "a number of threads",
		"NCCL_THREAD_THRESHOLDS=1,2,3,4,5,6,7": "six numbers at most",
		"NCCL_THREAD_THRESHOLDS=1,x":           "a number of bytes",
		"NCCL_NET_OVERHEAD=-1":                 "nanoseconds",
		"NCCL_CROSS_NIC=3":                     "0 to 2",
		"NCCL_PXN_DISABLE=2":                   "0 to 1",
		"NCCL_P2P_PXN_LEVEL=01":                "0 to 2",
	} {
		_, err := ParseEnv(text)
		require.ErrorContains(t, err, want, text)
	}
	e, err := ParseEnv("NCCL_ALGO=tree")
	require.NoError(t, err)
	spec := collective.Spec{Kind: collective.Broadcast, Type: dtype.Float32, Ranks: 8, Count: 1024}
	_, err = Choose(spec, Setting{Env: e})
	require.EqualError(t, err, "NCCL does no broadcast by any of its algorithms: "+
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

// TestEnvOfSizes: buffers, chunks and threads cut a call as NCCL's own rules do. 8 H100 without any
// have 512 threads by LL, chunks of 2 MiB of a ring by Simple, and of 128 KiB of NVLS.
func TestEnvOfSizes(t *testing.T) {
	for _, test := range []struct {
		env           string
		way           string
		bytes         int64
		used, threads int
		chunk         int64 // bytes, of the first part
		latency       float64
	}{
		{"", "Ring Simple", 256 << 20, 24, 544, 2 << 20, 56},
		{"NCCL_BUFFSIZE=8388608", "Ring Simple", 256 << 20, 24, 544, 4 << 20, 56},
		{"NCCL_BUFFSIZE=1000000", "Ring Simple", 256 << 20, 24, 544, 499_712, 56},
		{"NCCL_LL_BUFFSIZE=1048576", "Ring LL", 8 << 20, 24, 512, 64 << 10, 15},
		{"NCCL_LL128_BUFFSIZE=1048576", "Ring LL128", 64 << 20, 24, 640, 122_880, 40.6},
		{"NCCL_NVLS_CHUNKSIZE=524288", "NVLS Simple", 4 << 30, 16, 640, 512 << 10, 25},
		{"NCCL_NTHREADS=256", "Ring LL", 64 << 10, 4, 256, 32 << 10, 15},
		{"NCCL_NTHREADS=33", "Ring LL", 64 << 10, 2, 512, 32 << 10, 15},
		{"NCCL_NTHREADS=32", "Ring Simple", 1 << 20, 24, 96, 2 << 20, 56},
		{"NCCL_LL128_NTHREADS=1024", "Ring LL128", 1 << 20, 24, 640, 576_000, 40.6},
		{"NCCL_LL128_NTHREADS=32", "Ring LL128", 64 << 10, 24, 160, 576_000, 40.6},
		{"NCCL_THREAD_THRESHOLDS=8,8,64,8", "Ring LL", 64 << 10, 16, 512, 32 << 10, 15},
		{"NCCL_THREAD_THRESHOLDS=-1,-1,-1,0", "Ring LL", 64 << 10, 24, 512, 32 << 10, 15},
	} {
		e, err := ParseEnv(test.env)
		require.NoError(t, err, test.env)
		spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
			Ranks: 8, Count: test.bytes / 4}
		c, err := Choose(spec, Setting{Env: e, Among: []Way{wayOf(t, test.way)}})
		require.NoError(t, err, test.env)
		require.Equal(t, []int{test.used, test.threads}, []int{c.Channels, c.Threads}, test.env)
		require.Equal(t, test.chunk, 4*c.parts(&spec)[0].chunk, test.env)
		require.InDelta(t, test.latency, c.model.latency(spec.Kind, c.Way), .051, test.env)
	}
	spec := collective.Spec{Kind: collective.AllReduce, Ranks: 16}
	for env, want := range map[string]float64{"": 6.6 + 28 + 2*2.7, "NCCL_NET_OVERHEAD=3000": 6.6 +
		28*3 + 2*2.7, "NCCL_NET_OVERHEAD=0": 6.6 + 28*.6 + 2*2.7} {
		e, err := ParseEnv(env)
		require.NoError(t, err)
		m, err := (&Setting{PerNode: 8, Env: e}).model(&spec)
		require.NoError(t, err)
		require.InDelta(t, want, m.latency(spec.Kind, Way{Ring, LL}), 1e-9, env)
	}
	e, err := ParseEnv("NCCL_PAT_ENABLE=1")
	require.NoError(t, err)
	blocks := collective.Spec{Kind: collective.AllGather, Ranks: 16}
	m, err := (&Setting{PerNode: 8, Env: e}).model(&blocks)
	require.NoError(t, err)
	require.True(t, m.has(&blocks, Way{PAT, Simple}))
	for _, test := range []struct {
		nodes     int
		env       string
		all, tree int64
	}{{2, "NCCL_NVLS_CHUNKSIZE=524288", 512, 512}, {4, "NCCL_NVLS_CHUNKSIZE=524288", 512, 64},
		{4, "NCCL_NVLSTREE_MAX_CHUNKSIZE=131072", 128, 128}} {
		e, err := ParseEnv(test.env)
		require.NoError(t, err)
		spec.Ranks = 8 * test.nodes
		m, err := (&Setting{PerNode: 8, Env: e}).model(&spec)
		require.NoError(t, err)
		all, tree := m.switchChunks()
		require.Equal(t, []int64{test.all << 10, test.tree << 10}, []int64{all, tree}, test.env)
	}
}
