package run_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/run"
)

// estimated is what the first point of a scenario is told to take, with some of its keys set.
func estimated(t testing.TB, text string, set ...string) *run.Estimate {
	t.Helper()
	s, err := run.Load("s.toml", []byte(text), run.LoadOptions{Set: set})
	require.NoError(t, err)
	e, err := s.Estimate(s.Points[0])
	require.NoError(t, err)
	return e
}

// TestEstimateMeasured holds estimates against what the command took, on one core of an AMD EPYC
// that others worked on as well: the processor time of one run with GOMAXPROCS=1, and the largest
// resident set; all elements were checked. Both are within a factor of two, and of 1.5 but for the
// time of the tree and of the larger recursive doubling, and the memory of direct.
func TestEstimateMeasured(t *testing.T) {
	for _, c := range []struct {
		ranks                        int
		kind, algorithm, bytes, data string
		seconds, mebibytes           float64
	}{
		{8, "all_reduce", "ring", "64 MiB", "exact", 0.38, 55},
		{8, "all_reduce", "ring", "64 MiB", "normal", 2.44, 55},
		{64, "all_reduce", "ring", "16 MiB", "exact", 0.74, 56},
		{512, "all_reduce", "ring", "4 MiB", "exact", 1.27, 132},
		{1024, "all_reduce", "ring", "1 MiB", "exact", 2.07, 465},
		{1024, "all_gather", "ring", "1 MiB", "exact", 0.95, 434},
		{128, "reduce_scatter", "ring", "16 MiB", "exact", 1.04, 57},
		{256, "all_reduce", "rabenseifner", "8 MiB", "exact", 1.00, 78},
		{1024, "all_reduce", "recursive-doubling", "1 MiB", "exact", 1.42, 58},
		{4096, "all_reduce", "recursive-doubling", "64 KiB", "exact", 1.04, 70},
		{512, "all_to_all", "direct", "512 KiB", "exact", 0.75, 243},
		{256, "all_to_all", "bruck", "1 MiB", "exact", 0.49, 69},
		{512, "all_reduce", "double-binary-tree", "4 MiB", "exact", 0.44, 58},
		{1024, "broadcast", "binomial", "4 MiB", "exact", 0.24, 61},
	} {
		text := fmt.Sprintf("[topology]\npreset = \"switch\"\nranks = %d\nbandwidth = \"25 GB/s\"\n"+
			"latency = \"1 us\"\n[collective]\nkind = %q\nalgorithm = %q\ndtype = \"float32\"\n"+
			"bytes = %q\n[check]\nfull = true\ndata = %q\n", c.ranks, c.kind, c.algorithm, c.bytes, c.data)
		e := estimated(t, text)
		ratio := e.Seconds / run.SharedCore / c.seconds
		t.Logf("%s %s %d: %.2f s, %v", c.kind, c.algorithm, c.ranks, e.Seconds, e.Memory)
		require.True(t, 0.5 <= ratio && ratio <= 2, "%s: %v s", text, e.Seconds)
		ratio = float64(e.Memory) / (1 << 20) / c.mebibytes
		require.True(t, 0.5 <= ratio && ratio <= 2, "%s: %v", text, e.Memory)
		require.LessOrEqual(t, e.NumberSeconds, e.Seconds)
	}
}

// TestEstimateOfOwn holds estimates of algorithms of which each rank has a program of its own, as
// above: all are within a factor of three.
func TestEstimateOfOwn(t *testing.T) {
	for _, c := range []struct {
		ranks                  int
		kind, algorithm, proof string
		seconds                float64
	}{
		{300, "all_reduce", "one-shot", "false", 0.46}, {300, "all_reduce", "two-shot", "false", 1.44},
		{300, "reduce_scatter", "direct", "false", 0.66},
		{300, "reduce_scatter", "low-contention", "false", 1.05},
		{300, "reduce_scatter", "low-contention", "true", 2.05},
		{300, "all_gather", "low-contention", "true", 1.66},
		{1000, "all_gather", "low-contention", "true", 44},
		{1000, "reduce_scatter", "recursive-halving", "false", 0.31},
		{2500, "reduce_scatter", "recursive-halving", "true", 1.85},
		{2500, "all_gather", "recursive-doubling", "true", 1.90},
		{2500, "all_reduce", "rabenseifner", "false", 0.59},
		{1000, "all_gather", "openmpi:neighbor", "false", 1.74},
		{1000, "broadcast", "scatter-allgather", "true", 2.34},
		{1000, "reduce_scatter", "openmpi:block-recursive-doubling", "false", 0.55},
		{1000, "reduce_scatter", "openmpi:block-recursive-doubling", "true", 1.76},
	} {
		if c.ranks > 300 && !tier.Long {
			continue
		}
		e := estimated(t, fmt.Sprintf("[topology]\npreset = \"switch\"\nranks = %d\n"+
			"bandwidth = \"25 GB/s\"\nlatency = \"1 us\"\n[collective]\nkind = %q\nalgorithm = %q\n"+
			"bytes = \"1 MiB\"\n[check]\nproof = %s\nnumbers = false\n", c.ranks, c.kind, c.algorithm,
			c.proof))
		ratio := e.Seconds / c.seconds
		t.Logf("%+v: %.2f s, %.2f", c, e.Seconds, ratio)
		require.True(t, 1.0/3 <= ratio && ratio <= 3, "%+v: %v s", c, e.Seconds)
	}
}

// TestEstimateOfTrees holds estimates of trees of which the event engine plays every rank against
// what the command took, as above and on a slower machine: all are within a factor of three.
func TestEstimateOfTrees(t *testing.T) {
	for _, c := range []struct {
		preset             string
		ranks              int
		algorithm, sharing string
		seconds            float64
	}{
		{"switch", 1024, "nccl:tree", "fluid", 0.62}, {"switch", 1024, "nccl:tree", "fifo", 0.79},
		{"switch", 8192, "nccl:tree", "fluid", 6.69}, {"switch", 8192, "nccl:tree", "fifo", 8.30},
		{"ring", 8192, "double-binary-tree", "fluid", 0.40},
		{"switch", 8192, "double-binary-tree", "fluid", 0.13},
		{"switch", 65536, "double-binary-tree", "fluid", 1.37},
		{"switch", 65536, "double-binary-tree", "fifo", 1.04},
		{"switch", 262144, "double-binary-tree", "fluid", 5.92},
		{"switch", 262144, "double-binary-tree", "fifo", 4.31},
		{"switch", 262144, "binomial", "fluid", 2.92}, {"switch", 262144, "binomial", "fifo", 1.72},
	} {
		e := estimated(t, fmt.Sprintf("[topology]\npreset = %q\nranks = %d\n"+
			"bandwidth = \"100 Gbit/s\"\nlatency = \"500 ns\"\n[collective]\nkind = \"all_reduce\"\n"+
			"algorithm = %q\nbytes = \"1 MiB\"\n[check]\nproof = false\nnumbers = false\n[sim]\n"+
			"engine = \"event\"\nsharing = %q\n", c.preset, c.ranks, c.algorithm, c.sharing))
		ratio := e.Seconds / c.seconds
		require.True(t, 1.0/3 <= ratio && ratio <= 3, "%+v: %v s", c, e.Seconds)
	}
}

// TestEstimateOfFolds holds estimates of pairwise exchanges of which a part of the ranks stands for
// all against what they took, as above: processor time and the largest resident set, two cores of
// an AMD EPYC. All are within a factor of 1.5.
func TestEstimateOfFolds(t *testing.T) {
	for _, c := range []struct {
		network, sharing   string
		seconds, mebibytes float64
	}{
		{"preset = \"fat-tree\"\nk = 32\nranks = 4096", "fifo", 2.28, 32},
		{"preset = \"fat-tree\"\nk = 32\nranks = 4096", "fluid", 5.47, 32},
		{"preset = \"fat-tree\"\nk = 16", "fifo", 0.15, 25},
		{"preset = \"fat-tree\"\nk = 16", "fluid", 0.28, 25},
		{"preset = \"leaf-spine\"\nk = 64\nranks = 4096", "fifo", 0.80, 28},
		{"preset = \"leaf-spine\"\nk = 64\nranks = 4096", "fluid", 1.09, 28},
		{"preset = \"leaf-spine\"\nk = 32\nranks = 1024", "fifo", 0.07, 24},
		{"preset = \"tree\"\nk = 32\nranks = 1024", "fluid", 0.09, 24},
		{"preset = \"dragonfly\"\na = 8\np = 4\nh = 4", "fifo", 0.20, 25}, // here and below on a Xeon
		{"preset = \"dragonfly\"\na = 8\np = 4\nh = 4", "fluid", 0.31, 25},
	} {
		text := fmt.Sprintf("[topology]\n%s\nrouting = \"shortest\"\nbandwidth = \"25 GB/s\"\n"+
			"latency = \"1 us\"\n[collective]\nkind = \"all_to_all\"\nalgorithm = \"pairwise\"\n"+
			"dtype = \"float32\"\nbytes = \"64 MiB\"\n[sim]\nsharing = %q\n[check]\nproof = false\n"+
			"numbers = false\n", c.network, c.sharing)
		e := estimated(t, text)
		t.Logf("%s %s: %.4f s, %v", c.network, c.sharing, e.Seconds, e.Memory)
		seconds, memory := e.Seconds/run.SharedCore/c.seconds, float64(e.Memory)/(1<<20)/c.mebibytes
		require.True(t, 1/1.5 <= seconds && seconds <= 1.5, "%s: %v s", text, seconds)
		require.True(t, 1/1.5 <= memory && memory <= 1.5, "%s: %v", text, e.Memory)
	}
}

// TestEstimateOfEngines holds estimates of a simulation alone, by each engine, against what it
// took: processor time with GOMAXPROCS=1, of event on an AMD EPYC, of sweep on a Xeon of 2.5 GHz,
// that others used too.
func TestEstimateOfEngines(t *testing.T) {
	for _, c := range []struct {
		engine, algorithm string
		ranks, bytes      int
		seconds           float64
	}{
		{"event", "ring", 1024, 4 << 20, 0.09},
		{"event", "ring", 1024, 4_000_012, 0.16}, // blocks of two sizes
		{"sweep", "ring", 256, 1 << 18, 0.00157},
		{"sweep", "ring", 1024, 4 << 20, 0.0147},
	} {
		text := fmt.Sprintf("[topology]\npreset = \"switch\"\nranks = %d\nbandwidth = \"25 GB/s\"\n"+
			"latency = \"1 us\"\n[collective]\nkind = \"all_reduce\"\nalgorithm = %q\n"+
			"dtype = \"float32\"\nbytes = %d\n[sim]\nengine = %q\n[check]\nproof = false\n"+
			"numbers = false\n", c.ranks, c.algorithm, c.bytes, c.engine)
		e := estimated(t, text)
		t.Logf("%s %s %d: %.4f s", c.engine, c.algorithm, c.ranks, e.Seconds)
		ratio := e.Seconds / run.SharedCore / c.seconds
		require.True(t, 0.3 <= ratio && ratio <= 3, "%s: %v s", text, e.Seconds)
	}
}

// TestEstimateOfLong holds estimates of rings that are swept although some of the ranks stand for
// all, or would be, against what they took, as above. All are within a factor of 1.5.
func TestEstimateOfLong(t *testing.T) {
	for _, c := range []struct {
		network            string
		ranks              int
		seconds, mebibytes float64
	}{
		{"preset = \"tree\"\nk = 8", 4096, 0.12, 35},
		{"preset = \"tree\"\nk = 4", 16384, 1.75, 80},
		{"preset = \"torus\"\nshape = [32, 32, 32]", 32768, 6.3, 128},
		{"preset = \"torus\"\nshape = [64, 64]", 4096, 0.04, 22},
	} {
		if c.ranks > 1<<12 && !tier.Long {
			continue
		}
		text := fmt.Sprintf("[topology]\n%s\nranks = %d\nbandwidth = \"100 Gbit/s\"\n"+
			"latency = \"500 ns\"\n[collective]\nkind = \"all_reduce\"\nalgorithm = \"ring\"\n"+
			"bytes = \"256 MiB\"\n[check]\nproof = false\nnumbers = false\n", c.network, c.ranks)
		e := estimated(t, text)
		t.Logf("%s: %.2f s, %v", c.network, e.Seconds, e.Memory)
		ratio := e.Seconds / run.SharedCore / c.seconds
		require.True(t, 1/run.WellKnown <= ratio && ratio <= run.WellKnown, "%s: %v s", text, e.Seconds)
		ratio = float64(e.Memory) / (1 << 20) / c.mebibytes
		require.True(t, 1/run.WellKnown <= ratio && ratio <= run.WellKnown, "%s: %v", text, e.Memory)
	}
}

// TestEstimateOfUneven holds estimates of a class that is played with a time for each of its ranks
// against what they took, as above: of rank 5 slower by half, or its link up.
func TestEstimateOfUneven(t *testing.T) {
	rank := "[[topology.rank]]\nmatch = \"5\"\nslowdown = 1.5\n"
	link := "[[topology.link]]\nmatch = \"gpu5->switch\"\nbandwidth = \"50 %\"\n"
	for _, c := range []struct {
		ranks              int
		slow, algorithm    string
		seconds, mebibytes float64
	}{
		{1 << 20, rank, "ring", 1.40, 79},
		{1 << 20, link, "ring", 2.15, 60},
		{1 << 16, link, "ring", 0.13, 25},
		{1 << 12, rank, "recursive-doubling", 0.21, 45}, // event: it refuses
	} {
		if c.ranks > 1<<16 && !tier.Long {
			continue
		}
		text := fmt.Sprintf("[topology]\npreset = \"switch\"\nranks = %d\nbandwidth = \"100 Gbit/s\"\n"+
			"latency = \"500 ns\"\n%s[device]\noverhead = \"1 us\"\nreduce_rate = \"400 GB/s\"\n"+
			"lane_rate = \"20 GB/s\"\n[collective]\nkind = \"all_reduce\"\nalgorithm = %q\n"+
			"bytes = \"4 MiB\"\n[check]\nproof = false\nnumbers = false\n", c.ranks, c.slow, c.algorithm)
		e := estimated(t, text)
		t.Logf("%d %s: %.2f s, %v", c.ranks, c.algorithm, e.Seconds, e.Memory)
		seconds, memory := e.Seconds/run.SharedCore/c.seconds, float64(e.Memory)/(1<<20)/c.mebibytes
		require.True(t, 1/1.6 <= seconds && seconds <= 1.6, "%s: %v s", text, e.Seconds)
		require.True(t, 1/1.6 <= memory && memory <= 1.6, "%s: %v", text, e.Memory)
	}
}

// TestEstimateOfRest holds estimates of what other tests do not have most of against what it took,
// as above, on a Xeon: bounds of a mesh, ways from node to node, links that are listed for a sweep,
// proofs of all ranks, long ways, and programs of a rank's own that are read backwards.
func TestEstimateOfRest(t *testing.T) {
	const nodes = "nodes = 32\n[topology.node]\npreset = \"ring\"\nranks = 8\n" +
		"bandwidth = \"100 GB/s\"\nlatency = \"500 ns\"\n[topology.network]\n" +
		"preset = \"leaf-spine\""
	for _, c := range []struct {
		network, kind, algorithm string
		bytes                    int
		set                      string
		seconds, within          float64
	}{
		{"preset = \"mesh\"\nshape = [64, 64]", "all_reduce", "hierarchical", 1 << 24,
			`sim.sharing="fifo"`, 1.5, 1.6},
		{nodes, "all_reduce", "recursive-doubling", 1 << 20, `sim.sharing="fifo"`, 0.3, 1.5},
		{"preset = \"full-mesh\"\nranks = 2502", "all_reduce", "ring", 1 << 24,
			`sim.sharing="fluid"`, 1.16, 1.5},
		{"preset = \"ring\"\nranks = 1582", "all_reduce", "ring", 16_000_048, "check.proof=true",
			3.9, 1.5},
		{"preset = \"ring\"\nranks = 7462", "all_to_all", "pairwise", 111_355_426,
			`sim.sharing="fifo"`, 3, 1.5},
		{"preset = \"dragonfly\"\na = 8\np = 4\nh = 4\nranks = 435", "reduce", "chain", 1 << 28,
			`sim.sharing="fifo"`, 1.1, 2},
	} {
		if c.kind == "reduce" && !tier.Long { // whose programs take long to count
			continue
		}
		text := fmt.Sprintf("[collective]\nkind = %q\nalgorithm = %q\nbytes = %d\n[check]\n"+
			"proof = false\nnumbers = false\n[topology]\n%s\nbandwidth = \"12.5 GB/s\"\n"+
			"latency = \"1 us\"\n", c.kind, c.algorithm, c.bytes, c.network)
		e := estimated(t, text, c.set)
		t.Logf("%s %s: %.2f s, %v", c.kind, c.algorithm, e.Seconds, e.Memory)
		ratio := e.Seconds / run.SharedCore / c.seconds
		require.True(t, 1/c.within <= ratio && ratio <= c.within, "%s: %v s", text, e.Seconds)
	}
}

// TestEstimateOfWritten: programs of ranks' own take memory as they are written, whose loops go
// round often: a chain in 32 segments took 29 MiB, of which the command is 21.
func TestEstimateOfWritten(t *testing.T) {
	e := estimated(t, "[topology]\npreset = \"ring\"\nranks = 2048\n"+
		"bandwidth = \"12.5 GB/s\"\nlatency = \"1 us\"\n[sim]\nsharing = \"fifo\"\n[collective]\n"+
		"kind = \"broadcast\"\nalgorithm = \"chain\"\nbytes = \"16 MiB\"\n[check]\n"+
		"proof = false\nnumbers = false\n")
	require.InEpsilon(t, 29, float64(e.Memory)/(1<<20), 0.5)
}
