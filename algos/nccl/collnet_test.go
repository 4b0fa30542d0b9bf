package nccl_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/nccl"
	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/proof"
	"collsim/reference"
	"collsim/schedule"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// onCollNet turns CollNet on.
const onCollNet = "NCCL_COLLNET_ENABLE=1"

// TestSchedulesByNetwork: what each GPU does for two nodes of two, whose last loop is short.
func TestSchedulesByNetwork(t *testing.T) {
	text := ""
	for _, name := range []string{"nccl:collnet-direct", "nccl:collnet-chain", "nccl:nvls"} {
		text += build(t, allReduce(4, 50_000), name, "per_node", "2", "nchannels", "1", "env",
			onCollNet).String() + "\n"
	}
	golden(t, "testdata/collnet.txt", text)
}

// TestCollNetIsProven: of any number of nodes, GPUs, elements, channels and NICs, every input comes
// to every output once, nothing stalls and nothing races; floats are bounded at best, integers
// exact; each NIC's link carries what the network reduces once up and once down.
func TestCollNetIsProven(t *testing.T) {
	p := gopter.DefaultTestParametersWithSeed(1)
	p.MinSuccessfulTests = tier.Raced(4, 30, 300)
	laws := gopter.NewProperties(p)
	laws.Property("proven, computed and counted", prop.ForAll(
		func(nodes, perNode, channels, which int, count int64) string {
			spec := allReduce(nodes*perNode, count)
			spec.InPlace = count%2 == 0
			want := reference.NumbersBounded
			if count%3 == 0 {
				spec.Type, want = dtype.Int32, reference.NumbersExact
			}
			name := []string{"nccl:collnet-direct", "nccl:collnet-chain", "nccl:nvls"}[which]
			if name == "nccl:nvls" && perNode == 1 {
				return ""
			}
			if name != "nccl:nvls" && count%5 == 0 {
				spec.Op = collective.Avg
			}
			env := onCollNet
			if count%4 > 0 { // chunks of 512 elements, or 4096: more loops than slots
				env += " NCCL_BUFFSIZE=16384 NCCL_NVLS_CHUNKSIZE=16384"
			}
			s, err := try(t, spec, name, "per_node", strconv.Itoa(perNode), "nchannels",
				strconv.Itoa(channels), "env", env)
			if err != nil {
				return err.Error()
			}
			if _, violations := proof.Verify(s, proof.Options{}); len(violations) > 0 {
				return fmt.Sprint(violations[0])
			}
			r, err := reference.Check(s, reference.CheckOptions{})
			if err != nil || r.Numbers != want {
				return fmt.Sprint("numbers: ", r, err)
			}
			return aggregated(s, nodes, perNode)
		},
		gen.IntRange(2, 4), gen.IntRange(1, 5), gen.IntRange(1, 4), gen.IntRange(0, 2),
		gen.Int64Range(1, 100_000)))
	laws.TestingRun(t)
}

// aggregated says what is wrong with the bytes of a run; "" if nothing is. All NICs of a node
// together carry the data once to the network and once from it.
func aggregated(s *schedule.Schedule, nodes, perNode int) string {
	node := topology.Params{Preset: "switch", Ranks: perNode, Bandwidth: unit.Rate(unit.GB),
		Multimem: true}
	network := topology.Params{Preset: "switch", Bandwidth: unit.Rate(unit.GB), Multimem: true}
	g, err := topology.Build(topology.Params{Nodes: nodes, Node: &node, Network: &network})
	if err != nil {
		return err.Error()
	}
	for _, sharing := range []sim.Sharing{sim.Fluid, sim.FIFO} {
		r, err := sim.Run(s, sim.Env{Graph: g, Device: device.Ideal(), Sharing: sharing, Slots: 8},
			sim.Options{})
		if err != nil {
			return err.Error()
		}
		up, down := unit.Bytes(0), unit.Bytes(0)
		for i, load := range r.LinkLoad {
			l := g.Links()[i]
			isIn := func(v int32) bool { return g.Nodes()[v].Name == "switch" }
			if isIn(l.To) {
				up += load
			}
			if isIn(l.From) {
				down += load
			}
		}
		if want := unit.Bytes(nodes) * s.Spec.Bytes(); up != want || down != want {
			return fmt.Sprintf("%v to the network and %v from it, not %v", up, down, want)
		}
	}
	return ""
}

// TestCollNetCosts: latency and bandwidth are those of graph/tuning.cc, worked out by hand.
//
//	2 DGX H100   Direct  2·(3.7 + 7·0.4) + 31 us, 8·48·.85/2 GB/s
//	             Chain   2·7·2.8 + 30 us, 8·48/2 GB/s
//	             NVLS    25 + 18 us, 8·48·16/30 GB/s
//	4 DGX A100   Direct  8·48/2: the search doubles 24 in the node
//	             Chain   8·30/2
//	2.18.3       Direct  2·(8 + 7·0.5) + 10.7, Chain 2·7·4.75 + 14
func TestCollNetCosts(t *testing.T) {
	type cost struct{ latency, bandwidth float64 }
	for _, c := range []struct {
		ranks  int
		params []algos.Param
		want   map[nccl.Algorithm]cost
	}{
		{16, nil, map[nccl.Algorithm]cost{nccl.CollNetDirect: {44, 163.2},
			nccl.CollNetChain: {69.2, 192}, nccl.NVLS: {43, 204.8}}},
		{32, []algos.Param{{Name: "machine", Value: "dgx-a100"}}, map[nccl.Algorithm]cost{
			nccl.CollNetDirect: {44, 192}, nccl.CollNetChain: {69.2, 120}}},
		{16, []algos.Param{{Name: "version", Value: "2.18.3"}}, map[nccl.Algorithm]cost{
			nccl.CollNetDirect: {33.7, 163.2}, nccl.CollNetChain: {80.5, 192}}},
		{16, []algos.Param{{Name: "machine", Value: "h100 sm=90 joined=switch gpus=8 links=18 " +
			"multicast nics=4x50"}}, map[nccl.Algorithm]cost{
			nccl.CollNetDirect: {44, 4 * 48 / 1.5 * .85 * .5}}},
	} {
		a, err := algos.FindIn(nccl.Table(), collective.AllReduce, "nccl:auto")
		require.NoError(t, err)
		o := algos.Options{PerNode: 8, Environment: onCollNet, Params: c.params}
		table, err := nccl.CostsOf(a, allReduce(c.ranks, 1<<20), o)
		require.NoError(t, err)
		found := 0
		for _, w := range table.Ways {
			if want, isThere := c.want[w.Algorithm]; isThere {
				require.InDelta(t, want.latency, w.Latency, 1e-9, "%v %v", c.params, w.Way)
				require.InDelta(t, want.bandwidth, w.Bandwidth, 1e-9, "%v %v", c.params, w.Way)
				require.Empty(t, w.Off)
				found++
			}
		}
		require.Equal(t, len(c.want), found)
	}
}

// TestCollNetIsAskedFor: nccl:auto takes CollNet where NCCL_COLLNET_ENABLE is 1, the network adds
// and there are nodes enough, and never otherwise; its log has no line of it then.
func TestCollNetIsAskedFor(t *testing.T) {
	a, err := algos.FindIn(nccl.Table(), collective.AllReduce, "nccl:auto")
	require.NoError(t, err)
	for _, c := range []struct {
		options algos.Options
		want    string
	}{
		{algos.Options{PerNode: 8, Environment: onCollNet}, "NVLS Simple, 16 of 16 channels"},
		{algos.Options{PerNode: 8, Environment: onCollNet, NoMulticast: true},
			"CollNetChain Simple, 16 of 16 channels"},
		{algos.Options{PerNode: 8, Environment: onCollNet + " NCCL_ALGO=collnetdirect"},
			"CollNetDirect Simple, 16 of 16 channels"},
		{algos.Options{PerNode: 8, Environment: onCollNet, Machine: "dgx-a100"},
			"CollNetDirect Simple, 24 of 24 channels"},
		{algos.Options{PerNode: 8, Environment: onCollNet + " NCCL_COLLNET_NODE_THRESHOLD=5"},
			"NVLSTree Simple, 16 of 16 channels"},
		{algos.Options{PerNode: 8, Environment: onCollNet, NoAggregation: true},
			"NVLSTree Simple, 16 of 16 channels"},
		{algos.Options{PerNode: 8, Environment: "NCCL_COLLNET_ENABLE=0"},
			"NVLSTree Simple, 16 of 16 channels"},
		{algos.Options{PerNode: 8}, "NVLSTree Simple, 16 of 16 channels"},
	} {
		spec := allReduce(32, 1<<26)
		require.Contains(t, a.Picked(spec, c.options).String(), c.want, "%+v", c.options)
		table, err := nccl.CostsOf(a, spec, c.options)
		require.NoError(t, err)
		if c.want[:8] == "NVLSTree" {
			for _, w := range table.Ways {
				require.NotContains(t, w.Way.String(), "CollNet")
			}
		}
	}
}

// TestDirectChannels: how many of 24 channels a call by CollNetDirect takes, by hand from
// topoGetAlgoInfo (enqueue.cc). A channel of 640 threads and 8 heads is worth 640·8·512 bytes, u,
// and half as much again and again when 24, 12, 6 and 3 channels turn out too many.
func TestDirectChannels(t *testing.T) {
	a, err := algos.FindIn(nccl.Table(), collective.AllReduce, "nccl:collnet-direct")
	require.NoError(t, err)
	for _, c := range []struct{ bytes, channels int64 }{
		{60 << 20, 24}, // 24 u
		{30 << 20, 23}, // 12 u are fewer than 24 u; 23 channels are worth 11.5 u
		{16 << 20, 12}, // 6.4 u: 13 of half are worth 6.5 u, 12 are worth 6 u
		{8 << 20, 11},  // 3.2 u: 12 of half are too many, 11 of a quarter are worth 2.75 u
		{1 << 20, 3},   // 0.4 u: 4 of an eighth are worth 0.5 u
		{64 << 10, 1},
	} {
		options := algos.Options{PerNode: 8, Environment: onCollNet, Machine: "dgx-a100"}
		require.Contains(t, a.Picked(allReduce(32, c.bytes/4), options).String(),
			fmt.Sprintf("CollNetDirect Simple, %d of 24 channels", c.channels))
	}
}

// TestNetworkChunks: how many bytes of a channel a chunk has, by hand from calcCollChunking
// (enqueue.cc): a step of 512 KiB, or 256 KiB in a chain, is halved while a call is too short.
func TestNetworkChunks(t *testing.T) {
	for _, c := range []struct {
		name         string
		bytes, chunk int64
	}{
		{"nccl:collnet-direct", 1 << 30, 512 << 10},
		{"nccl:collnet-direct", 256 << 20, 256 << 10},
		{"nccl:collnet-direct", 64 << 20, 128 << 10},
		{"nccl:collnet-direct", 8 << 20, 64 << 10},
		{"nccl:collnet-direct", 2 << 20, 32 << 10},
		{"nccl:collnet-chain", 1 << 30, 256 << 10},
		{"nccl:collnet-chain", 64 << 20, 128 << 10},
		{"nccl:collnet-chain", 4 << 20, 64 << 10},
		{"nccl:collnet-chain", 128 << 10, 32 << 10},
	} {
		p := planned(t, allReduce(16, c.bytes/4), c.name, "per_node", "8", "nchannels", "1", "env",
			onCollNet)
		require.Equal(t, c.chunk, 4*p.Cuts[schedule.Output][0].Ends[0][0], "%+v", c)
	}
}

// TestNoCollNet: what CollNet lacks is said.
func TestNoCollNet(t *testing.T) {
	prod, float8 := allReduce(16, 10), allReduce(16, 10)
	prod.Op, float8.Type = collective.Prod, dtype.Float8E4M3
	for _, test := range []struct {
		spec   collective.Spec
		name   string
		params []string
		want   string
	}{
		{allReduce(16, 10), "nccl:collnet-direct", []string{"per_node", "8", "collnet", "false"},
			"all_reduce sum by CollNetDirect Simple: it needs switches between nodes that multicast and " +
				"reduce: topology.network.multimem = true"},
		{allReduce(16, 10), "nccl:collnet-chain", []string{"per_node", "8", "env",
			"NCCL_COLLNET_ENABLE=0"}, "all_reduce sum by CollNetChain Simple: NCCL_COLLNET_ENABLE is not 1"},
		{allReduce(8, 10), "nccl:collnet-chain", nil,
			"all_reduce sum by CollNetChain Simple: it is for several nodes"},
		{allReduce(16, 10), "nccl:collnet-chain", []string{"per_node", "8", "env",
			"NCCL_COLLNET_NODE_THRESHOLD=3"},
			"all_reduce sum by CollNetChain Simple: NCCL_COLLNET_NODE_THRESHOLD asks for 3 nodes"},
		{allReduce(32, 10), "nccl:collnet-chain", []string{"per_node", "16", "machine",
			"gb200 sm=100 joined=switch gpus=16 links=18 multicast nics=16x50"},
			"all_reduce sum by CollNetChain Simple: a node has 8 GPUs at most"},
		{allReduce(16, 10), "nccl:collnet-direct", []string{"per_node", "8", "machine", "dgx-v100"},
			"all_reduce sum by CollNetDirect Simple: it is for nodes with NVSwitches"},
		{prod, "nccl:collnet-direct", []string{"per_node", "8"},
			"all_reduce prod by CollNetDirect Simple: the network does not reduce float32 by prod"},
		{float8, "nccl:collnet-direct", []string{"per_node", "8"}, "all_reduce sum by CollNetDirect " +
			"Simple: the network does not reduce float8_e4m3fn by sum"},
	} {
		_, err := try(t, test.spec, test.name, test.params...)
		require.EqualError(t, err, test.name+": NCCL does no "+test.want)
	}
	_, err := try(t, allReduce(16, 10), "nccl:collnet-chain", "collnet", "often")
	require.EqualError(t, err,
		"nccl:collnet-chain: collnet=often: true, false or network is expected")
	for env, want := range map[string]string{"NCCL_COLLNET_ENABLE=2": "0 or 1 is expected",
		"NCCL_COLLNET_NODE_THRESHOLD=0": "a number of nodes is expected"} {
		_, err := nccl.ParseEnv(env)
		require.ErrorContains(t, err, want)
	}
}
