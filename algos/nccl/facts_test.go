package nccl

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
)

// factsOf reads facts, which must be well-formed.
func factsOf(t *testing.T, text string) Facts {
	t.Helper()
	f, err := ParseFacts(text)
	require.NoError(t, err, text)
	return f
}

// TestRecordedRings: the rules give the graphs that NCCL 2.30.7's own search has found when it was
// compiled for the processor with these machines' topologies.
func TestRecordedRings(t *testing.T) {
	for _, test := range []struct {
		machine        string
		nodes, perNode int
		want           rings
	}{
		{"dgx-h100", 1, 8, rings{ring: graph{12, 30, 0, true, true, false},
			tree: graph{12, 30, 0, true, true, false}, nvls: graph{8, 40, 60, true, false, false},
			channels: 24, toPeer: 36, ll128: true}},
		{"dgx-h100", 1, 2, rings{ring: graph{12, 30, 0, true, true, false},
			tree: graph{12, 60, 0, true, true, false}, nvls: graph{2, 60, 60, true, false, false},
			channels: 24, toPeer: 36, ll128: true}},
		{"dgx-a100", 1, 8, rings{ring: graph{12, 20, 0, true, true, false},
			tree: graph{12, 20, 0, true, true, false}, channels: 24, toPeer: 24, ll128: true}},
		{"dgx-v100", 1, 8, rings{ring: graph{6, 20, 0, true, false, false},
			tree: graph{6, 20, 0, true, false, false}, channels: 12, toPeer: 2, ll128: true}},
		{"dgx-h100", 4, 8, rings{ring: graph{8, 48, 48, true, false, false},
			tree: graph{8, 48, 48, true, false, true}, nvls: graph{8, 40, 48, true, false, false},
			channels: 16, toPeer: 4, ll128: true}},
		{"dgx-a100", 2, 8, rings{ring: graph{8, 24, 24, true, false, false},
			tree: graph{8, 30, 24, true, false, false}, channels: 16, toPeer: 2, ll128: true}},
		{"dgx-v100", 2, 8, rings{ring: graph{4, 12, 12, true, false, false},
			tree: graph{4, 20, 12, true, false, false}, channels: 8, toPeer: 1, ll128: true}},
		{"socket", 2, 1, rings{ring: graph{1, 1.2, 1.2, false, true, false},
			tree: graph{1, 2.4, 1.2, false, true, true}, channels: 2, toPeer: 1}},
	} {
		m, err := machineOf(test.machine)
		require.NoError(t, err)
		require.Equal(t, test.want, ringsOf(&m.Facts, test.nodes, test.perNode), "%+v", test)
		require.True(t, known(&m.Facts, test.nodes, test.perNode), "%+v", test)
	}
}

// TestChannelsOfLogs: the rules give as many channels as public logs of NCCL show. The sources are
// NVIDIA/nccl's issues by number, and what others have published.
func TestChannelsOfLogs(t *testing.T) {
	for _, test := range []struct {
		source, facts  string
		nodes, perNode int
		channels       int
	}{
		{"nccl#892: H800, 8 links", "h800 sm=90 joined=switch gpus=8 links=8", 1, 8, 16},
		{"nccl#1646: DGX B200", "b200 sm=100 joined=switch gpus=8 links=18 multicast", 1, 8, 32},
		{"B300, 2.29.7", "b300 sm=103 joined=switch gpus=8 links=18 multicast", 1, 8, 32},
		{"GB200, 8 of two trays", "gb200 sm=100 joined=switch gpus=8 links=18 multicast", 1, 8, 32},
		{"p4d: awsome-distributed-training, EFA cheat sheet",
			"a100-40gb sm=80 joined=switch gpus=8 links=12 nics=4x12.5", 2, 8, 8},
		{"A100, 2 nodes", "a100-80gb sm=80 joined=switch gpus=8 links=12 nics=8x25 amd", 2, 8, 16},
	} {
		f := factsOf(t, test.facts)
		require.Equal(t, test.channels, ringsOf(&f, test.nodes, test.perNode).channels, test.source)
	}
}

// TestInferredRings: what no log shows, with what makes each of them different.
func TestInferredRings(t *testing.T) {
	for _, test := range []struct {
		why, facts               string
		nodes, perNode           int
		channels                 int
		intra                    float64
		isFast, isSame, hasLL128 bool
	}{
		{"4 links a pair: a ring each way by 3 ways, twice", "a100-40gb sm=80 joined=links gpus=4 " +
			"links=4+4+4", 1, 4, 24, 20, true, false, true},
		{"6 links a pair", "gh200 sm=90 joined=links gpus=4 links=6+6+6", 1, 4, 24, 30, true, false,
			true},
		{"generation 4: two of 12 carry more than one of 20, as in the NCCL_GRAPH_FILE of Azure's " +
			"NCv4", "a100-pcie sm=80 joined=pcie gpus=4 pcie=24", 1, 4, 4, 12, false, true, false},
		{"between two sockets", "rtx-4090 sm=89 joined=pcie gpus=8 pcie=16", 1, 8, 2, 15, false, true,
			false},
		{"generation 5", "h100-pcie sm=90 joined=pcie gpus=4 pcie=48", 1, 4, 4, 24, false, true,
			false},
		{"4 NICs of 200 Gbit/s", "h100-64gb sm=90 joined=links gpus=4 links=6+6+6 nics=4x25", 4, 4, 8,
			24, true, false, true},
		{"fast NICs, few rings: each twice", "gb300 sm=103 joined=switch gpus=4 links=18 multicast " +
			"nics=4x100", 2, 4, 16, 96, true, false, true},
		{"NICs behind a processor: no LL128", "a100-40gb sm=80 joined=links gpus=4 links=4+4+4 " +
			"nics=1x25 far-nics", 2, 4, 2, 24, true, false, false},
		{"slower than all that are tried", "t4 sm=75 joined=pcie gpus=2 pcie=0.5", 1, 2, 2, 3, false,
			true, false},
	} {
		f := factsOf(t, test.facts)
		r := ringsOf(&f, test.nodes, test.perNode)
		require.Equal(t, test.channels, r.channels, test.why)
		require.Equal(t, test.intra, r.ring.intra, test.why)
		require.Equal(t, []bool{test.isFast, test.isSame, test.hasLL128},
			[]bool{r.ring.nvlink, r.ring.same, r.ll128}, test.why)
		require.False(t, known(&f, test.nodes, test.perNode), test.why)
	}
}

// TestFactsText: facts are read as they are written; others are refused with what was expected.
func TestFactsText(t *testing.T) {
	for _, m := range Machines() {
		m.Facts.NetLatency = len(m.Name)
		require.Equal(t, m.Facts, factsOf(t, m.Facts.String()))
	}
	for text, want := range map[string]string{
		"":                                      "facts of a node are expected",
		"x gpus=8":                              "sm=0: a compute capability",
		"x sm=90":                               "joined=: switch, links or pcie",
		"x sm=ninety":                           `"sm=ninety"`,
		"x sm=90 joined=switch gpus=0":          "1 to 4096 GPUs",
		"x sm=90 joined=switch gpus=8 nics=8":   "as 8x50",
		"x sm=90 joined=switch gpus=8 links=-1": "numbers of links",
		"x sm=90 joined=switch gpus=8 net-latency=-1": "microseconds up to",
		"x sm=90 joined=switch gpus=8 nics=8xNaN":     "rates up to",
		"x sm=90 joined=switch gpus=8 nvlinks=8":      "sm, joined, gpus",
		"x sm=90 joined=switch gpus=8 links=99999":    "links up to",
		"x sm=90 joined=switch gpus=8 pcie=1000000":   "rates up to",
	} {
		_, err := ParseFacts(text)
		require.ErrorContains(t, err, want, text)
	}
}

// FuzzFacts: whatever is read as facts is written and read back the same, and any call on such
// nodes is chosen or refused, without a panic.
func FuzzFacts(f *testing.F) {
	for _, m := range Machines() {
		f.Add(m.Facts.String(), 2, 8, int64(1<<20))
	}
	f.Add("x sm=75 joined=pcie gpus=1", 3, 1, int64(1))
	f.Add("x sm=90 joined=links gpus=4 links=0+0 multicast nics=1x0", 2, 4, int64(1<<30))
	f.Fuzz(func(t *testing.T, text string, nodes, perNode int, count int64) {
		facts, err := ParseFacts(text)
		if err != nil || nodes < 1 || nodes > 64 || perNode < 1 || perNode > 64 || count < 1 ||
			count > 1<<32 {
			return
		}
		again, err := ParseFacts(facts.String())
		require.NoError(t, err)
		require.Equal(t, facts.String(), again.String())
		for _, kind := range []collective.Kind{collective.AllReduce, collective.AllGather,
			collective.Broadcast} {
			spec := collective.Spec{Kind: kind, Type: dtype.Float32, Ranks: nodes * perNode, Count: count}
			if kind.Reduces() {
				spec.Op = collective.Sum
			}
			c, err := Choose(spec, Setting{Machine: facts.String(), PerNode: perNode})
			if err == nil {
				require.LessOrEqual(t, c.Used, c.all)
				require.Positive(t, c.Used)
				require.LessOrEqual(t, c.all, MaxChannels)
			}
		}
	})
}

// TestHeadsShareNICs: the heads of NVLSTree have the NICs of a node between them.
func TestHeadsShareNICs(t *testing.T) {
	f := Facts{Device: "h100-sxm", SM: 90, Joined: bySwitch, Links: []int{18}, Multicast: true,
		GPUs: 8, NICRate: 50}
	for nics, speed := range map[int]float64{8: 48, 4: 24, 1: 6} {
		f.NICs = nics
		require.Equal(t, speed, ringsOf(&f, 2, 8).nvls.inter, "%d NICs", nics)
	}
}

// ringsOf returns the rings that the newest release finds.
func ringsOf(f *Facts, nodes, perNode int) rings {
	s := search{f, current()}
	return s.rings(nodes, perNode)
}

func known(f *Facts, nodes, perNode int) bool {
	s := search{f, current()}
	return s.isKnown(nodes, perNode)
}
