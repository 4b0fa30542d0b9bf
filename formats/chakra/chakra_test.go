package chakra_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/formats/chakra"
	"collsim/formats/internal/foreign"
	"collsim/internal/samples"
	"collsim/proof"
	"collsim/schedule"
)

// open opens the files of a trace in the order of their ranks.
func open(t *testing.T, set samples.Set, pattern string) (files []chakra.Input) {
	t.Helper()
	names, err := filepath.Glob(set.Path(pattern))
	require.NoError(t, err)
	require.NotEmpty(t, names)
	names, err = chakra.Sort(names)
	require.NoError(t, err)
	for _, name := range names {
		f, err := os.Open(name)
		require.NoError(t, err)
		t.Cleanup(func() { f.Close() })
		files = append(files, chakra.Input{Name: filepath.Base(name), Reader: f})
	}
	return files
}

// judge is what is wrong with a file.
func judge(f *foreign.File) []*schedule.Violation {
	_, more := proof.Verify(f.Schedule, proof.Options{Iterations: 1, Causal: f.Causal})
	return append(f.Found, more...)
}

// TestSamples records the verdict of every entry of the index: none gives one. The ring is a ring,
// and causally an all_reduce. The microbenchmarks ask for one collective on every rank, alike. The
// workload is in order by its data dependencies, all of which are known; its ctrl_deps, which name
// callers outside the file and even nodes themselves, order nothing.
func TestSamples(t *testing.T) { samples.Each(t, "chakra_et", testSamples) }

func testSamples(t *testing.T, set samples.Set) {
	const bench = "astra-sim_microbenchmarks/"
	for _, c := range []struct {
		files string
		as    collective.Kind
		ranks int
		note  string
	}{
		{"astra-sim_custom_collectives/*/*.et", collective.AllReduce, 8, ""},
		{bench + "all_gather/4npus_1MB/*", collective.AllGather, 4, "asks for all_gather of 1 MiB;"},
		{bench + "all_gather/8npus_1MB/*", collective.AllGather, 8, "asks for all_gather of 1 MiB;"},
		{bench + "all_gather/16npus_1MB/*", collective.AllGather, 16, "asks for all_gather of 1 MiB;"},
		{bench + "all_reduce/4npus_1MB/*", collective.AllReduce, 4, "asks for all_reduce of 1 MiB;"},
		{bench + "all_reduce/16npus_1MB/*", collective.AllReduce, 16, "asks for all_reduce of 1 MiB;"},
		{bench + "all_to_all/4npus_1MB/*", collective.AllToAll, 4, "asks for all_to_all of 1 MiB;"},
		{bench + "all_to_all/8npus_1MB/*", collective.AllToAll, 8, "asks for all_to_all of 1 MiB;"},
		{bench + "all_to_all/16npus_1MB/*", collective.AllToAll, 16, "asks for all_to_all of 1 MiB;"},
		{bench + "reduce_scatter/4npus_1MB/*", collective.ReduceScatter, 4,
			"asks for reduce_scatter of 1 MiB;"},
		{bench + "reduce_scatter/16npus_1MB/*", collective.ReduceScatter, 16,
			"asks for reduce_scatter of 1 MiB;"},
		{"mlcommons_tests/*.et", 0, 1, "asks for broadcast of 212480 B, broadcast of 424 B"},
	} {
		t.Run(c.files, func(t *testing.T) {
			f, err := chakra.Read(open(t, set, c.files), foreign.Options{As: c.as})
			require.NoError(t, err)
			require.Equal(t, c.ranks, f.Schedule.Spec.Ranks)
			require.Empty(t, judge(f))
			require.Contains(t, strings.Join(f.Notes, "\n"), c.note)
		})
	}
}

// TestRing: what is known of the ring's sizes, steps and places.
func TestRing(t *testing.T) { samples.Each(t, "chakra_et", testRing) }

func testRing(t *testing.T, set samples.Set) {
	f, err := chakra.Read(open(t, set, "astra-sim_custom_collectives/*/*.et"), foreign.Options{})
	require.NoError(t, err)
	require.Equal(t, "custom_allreduce", f.Name)
	proven, wrong := proof.Verify(f.Schedule, proof.Options{})
	require.Empty(t, wrong)
	require.EqualValues(t, 8*14, proven.Messages)
	require.EqualValues(t, 8*14*131072, proven.BytesSent)
	require.Equal(t, 14, proven.Rounds)
	require.Equal(t, "custom_allreduce.3.et: node 2 (COMP_NODE_tb0_step1)", f.Where(3, 0, 2).String())
	for _, kind := range []collective.Kind{collective.Barrier, collective.Broadcast} {
		f.Causal = &schedule.Causal{Kind: kind}
		require.Empty(t, judge(f), kind)
	}
}

// TestJSONSamples: the feeder's form is read; it names no data dependency that it lacks, but does
// not say which collective its NCCL kernel is. The trace of PyTorch is something else, and said to
// be.
func TestJSONSamples(t *testing.T) { samples.Each(t, "chakra_et", testJSON) }

func testJSON(t *testing.T, set samples.Set) {
	_, err := chakra.Read(open(t, set, "mlcommons_tests/jsonData/*.json"), foreign.Options{})
	require.ErrorContains(t, err, "small_chakra.0.json: node 435 (ncclKernel_Broadcast_RING_LL")
	require.ErrorContains(t, err, ": a collective without comm_type: which one is not in the file")
	const trace = "mlcommons_tests/1.0.2-chakra.0.0.4.json"
	in, err := os.Open(set.Path(trace))
	require.NoError(t, err)
	defer in.Close()
	_, err = chakra.Read([]chakra.Input{{Name: trace, Reader: in}}, foreign.Options{})
	require.ErrorContains(t, err, "this is an execution trace of PyTorch")
}

// TestWorkloadSamples: what the samples are as programs.
func TestWorkloadSamples(t *testing.T) { samples.Each(t, "chakra_et", testWorkloads) }

func testWorkloads(t *testing.T, set samples.Set) {
	const bench = "astra-sim_microbenchmarks/"
	for _, c := range []struct {
		files string
		ops   int
		first chakra.Work
	}{
		{bench + "all_gather/4npus_1MB/*", 1, chakra.Work{Kind: collective.AllGather, Bytes: 1 << 20}},
		{bench + "all_to_all/16npus_1MB/*", 1, chakra.Work{Kind: collective.AllToAll, Bytes: 1 << 20}},
		{bench + "reduce_scatter/4npus_1MB/*", 1, chakra.Work{Kind: collective.ReduceScatter,
			Bytes: 1 << 20}},
		// 8 ranks send 14 messages of an eighth each, and add 7 times.
		{"astra-sim_custom_collectives/*/*.et", 8 * (14 + 7), chakra.Work{Kind: collective.SendRecv,
			Bytes: 1 << 17}},
	} {
		w, err := chakra.ReadWorkload(c.files, open(t, set, c.files), &chakra.Reading{})
		require.NoError(t, err, c.files)
		sound(t, w)
		require.Len(t, w.Ops, c.ops, c.files)
		require.Equal(t, c.first.Kind, w.Ops[0].Kind)
		require.Equal(t, c.first.Bytes, w.Ops[0].Bytes)
	}
	w, err := chakra.ReadWorkload("t", open(t, set, "mlcommons_tests/*.et"), &chakra.Reading{})
	require.NoError(t, err)
	sound(t, w)
	require.NotEmpty(t, w.Ops)
}
