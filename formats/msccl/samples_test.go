package msccl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/formats/internal/foreign"
	"collsim/formats/msccl"
	"collsim/internal/samples"
	"collsim/proof"
)

func readFile(t testing.TB, path string, o foreign.Options) *foreign.File {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	o.File = filepath.Base(path)
	file, err := msccl.Read(f, o)
	require.NoError(t, err)
	return file
}

// judge is the proof, and what is wrong with the place in the file of each.
func judge(f *foreign.File) (*proof.Proof, []string) {
	proven, found := proof.Verify(f.Schedule, proof.Options{Iterations: 1,
		Causal: f.Causal})
	var lines []string
	for _, v := range append(f.Found, found...) {
		lines = append(lines, f.Where(v.Rank, v.Lane, v.Step).String()+": "+v.Error())
	}
	return proven, lines
}

// reasons are parts of what must be found in the files that are wrong, each of them there.
func reasons() map[string][]string {
	never := "in a circle\n" +
		"  rank 0 lane 0 step 0  recv chunk 1  waits for a message from rank 1 lane 0"
	return map[string][]string{
		// s[0] of node 1's gpus, which two tbs write
		"generated/alltonext_forward_3n.xml": {
			"race: rank 9 lane 0 step 0 chunk 0: rank 9 lane 4 step 0 writes and rank 9 lane 0 step 0 " +
				"writes scratch element 0 of rank 9"},
		"generated/ar_allpairs_v2_n3.xml": {
			"gpu 0: missing: rank 0 chunk 0: output element 0 lacks the input of rank 2"},
		"generated/pipe_ring_n8_c1.xml": {
			"gpu 1: missing: rank 1 chunk 0: output element 0 lacks the input of ranks 2 to 15"},
		"sccl/a2a_line3_s2m1.xml": {"malformed: rank 1 lane 0 step 0: recvReduceCopy combines, but " +
			"all_to_all has no operator"},
		"teccl-msccl/64MB_msccl_annotated.xml": {"line 5: gpu 0 tb 0 step 0: r: deadlock", never},
		"teccl-msccl/64MB_msccl_strict.xml":    {"line 5: gpu 0 tb 0 step 0: r: deadlock", never},
		"xml-builder/two_step_alltoall_dep_node_nums2_gpus_pernode2.xml": {
			"gpu 0: missing: rank 0 chunk 0: output element 0 lacks the input of ranks 1 to 3"},
		"xml-builder/two_step_alltoall_node_nums2_gpus_pernode4.xml": {
			"gpu 1: missing: rank 1 chunk 1: output element 4 lacks the input of rank 0"},
	}
}

// Every file gets the verdict of the index, those that are wrong for its reason, and needs as many
// slots as it says.
func TestCollectedFilesGetTheirVerdicts(t *testing.T) {
	samples.Each(t, "msccl_xml", func(t *testing.T, set samples.Set) {
		require.Len(t, set.Cases, samples.Of(set, 33, 120))
		wrong := 0
		for _, c := range set.Cases {
			t.Run(c["file"], func(t *testing.T) {
				f := readFile(t, set.Path(c["file"]), foreign.Options{})
				proven, lines := judge(f)
				if c["verdict"] == "OK" {
					require.Empty(t, lines)
					if c["min_fifo"] != "?" {
						require.Equal(t, c["min_fifo"], string(rune('0'+proven.MinSlots)))
					}
					return
				}
				wrong++
				require.NotEmpty(t, reasons()[c["file"]])
				for _, reason := range reasons()[c["file"]] {
					require.Contains(t, strings.Join(lines, "\n"), reason, c["error"])
				}
			})
		}
		require.Equal(t, samples.Of(set, 6, len(reasons())), wrong)
	})
}

// Three files are wrong by their label only: two are an all-to-all, one is two rings of eight gpus,
// the second after the first, which has no name.
func TestFilesThatAreRightUnderAnotherLabel(t *testing.T) {
	samples.Each(t, "msccl_xml", func(t *testing.T, set samples.Set) {
		right := 0
		for file, kind := range map[string]collective.Kind{
			"xml-builder/two_step_alltoall_dep_node_nums2_gpus_pernode2.xml": collective.AllToAll,
			"xml-builder/two_step_alltoall_node_nums2_gpus_pernode4.xml":     collective.AllToAll,
			"generated/pipe_ring_n8_c1.xml":                                  collective.Custom,
			"sccl/bcast_fc4_s1.xml":                                          collective.Broadcast,
			"sccl/gather_line4.xml":                                          collective.Gather,
			"sccl/scatter_line4.xml":                                         collective.Scatter,
		} {
			if !set.Has(file) {
				continue
			}
			f := readFile(t, set.Path(file), foreign.Options{As: kind})
			require.Equal(t, kind, f.Schedule.Spec.Kind)
			_, lines := judge(f)
			require.Empty(t, lines, file)
			right++
		}
		require.Equal(t, samples.Of(set, 5, 6), right)
	})
}

// Every correct file stays so at sizes of several tiles, under either protocol's slots.
func TestCollectedFilesAtSeveralTiles(t *testing.T) {
	samples.Each(t, "msccl_xml", func(t *testing.T, set samples.Set) {
		for _, c := range set.Cases {
			if c["verdict"] != "OK" || len(c["steps"]) > 3 {
				continue
			}
			small := readFile(t, set.Path(c["file"]), foreign.Options{Protocol: "LL"})
			count := small.Schedule.Spec.Count
			for r := 0; r < small.Schedule.Spec.Ranks && small.Schedule.Spec.Count == 0; r++ { // custom
				count = max(count, small.Schedule.Spec.In(r), small.Schedule.Spec.Out(r))
			}
			grown := readFile(t, set.Path(c["file"]), foreign.Options{Protocol: "LL",
				Count: count * 5000}) // chunks of 20,000 floats: 3 tiles
			proven, lines := judge(grown)
			require.Empty(t, lines, c["file"])
			once, _ := judge(small)
			require.Greater(t, proven.Messages, 2*once.Messages, c["file"])
		}
	})
}
