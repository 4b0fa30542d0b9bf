package mscclpp_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/formats/internal/foreign"
	"collsim/formats/mscclpp"
	"collsim/internal/samples"
	"collsim/proof"
	"collsim/schedule"
)

// sample is a case of the samples' index.
type sample struct {
	File, Path, Collective, Verdict, Error string
	Ranks                                  int
}

// each runs a test on every case of the samples' index.
func each(t *testing.T, test func(t *testing.T, c sample)) {
	samples.Each(t, "mscclpp_json", func(t *testing.T, set samples.Set) {
		require.Len(t, set.Cases, samples.Of(set, 28, 62))
		for _, c := range set.Cases {
			ranks, err := strconv.Atoi(c["ranks"])
			require.NoError(t, err)
			require.Contains(t, []string{"OK", "FAIL"}, c["verdict"])
			if untold(c["file"]) {
				c["verdict"] = "RACE"
			}
			one := sample{c["file"], set.Path(c["file"]), c["collective"], c["verdict"], c["error"], ranks}
			t.Run(c["file"], func(t *testing.T) { test(t, one) })
		}
	})
}

// untold reports whether nobody tells a rank of a plan's last stores: the signals at its end are
// relaxed, or there is none. Its index calls it right; its caller may read before they have come.
func untold(file string) bool {
	return strings.HasPrefix(file, "generated/ag_nvls_zc_n") ||
		strings.HasPrefix(file, "generated/ar_nvls_zc_n") ||
		file == "repo/reduce_nvls_pipeline.json" || file == "unit/tbg_reduce_send_test.json"
}

// read reads a sample.
func read(t *testing.T, c sample, o foreign.Options) *foreign.File {
	f, err := os.Open(c.Path)
	require.NoError(t, err)
	defer f.Close()
	o.File = c.File
	file, err := mscclpp.Read(f, o)
	require.NoError(t, err)
	return file
}

// kindOf is what a sample must be proven to be, given its label.
func kindOf(c sample) collective.Kind {
	return map[string]collective.Kind{"allreduce": collective.AllReduce,
		"allgather": collective.AllGather, "reducescatter": collective.ReduceScatter,
		"alltoall": collective.AllToAll, "test": collective.Custom,
		"sendrecv": collective.AllToAllV, // to the same GPU of the next node: two ranks further on
	}[c.Collective]
}

// reason is what the index says of a wrong sample, as a kind of violation; and on which GPU and
// thread block it shows first, −1 for any.
func reason(t *testing.T, c sample) (kind schedule.ViolationKind, block int) {
	var gpu int
	if _, err := fmt.Sscanf(strings.TrimLeft(c.Error[strings.Index(c.Error, "first")+1:], "irst "),
		"g%dtb%d", &gpu, &block); err == nil && strings.HasPrefix(c.Error, "DEADLOCK") {
		return schedule.Deadlock, block
	}
	require.Equal(t, "ValueError('op glre')", c.Error)
	return schedule.Limit, 0
}

func TestSamples(t *testing.T) {
	each(t, func(t *testing.T, c sample) {
		testSample(t, c, foreign.Options{})
		testSample(t, c, foreign.Options{StrictNop: true})
	})
}

// testSample holds a sample to its verdict. No sample that is right in order races by nop alone.
func testSample(t *testing.T, c sample, o foreign.Options) {
	f := read(t, c, o)
	require.Equal(t, kindOf(c), f.Schedule.Spec.Kind)
	require.Equal(t, c.Ranks, f.Schedule.Spec.Ranks)
	_, found := proof.Verify(f.Schedule, proof.Options{Iterations: 1})
	switch c.Verdict {
	case "OK":
		require.Empty(t, f.Found)
		require.Empty(t, found)
	case "RACE":
		require.Empty(t, f.Found)
		require.NotEmpty(t, found)
		for _, v := range found {
			require.Equal(t, schedule.Race, v.Kind)
			require.Contains(t, v.Text, "writes and the caller of rank")
		}
	default:
		kind, block := reason(t, c)
		require.NotEmpty(t, f.Found)
		at := slices.IndexFunc(f.Found, func(v *schedule.Violation) bool { return v.Kind == kind })
		require.GreaterOrEqual(t, at, 0)
		place := f.Where(f.Found[at].Rank, f.Found[at].Lane, f.Found[at].Step)
		require.Equal(t, block, place.Block)
		require.Positive(t, place.Line)
		if kind == schedule.Deadlock { // the proof finds it too
			require.Equal(t, schedule.Deadlock, found[0].Kind)
		}
	}
	// The text form reads neither operators of custom nor packets through a switch.
	text := f.Schedule.String()
	switched := strings.Contains(text, "multimem") && strings.Contains(text, "packet")
	if c.Collective != "test" && !switched {
		again, err := schedule.Parse(text)
		require.NoError(t, err)
		require.True(t, schedule.Equal(f.Schedule, again))
	}
}

// TestSampleSizes verifies right samples at larger sizes and in other types.
func TestSampleSizes(t *testing.T) {
	each(t, func(t *testing.T, c sample) {
		if c.Verdict != "OK" || c.Collective == "test" || c.Ranks > 4 {
			return
		}
		for _, o := range []foreign.Options{{Bytes: 1 << 19}, {Bytes: 1 << 20, Type: dtype.Float16}} {
			f := read(t, c, o)
			_, found := proof.Verify(f.Schedule, proof.Options{Iterations: 1})
			require.Empty(t, found)
			require.Empty(t, f.Found)
		}
	})
}
