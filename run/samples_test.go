package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/formats"
	"collsim/formats/chakra"
	"collsim/internal/samples"
	"collsim/proof"
	"collsim/report"
	"collsim/run"
	"collsim/schedule"
)

// verdictOf is what "collsim verify" says of a file, or of a trace of a file a rank.
func verdictOf(t *testing.T, set samples.Set, name string, o formats.Options) (*run.Verification,
	error) {
	t.Helper()
	path := set.Path(name)
	info, err := os.Stat(path)
	require.NoError(t, err)
	var f *formats.File
	if info.IsDir() {
		f, err = formats.ReadTrace(name, traceOf(t, path), o)
	} else {
		in, opened := os.Open(path)
		require.NoError(t, opened)
		defer in.Close()
		f, err = formats.Read(name, in, o)
	}
	if err != nil {
		return nil, err
	}
	return run.VerifyFile(name, f, run.VerifyOptions{}), nil
}

func traceOf(t *testing.T, path string) (files []formats.Part) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(path, "*.et"))
	require.NoError(t, err)
	names, err = chakra.Sort(names)
	require.NoError(t, err)
	for _, name := range names {
		in, err := os.Open(name)
		require.NoError(t, err)
		t.Cleanup(func() { in.Close() })
		files = append(files, formats.Part{Name: filepath.Base(name), Reader: in})
	}
	return files
}

// whyWrong is the reason for which a file is wrong: what the verdict says of it, with its place.
func whyWrong() map[string]string {
	const starts = "64MB_msccl_%s.xml:5: deadlock: gpu 0 tb 0 step 0: r, chunk 1: 2 lanes wait"
	return map[string]string{
		"generated/alltonext_forward_3n.xml": "generated/alltonext_forward_3n.xml:145: race: gpu 9 " +
			"tb 0 step 0: r, chunk 0: gpu 9 tb 4 step 0: rcs (line 157) writes and gpu 9 tb 0 " +
			"step 0: r (line 145) writes scratch element 0",
		"generated/ar_allpairs_v2_n3.xml": "missing: gpu 0, chunk 0: output element 0 lacks the " +
			"input of rank 2",
		"generated/pipe_ring_n8_c1.xml": "missing: gpu 1, chunk 0: output element 0 lacks the input " +
			"of ranks 2 to 15",
		"sccl/a2a_line3_s2m1.xml":              "recvReduceCopy combines, but all_to_all has no",
		"teccl-msccl/64MB_msccl_annotated.xml": strings.Replace(starts, "%s", "annotated", 1),
		"teccl-msccl/64MB_msccl_strict.xml":    strings.Replace(starts, "%s", "strict", 1),
		"xml-builder/two_step_alltoall_dep_node_nums2_gpus_pernode2.xml": "missing: gpu 0, chunk 0: " +
			"output element 0 lacks the input of ranks 1 to 3",
		"xml-builder/two_step_alltoall_node_nums2_gpus_pernode4.xml": "missing: gpu 1, chunk 1: " +
			"output element 4 lacks the input of rank 0",
		"unit/read_put_packet_test.json":          ":18: deadlock: gpu 0 tb 0 op 0: rppkt",
		"unit/reduce_copy_send_packet_test.json":  "op 0: recspkt",
		"unit/reduce_packets_fuse_test.json":      "op 0: repkt",
		"unit/relaxed_signal_wait_fuse_test.json": "op 3: rlxwait",
		"unit/signal_wait_fuse_test.json":         "op 3: wait",
		"unit/switch_reduce_test.json":            "glre",
		"schedgen/allreduce_recdoub_n6.goal":      "unmatched: send 1024b to 6 tag 0",
		"schedgen/allreduce_recdoub_n8.goal":      "ends its all_reduce when only 7 of 8 ranks",
		"schedgen/chained_dissem_n6.goal":         "unmatched: send 0b to 9999999",
		"schedgen/chained_dissem_n8.goal":         "unmatched: send 0b to 9999999",
		"schedgen/dissemination_n6.goal":          "leaves the barrier when only 5 of 6 ranks",
		"schedgen/nwaydissemination_n6.goal":      "leaves the barrier when only 5 of 6 ranks",
		"schedgen/nwaydissemination_n8.goal":      "leaves the barrier when only 7 of 8 ranks",
	}
}

// patternKinds are what the generators of GOAL files want to make. Bisections only let pairs of
// ranks exchange: they are held to come to their end.
func patternKinds() map[string]collective.Kind {
	return map[string]collective.Kind{
		"allreduce_recdoub": collective.AllReduce, "allreduce_ring": collective.AllReduce,
		"chained_dissem": collective.AllReduce, "binarytreebcast": collective.Broadcast,
		"binomialtreebcast": collective.Broadcast, "pipelinedring": collective.Broadcast,
		"pipelinedringdep": collective.Broadcast, "bcast_binomialtree": collective.Broadcast,
		"bcast_linear": collective.Broadcast, "binomialtreereduce": collective.Reduce,
		"reduce_binomialtree": collective.Reduce, "reduce_linear": collective.Reduce,
		"gather": collective.Gather, "scatter": collective.Scatter, "outcast": collective.Scatter,
		"scatter_linear": collective.Scatter, "scatter_binomialtree": collective.Scatter,
		"dissemination": collective.Barrier, "nwaydissemination": collective.Barrier,
		"linbarrier": collective.Barrier, "doublering": collective.AllGather,
		"linear_alltoall": collective.AllToAll, "alltoall_linear": collective.AllToAll,
		"linear_alltoallv": collective.AllToAllV, "alltoallv_linear": collective.AllToAllV,
		"random_bisect": 0, "random_bisect_fd_sym": 0,
	}
}

// TestSamplesWithVerdict: all files whose verdict is known get it, and those that are wrong for the
// reason that is known.
func TestSamplesWithVerdict(t *testing.T) {
	for _, name := range []string{"msccl_xml", "mscclpp_json", "goal"} {
		samples.Each(t, name, func(t *testing.T, set samples.Set) {
			wrong := 0
			for _, c := range set.Cases {
				var o formats.Options
				if name == "goal" {
					kind, known := patternKinds()[c["pattern"]]
					require.True(t, known, c["pattern"])
					o.As = kind
				}
				require.Contains(t, []string{"OK", "FAIL"}, c["verdict"])
				v, err := verdictOf(t, set, c["file"], o)
				require.NoError(t, err, c["file"])
				checkVerdict(t, v, c)
				if c["verdict"] == "FAIL" {
					wrong++
				}
			}
			// All reasons together are there: whyWrong names no file that is not.
			require.Equal(t, map[string][]int{
				"msccl_xml":    samples.Of(set, []int{33, 6}, []int{120, 8}),
				"mscclpp_json": samples.Of(set, []int{28, 6}, []int{62, 6}),
				"goal":         samples.Of(set, []int{30, 4}, []int{54, 7}),
			}[name], []int{len(set.Cases), wrong})
		})
	}
	require.Len(t, whyWrong(), 8+6+7)
}

// checkVerdict holds a verdict to the index, and to the reason for which a file is wrong.
func checkVerdict(t *testing.T, v *run.Verification, c map[string]string) {
	reason, known := whyWrong()[c["file"]]
	text := report.VerificationText(v)
	switch {
	case c["verdict"] == "OK" && storesUntold()[c["file"]] != "":
		require.False(t, v.Good(), c["file"])
	case c["verdict"] == "OK":
		require.True(t, v.Good(), text)
		require.Contains(t, text, c["file"]+": OK (")
		require.False(t, known, c["file"])
	default:
		require.False(t, v.Good(), c["file"])
		require.True(t, known, c["file"])
		require.Contains(t, text, reason)
	}
}

// TestSamplesImported: what import prints of right files is read back as the same schedule.
func TestSamplesImported(t *testing.T) {
	for _, name := range []string{"msccl_xml", "mscclpp_json", "goal", "sccl_json", "forestcoll"} {
		samples.Each(t, name, func(t *testing.T, set samples.Set) {
			for _, c := range set.Cases {
				if c["verdict"] == "FAIL" || storesUntold()[c["file"]] != "" || len(c["steps"]) > 3 {
					continue
				}
				v, err := verdictOf(t, set, c["file"], formats.Options{})
				require.NoError(t, err)
				text, err := report.ImportText(v)
				require.NoError(t, err)
				again, err := schedule.Parse(text)
				require.NoError(t, err, c["file"])
				require.True(t, schedule.Equal(v.Schedule, again), c["file"])
				proven, wrong := proof.Verify(again, proof.Options{Iterations: 1, Slots: v.Slots,
					Traffic: true})
				require.Empty(t, wrong, c["file"])
				require.Equal(t, v.Proof, proven, c["file"])
			}
		})
	}
}

// TestSampleInLittleMemory: a file that can do few sizes is checked at its own, bit by bit, where
// the memory does not hold it.
func TestSampleInLittleMemory(t *testing.T) {
	samples.Each(t, "mscclpp_json", func(t *testing.T, set samples.Set) {
		ranks := samples.Of(set, "2", "4")
		s, err := run.Load("x.toml", []byte(`
[topology]
preset = "switch"
ranks = `+ranks+`
bandwidth = "100 Gbit/s"
latency = "500 ns"
[check]
memory = "16 MiB"
[[collective]]
kind = "all_to_all"
algorithm = "file:`+set.Path("generated/a2a_alltoall_pipeline_n"+ranks+".json")+`"
count = 2097216
in_place = true
`), run.LoadOptions{})
		require.NoError(t, err)
		r, err := s.RunPoint(s.Points[0], run.RunOptions{})
		require.NoError(t, err)
		require.Equal(t, "exact", r.Numbers)
		require.Equal(t, int64(2097216), r.Checked)
	})
}

// TestSamplesByLabel: three files are wrong by their label alone.
func TestSamplesByLabel(t *testing.T) {
	samples.Each(t, "msccl_xml", func(t *testing.T, set samples.Set) {
		right := 0
		for file, kind := range map[string]collective.Kind{
			"xml-builder/two_step_alltoall_dep_node_nums2_gpus_pernode2.xml": collective.AllToAll,
			"xml-builder/two_step_alltoall_node_nums2_gpus_pernode4.xml":     collective.AllToAll,
			"generated/pipe_ring_n8_c1.xml":                                  collective.Custom,
		} {
			if !set.Has(file) {
				continue
			}
			v, err := verdictOf(t, set, file, formats.Options{As: kind})
			require.NoError(t, err)
			require.True(t, v.Good(), report.VerificationText(v))
			require.Contains(t, report.VerificationText(v), "problem  "+kind.String())
			right++
		}
		require.Equal(t, samples.Of(set, 2, 3), right)
	})
}

// record is a verdict that nobody had given before, and why it is that.
type record struct {
	as      collective.Kind // that the file is held to; 0 leaves it to the file
	verdict string          // a part of what verify says
	why     string
}

// recorded are the verdicts of the files whose index has none, by directory; "" stands for all of a
// directory that have none of their own.
func recorded() map[string]map[string]record {
	requests := record{verdict: "how it is done is not in the file",
		why: "a trace that asks for a collective: all ranks ask alike, which is all there is to prove"}
	return map[string]map[string]record{
		"forestcoll": {"": {verdict: "OK (forestcoll)\n  problem  all_gather on ",
			why: "the trees of every root span all ranks, and no rank gets a chunk twice"}},
		"sccl_json": {
			"": {verdict: "OK (sccl)",
				why: "sends of a step read what was there before it, and the synthesiser solved that"},
			"a2a_line3_s2m1.msccl.json": {verdict: "OK (sccl)\n  problem  all_to_all on 3 ranks",
				why: "the algorithm is right; it is the XML that ncclize makes of it which is wrong"},
		},
		"teccl_json": {
			"input_mesh.json": {verdict: "a solver input, not a schedule", why: "no flows in it"},
			"input_ndv2.json": {verdict: "a solver input, not a schedule", why: "no flows in it"},
			"mesh_4.json": {verdict: "OK (teccl)\n  problem  all_gather on 16 ranks",
				why: "every chunk travels along edges to all GPUs, none before it has come"},
		},
		"chakra_et": {"": requests,
			"astra-sim_custom_collectives/custom_ring_allreduce_8npus_1MB": {collective.AllReduce,
				"OK (chakra)\n  problem  all_reduce on 8 ranks, messages without data",
				"twice around the ring: every rank hears from all others before its end"},
			"mlcommons_tests": {verdict: "OK (chakra)\n  problem  messages without data on 1 rank",
				why: "one rank's workload: its dependencies are known and have no cycle"},
		},
	}
}

// TestSamplesRecorded: all other files are read and get the verdict that is recorded here.
func TestSamplesRecorded(t *testing.T) {
	for name, records := range recorded() {
		samples.Each(t, name, func(t *testing.T, set samples.Set) {
			require.Len(t, set.Cases, map[string]int{"forestcoll": samples.Of(set, 6, 21), "sccl_json": 7,
				"teccl_json": 3, "chakra_et": 12}[name])
			for _, c := range set.Cases {
				file := c["file"] + c["dir"]
				want, own := records[file]
				if !own {
					want = records[""]
				}
				require.NotEmpty(t, want.why, file)
				v, err := verdictOf(t, set, file, formats.Options{As: want.as})
				if err != nil {
					require.ErrorContains(t, err, want.verdict, file)
					continue
				}
				require.True(t, v.Good(), report.VerificationText(v))
				require.Contains(t, report.VerificationText(v), want.verdict)
			}
		})
	}
}
