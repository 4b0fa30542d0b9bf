package nccl

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
)

// recordedTables are the latencies (microseconds) and bandwidths (GB/s) that NCCL 2.30.7's own code
// has printed when it was compiled for the processor with these machines' topologies.
var recordedTables = []struct {
	machine        string
	ranks, perNode int
	kind           collective.Kind
	ways           string
}{
	{"dgx-h100", 8, 8, collective.AllReduce,
		"Tree LL 15.2/43.58 Tree LL128 31.5/128.80 Tree Simple 64.4/165.60 Ring LL " +
			"15.0/80.57 Ring LL128 40.6/189.26 Ring Simple 56.0/205.71 NVLS Simple " +
			"25.0/272.00"},
	{"dgx-h100", 2, 2, collective.AllReduce,
		"Tree LL 8.0/61.11 Tree LL128 16.5/180.60 Tree Simple 16.4/232.20 Ring LL " +
			"7.8/141.00 Ring LL128 17.8/331.20 Ring Simple 15.2/360.00 NVLS Simple " +
			"25.0/102.00"},
	{"dgx-a100", 8, 8, collective.AllReduce,
		"Tree LL 15.2/29.05 Tree LL128 31.5/85.87 Tree Simple 64.4/110.40 Ring LL " +
			"15.0/50.11 Ring LL128 40.6/126.17 Ring Simple 56.0/137.14"},
	{"dgx-v100", 8, 8, collective.AllReduce,
		"Tree LL 15.2/14.53 Tree LL128 31.5/42.93 Tree Simple 64.4/55.20 Ring LL " +
			"15.0/22.29 Ring LL128 40.6/63.09 Ring Simple 56.0/68.57"},
	{"dgx-h100", 16, 8, collective.AllReduce,
		"Tree LL 25.2/16.58 Tree LL128 48.5/124.78 Tree Simple 92.4/140.76 Ring LL " +
			"40.0/20.80 Ring LL128 75.2/156.59 Ring Simple 131.6/204.80 NVLSTree Simple " +
			"66.8/246.19"},
	{"dgx-a100", 16, 8, collective.AllReduce,
		"Tree LL 25.2/11.25 Tree LL128 48.5/80.00 Tree Simple 92.4/94.40 Ring LL " +
			"68.0/12.00 Ring LL128 78.0/85.33 Ring Simple 204.4/102.40"},
	{"socket", 2, 1, collective.AllReduce,
		"Ring LL 16.6/0.60 Ring Simple 36.4/1.20"},
	{"dgx-h100", 8, 8, collective.AllGather,
		"Ring LL 10.8/161.14 Ring LL128 27.3/378.51 Ring Simple 32.2/411.43 NVLS Simple " +
			"25.0/208.25"},
	{"dgx-h100", 2, 2, collective.ReduceScatter,
		"Ring LL 7.2/282.00 Ring LL128 15.9/662.40 Ring Simple 11.8/720.00 NVLS Simple " +
			"25.0/25.50"},
	{"dgx-a100", 8, 8, collective.ReduceScatter,
		"Ring LL 10.8/100.23 Ring LL128 27.3/252.34 Ring Simple 32.2/274.29"},
	{"dgx-v100", 8, 8, collective.AllGather,
		"Ring LL 10.8/44.57 Ring LL128 27.3/126.17 Ring Simple 32.2/137.14"},
	{"dgx-h100", 16, 8, collective.AllGather,
		"Ring LL 23.3/41.60 Ring LL128 44.6/313.17 Ring Simple 70.0/409.60"},
	{"dgx-a100", 16, 8, collective.AllGather,
		"Ring LL 37.3/24.00 Ring LL128 46.0/170.67 Ring Simple 106.4/204.80"},
	{"socket", 2, 1, collective.AllGather,
		"PAT Simple 17.6/1.80"},
	{"dgx-h100", 8, 8, collective.Broadcast,
		"Ring LL 7.2/141.00 Ring LL128 15.9/331.20 Ring Simple 11.8/360.00"},
	{"dgx-a100", 8, 8, collective.Reduce,
		"Ring LL 7.2/87.70 Ring LL128 15.9/220.80 Ring Simple 11.8/240.00"},
	{"dgx-v100", 8, 8, collective.Broadcast,
		"Ring LL 11.4/39.00 Ring LL128 29.2/110.40 Ring Simple 40.4/120.00"},
	{"dgx-h100", 16, 8, collective.Broadcast,
		"Ring LL 49.8/39.00 Ring LL128 78.0/293.60 Ring Simple 232.4/384.00"},
	{"dgx-a100", 16, 8, collective.Reduce,
		"Ring LL 49.8/22.50 Ring LL128 78.0/160.00 Ring Simple 232.4/192.00"},
}

// TestPluginLatency: what the plugin of a network reports is added to every hop between nodes, by
// Simple twice; chains, and all calls of one node, have none. The recorded latencies of two DGX
// H100 (recordedTables) and 75 us of a hop, by graph/tuning.cc.
func TestPluginLatency(t *testing.T) {
	machine, err := machineOf("dgx-h100")
	require.NoError(t, err)
	machine.Facts.NetLatency = 75
	for _, test := range []struct {
		kind collective.Kind
		ways string
	}{
		{collective.AllReduce, "Tree LL 175.2 Tree LL128 198.5 Tree Simple 392.4 Ring LL 190.0 " +
			"Ring LL128 225.2 Ring Simple 431.6 NVLSTree Simple 366.8"},
		{collective.AllGather, "Ring LL 98.3 Ring LL128 119.6 Ring Simple 220.0"},
		{collective.Broadcast, "Ring LL 49.8 Ring LL128 78.0 Ring Simple 232.4"},
	} {
		s := Setting{Machine: machine.Facts.String(), PerNode: 8}
		m, err := s.model(&collective.Spec{Kind: test.kind, Ranks: 16})
		require.NoError(t, err)
		words := strings.Fields(test.ways)
		for i := 0; i < len(words); i += 3 {
			latency, err := strconv.ParseFloat(words[i+2], 64)
			require.NoError(t, err)
			w := wayOf(t, words[i]+" "+words[i+1])
			require.InDelta(t, latency, m.latency(test.kind, w), .0501, "%v %v", test.kind, w)
		}
	}
	alone := modelOf(&machine, current(), 8, 8)
	require.InDelta(t, 15, alone.latency(collective.AllReduce, Way{Ring, LL}), .0501)
}

// TestTables: the model's tables are those that NCCL prints.
func TestTables(t *testing.T) {
	for _, test := range recordedTables {
		s := Setting{Machine: test.machine, PerNode: test.perNode}
		spec := collective.Spec{Kind: test.kind, Ranks: test.ranks}
		m, err := s.model(&spec)
		require.NoError(t, err)
		words := strings.Fields(test.ways)
		for i := 0; i < len(words); i += 3 {
			w := wayOf(t, words[i]+" "+words[i+1])
			var latency, bandwidth float64 // rounded to what is printed
			_, err := fmt.Sscanf(words[i+2], "%g/%g", &latency, &bandwidth)
			require.NoError(t, err)
			require.InDelta(t, latency, m.latency(test.kind, w), .0501, "%+v %v", test, w)
			require.InDelta(t, bandwidth, m.bandwidth(test.kind, w), .00501, "%+v %v", test, w)
		}
	}
}

func wayOf(t *testing.T, name string) Way {
	t.Helper()
	for a := range algorithms {
		for p := range protocols {
			if w := (Way{a, p}); w.String() == name {
				return w
			}
		}
	}
	t.Fatalf("%q is no way", name)
	return Way{}
}

// TestSelection: which way is the fastest changes at the sizes, powers of two, at which it does in
// NCCL's own code.
func TestSelection(t *testing.T) {
	blocks, rooted := collective.AllGather, collective.Broadcast
	for _, test := range []struct {
		machine        string
		ranks, perNode int
		kind           collective.Kind
		want           string
	}{
		{"dgx-h100", 8, 8, collective.AllReduce, "Ring LL, 21 NVLS Simple"},
		{"dgx-h100", 8, 8, blocks, "Ring LL, 23 Ring LL128, 25 Ring Simple"},
		{"dgx-h100", 8, 8, rooted, "Ring LL, 21 Ring Simple"},
		{"dgx-h100", 2, 2, collective.AllReduce, "Ring LL, 21 Ring Simple"},
		{"dgx-h100", 2, 2, blocks, "Ring LL, 22 Ring Simple"},
		{"dgx-h100", 2, 2, rooted, "Ring LL, 21 Ring Simple"},
		{"dgx-a100", 8, 8, collective.AllReduce, "Ring LL, 22 Ring LL128, 25 Ring Simple"},
		{"dgx-a100", 8, 8, blocks, "Ring LL, 22 Ring LL128, 24 Ring Simple"},
		{"dgx-a100", 8, 8, rooted, "Ring LL, 20 Ring Simple"},
		{"dgx-v100", 8, 8, collective.AllReduce, "Ring LL, 20 Ring LL128, 24 Ring Simple"},
		{"dgx-v100", 8, 8, blocks, "Ring LL, 21 Ring LL128, 23 Ring Simple"},
		{"dgx-v100", 8, 8, rooted, "Ring LL, 21 Ring LL128, 24 Ring Simple"},
		{"dgx-h100", 16, 8, collective.AllReduce, "Tree LL, 18 Tree LL128, 21 NVLSTree Simple"},
		{"dgx-h100", 16, 8, blocks, "Ring LL, 20 Ring LL128, 26 Ring Simple"},
		{"dgx-h100", 16, 8, rooted, "Ring LL, 21 Ring LL128, 28 Ring Simple"},
		{"dgx-a100", 16, 8, collective.AllReduce,
			"Tree LL, 18 Tree LL128, 24 Ring LL128, 27 Ring Simple"},
		{"dgx-a100", 16, 8, blocks, "Ring LL, 18 Ring LL128, 26 Ring Simple"},
		{"dgx-a100", 16, 8, rooted, "Ring LL, 20 Ring LL128, 28 Ring Simple"},
	} {
		got, last := "", ""
		for log := 8; log <= 32; log++ {
			spec := collective.Spec{Kind: test.kind, Type: dtype.BFloat16, Ranks: test.ranks,
				Count: 1 << log / 2}
			if test.kind == collective.AllReduce {
				spec.Op = collective.Sum
			}
			if test.kind == blocks {
				spec.Count /= int64(test.ranks)
			}
			c, err := Choose(spec, Setting{Machine: test.machine, PerNode: test.perNode})
			require.NoError(t, err)
			switch name := c.Way.String(); {
			case last == "":
				got, last = name, name
			case name != last:
				got, last = got+fmt.Sprintf(", %d %s", log, name), name
			}
		}
		require.Equal(t, test.want, got, "%s %d×%d %v", test.machine, test.ranks/test.perNode,
			test.perNode, test.kind)
	}
}

// TestSplit: calls of float32 on 8 H100 are cut into channels and chunks as NCCL 2.30.7's own rules
// cut them. The first, the third and the counts of channels are in logs that others have published.
func TestSplit(t *testing.T) {
	for _, test := range []struct {
		kind     collective.Kind
		way      string
		bytes    int64 // of the call
		channels int   // that it may take
		threads  int   // of each; of NVLS as its source has it
		lo       int64 // elements
		mid, k   int64
		hi       int64
		chunk    int64 // bytes
	}{
		{collective.AllReduce, "Ring LL", 4 << 10, 1, 96, 1024, 0, 0, 0, 32768},
		{collective.AllReduce, "Ring LL", 1 << 20, 24, 512, 11264, 11264, 22, 3072, 32768},
		{collective.AllReduce, "Ring Simple", 16 << 20, 24, 544, 176128, 176128, 22, 143360, 2097152},
		{collective.AllReduce, "Ring Simple", 256 << 20, 24, 544, 2797568, 2797568, 22, 2764800, 2097152},
		{collective.AllReduce, "NVLS Simple", 64 << 20, 16, 640, 1048576, 1048576, 14, 1048576, 65536},
		{collective.AllReduce, "NVLS Simple", 1 << 30, 16, 640, 16777216, 16777216, 14, 16777216, 131072},
		{collective.AllReduce, "Ring LL128", 8 << 20, 24, 640, 90112, 90112, 22, 24576, 576000},
		{collective.AllReduce, "Tree LL", 1 << 20, 24, 640, 11264, 11264, 22, 3072, 32768},
		{collective.AllReduce, "Tree Simple", 16 << 20, 24, 640, 176128, 176128, 22, 143360, 524288},
		{collective.AllGather, "Ring LL", 1 << 20, 24, 512, 1536, 1536, 20, 512, 32768},
		{collective.ReduceScatter, "Ring LL128", 16 << 20, 24, 640, 22528, 22528, 22, 6144, 576000},
		{collective.Broadcast, "Ring Simple", 64 << 20, 24, 544, 704512, 704512, 22, 573440, 524288},
	} {
		spec := collective.Spec{Kind: test.kind, Type: dtype.Float32, Ranks: 8, Count: test.bytes / 4}
		if test.kind.Reduces() {
			spec.Op = collective.Sum
		}
		if byBlocks(&spec) {
			spec.Count /= 8
		}
		c, err := Choose(spec, Setting{Among: []Way{wayOf(t, test.way)}})
		require.NoError(t, err)
		require.Equal(t, []int{test.channels, test.threads}, []int{c.Channels, c.Threads}, "%+v", test)
		unit := 4 / elementBytes(&spec) // NCCL gathers bytes
		want := []part{{test.lo * unit, 0}}
		for range test.k {
			want = append(want, part{test.mid * unit, 0})
		}
		if test.hi > 0 {
			want = append(want, part{test.hi * unit, 0})
		}
		for i := range want {
			want[i].chunk = test.chunk / elementBytes(&spec)
		}
		require.Equal(t, want, c.parts(&spec), "%+v", test)
	}
}

// TestTreesRecorded: parents and children are those that NCCL's own graph/trees.cc gives, compiled
// from its source, for 2 to 64 nodes: "up/first/second" of each node by size and tree.
func TestTreesRecorded(t *testing.T) {
	text, err := os.ReadFile("testdata/trees.txt")
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Len(t, lines, 2*63)
	for i, line := range lines {
		nodes, tree := 2+i/2, i%2
		got := fmt.Sprint(nodes, " ", tree)
		for node := range nodes {
			b := double(tree, node, nodes)
			got += fmt.Sprintf(" %d/%d/%d", b.up, b.down[0], b.down[1])
		}
		require.Equal(t, line, got)
	}
}
