package run_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/run"
	"collsim/schedule"
	"collsim/topology"
	"collsim/unit"
)

// timeOn runs an all_reduce of 8 H100 by one of NCCL's algorithms, with further keys.
func timeOn(t *testing.T, topology, algorithm, bytes, more string) *run.Result {
	t.Helper()
	s, err := run.Load("s.toml", []byte(fmt.Sprintf("[topology]\n%s\n[collective]\nkind = "+
		"\"all_reduce\"\nalgorithm = %q\nbytes = %q\n[check]\nnumbers = false\n%s\n", topology,
		algorithm, bytes, more)), run.LoadOptions{})
	require.NoError(t, err)
	r, err := s.Run(context.Background(), run.RunOptions{})
	require.NoError(t, err)
	return r.Results[0]
}

// TestNames: schedules and devices call shapes and protocols the same.
func TestNames(t *testing.T) {
	require.Equal(t, schedule.Shapes(), device.Shapes())
	require.Equal(t, schedule.Protocols(), device.Protocols())
}

// TestProtocolTimes: of short vectors, a call takes its base and as many hops as its algorithm has
// steps one after the other, by the protocol's own figures, and what the bytes take: next to
// nothing. Latencies of links within the node make no difference, those of a single link do.
func TestProtocolTimes(t *testing.T) {
	ns := func(n float64) unit.Time { return unit.Time(n * 1000) }
	node := "preset = \"dgx-h100\""
	for _, c := range []struct {
		algorithm string
		want      unit.Time
	}{
		{"nccl:ring(protocol=ll)", ns(6600 + 14*600)},
		{"nccl:ring(protocol=ll128)", ns(14000 + 14*1900)},
		{"nccl:ring(protocol=simple)", ns(8400 + 14*3400)},
		{"nccl:tree(protocol=ll)", ns(6800 + 14*600)}, // up a chain of 8, and down
		{"nccl:tree(protocol=simple)", ns(8400 + 14*4000)},
	} {
		r := timeOn(t, node, c.algorithm, "64 B", "")
		require.InEpsilon(t, int64(c.want), int64(r.Time), 0.01, c.algorithm)
		slow := timeOn(t, node+"\nnode.latency = \"3 us\"", c.algorithm, "64 B", "")
		require.Equal(t, r.Time, slow.Time)
		require.LessOrEqual(t, r.Bounds.Lower, r.Time)
	}
	one := timeOn(t, node, "nccl:ring(protocol=ll)", "64 B",
		"[[topology.link]]\nmatch = \"node0/gpu3->node0/switch\"\nlatency = \"10 us\"")
	require.Greater(t, one.Time, ns(6600+14*600+9000))
}

// TestProtocolsBetweenNodes: a hop between nodes takes the network's links, the GPU's step and what
// its protocol has more than LL.
func TestProtocolsBetweenNodes(t *testing.T) {
	const ranks = "preset = \"dgx-h100\"\nnodes = 2\nranks = 16\nnetwork.latency = \"4 us\""
	ll := timeOn(t, ranks, "nccl:tree(protocol=ll)", "64 B", "")
	// Two trees over two nodes: up a chain, to the other node, back, and down the chain.
	require.InEpsilon(t, int64(6_800_000+14*600_000+2*9_000_000), int64(ll.Time), 0.01)
	simple := timeOn(t, ranks, "nccl:tree(protocol=simple)", "64 B", "")
	require.InEpsilon(t, int64(8_400_000+14*4_000_000+2*18_000_000), int64(simple.Time), 0.01)
}

// TestGivenFigures: an entry of [[device.protocol]] changes what it names; a figure of all messages
// takes the place of the protocols'.
func TestGivenFigures(t *testing.T) {
	const node, a = "preset = \"dgx-h100\"", "nccl:ring(protocol=ll)"
	r := timeOn(t, node, a, "64 B", "[[device.protocol]]\nshape = \"ring\"\nprotocol = \"ll\"\n"+
		"nvlink = \"1 us\"")
	require.InEpsilon(t, int64(6_600_000+14*1_000_000), int64(r.Time), 0.01)
	r = timeOn(t, node, a, "64 B", "[device]\noverhead = \"2 us\"")
	require.Greater(t, r.Time, unit.Time(14*2_000_000))
}

// TestLeavings: schedules and networks have the same ways to leave a node, in one order.
func TestLeavings(t *testing.T) {
	for by, leave := range map[schedule.Leave]topology.Leave{
		schedule.LeaveByRoute: topology.ByRoute, schedule.LeaveByOwn: topology.ByOwn,
		schedule.LeaveByRail: topology.ByRail, schedule.LeaveByNeighbour: topology.ByNeighbour,
		schedule.LeaveByFirst: topology.ByFirst} {
		require.Equal(t, leave, topology.Leave(by))
	}
}

// TestPXN: where spines join the rails of two nodes, PXN keeps what is sent on rails: no link of a
// spine carries anything, and long messages take less; without it three fourths of all go over
// spines. Where nothing joins them, there is no way without PXN.
func TestPXN(t *testing.T) {
	const nodes = `topology.preset = "dgx-h100"
topology.nodes = 2
topology.ranks = 8
check.numbers = false
collective.kind = "all_to_all"
collective.bytes = "64 MiB"
collective.algorithm = "nccl:p2p"
`
	const spines = "topology.network.oversubscription = 2\n"
	load := func(more string) (*run.Result, error) {
		s, err := run.Load("s.toml", []byte(nodes+more), run.LoadOptions{})
		require.NoError(t, err)
		r, err := s.Run(context.Background(), run.RunOptions{Links: true})
		if err != nil {
			return nil, err
		}
		return r.Results[0], nil
	}
	spined := func(r *run.Result) (bytes unit.Bytes) {
		for _, l := range r.Links {
			if strings.HasPrefix(l.To, "spine") {
				bytes += l.Bytes
			}
		}
		return bytes
	}
	with, err := load(spines)
	require.NoError(t, err)
	without, err := load(spines + "nccl.env.NCCL_PXN_DISABLE = 1\n")
	require.NoError(t, err)
	require.Zero(t, spined(with))
	const crossing = 2 * 4 * 3 * 8 << 20 // from each of 8 GPUs to 3 of another rail, 8 MiB each
	require.EqualValues(t, crossing, spined(without))
	require.Greater(t, without.Time, with.Time)
	_, err = load("nccl.env.NCCL_PXN_DISABLE = 1\n")
	require.ErrorContains(t, err, "no route from node0/nic0 to node1/nic1")
	for _, rail := range []string{"NCCL_CROSS_NIC = 0", "NCCL_P2P_PXN_LEVEL = 1"} {
		_, err = load("nccl.env." + rail + "\n")
		require.NoError(t, err, rail)
	}
}

// TestTeamsOfSplits: teams of a kind with splits run on a machine.
func TestTeamsOfSplits(t *testing.T) {
	text := `
[topology]
preset = "dgx-h100"
nodes = 2
[check]
numbers = false
[[collective]]
kind = "all_to_allv"
algorithm = ["pairwise", "nccl:p2p"]
splits = [[1000, 2000], [3000, 10]]
dtype = "float32"
teams = "rail"
`
	for _, r := range benched(t, text) {
		require.Positive(t, r.Time)
	}
}

// TestTeamsTakeTheSizeOfOne: figures of a machine that depend on the size of a call take that of
// the largest team: teams on links of their own end when the largest does alone.
func TestTeamsTakeTheSizeOfOne(t *testing.T) {
	text := `
[topology]
preset = "dgx-h100"
nodes = 3
[check]
numbers = false
[[collective]]
kind = "all_gather"
algorithm = ["ring", "direct"]
bytes = "4 MiB"
dtype = "float32"
`
	large, both := "[[1,9,17]]", "[[0,8],[1,9,17]]"
	alone := benched(t, text, "collective.teams="+large)
	for i, r := range benched(t, text, "collective.teams="+both) {
		require.Equal(t, alone[i].Time, r.Time, r.Point.ID)
	}
}
