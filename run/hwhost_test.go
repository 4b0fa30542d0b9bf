package run_test

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/formats"
	"collsim/hw"
	"collsim/hw/host"
	"collsim/internal/samples"
	"collsim/internal/tier"
	"collsim/proof"
	"collsim/reference"
	"collsim/schedule"
)

// TestMain lets this test's program be a rank of package host's.
func TestMain(m *testing.M) {
	if code, child := host.Child(); child {
		os.Exit(code)
	}
	os.Exit(tier.Main(m))
}

// agrees has a host execute a schedule on numbers, and compares what comes out with the
// interpreter's.
func agrees(t *testing.T, h hw.Executor, s *schedule.Schedule, numbers [][]float32) {
	t.Helper()
	job := hw.Job{Schedule: s, Env: hw.Env{Slots: 8}}
	for rank := range numbers {
		bytes := make([]byte, 4*len(numbers[rank]))
		dtype.Put(bytes, numbers[rank])
		job.Inputs = append(job.Inputs, bytes)
	}
	want, err := reference.RunBytes(s, job.Inputs, reference.RunOptions{})
	require.NoError(t, err)
	result, err := h.Run(context.Background(), &job)
	require.NoError(t, err, "%s %v of %d", s.Name, s.Spec.Kind, s.Spec.Ranks)
	for rank := range want {
		require.True(t, slices.Equal(want[rank], result.Outputs[rank]), "%s %v, rank %d of %d", s.Name,
			s.Spec.Kind, rank, len(want))
	}
}

// float32Spec is a collective of float32, a sum or a mean, of any size and root.
func float32Spec(kind collective.Kind, ranks int, r *rand.Rand) collective.Spec {
	s := collective.Spec{Kind: kind, Type: dtype.Float32, Ranks: ranks}
	rows := 0
	switch {
	case kind == collective.Barrier:
		s.Type = 0
	case kind == collective.AllToAllV:
		rows = ranks
	case kind.Splits():
		rows = 1
	default:
		s.Count = int64(ranks) + r.Int64N(9)
	}
	if kind.Rooted() {
		s.Root = r.IntN(ranks)
	}
	if kind.Reduces() {
		s.Op = []collective.Op{collective.Sum, collective.Avg}[r.IntN(2)]
	}
	for range rows {
		row := make([]int64, ranks)
		for i := range row {
			row[i] = r.Int64N(5)
		}
		s.Splits = append(s.Splits, row)
	}
	return s
}

// allSchedules calls f with every algorithm × kind at these numbers of ranks.
func allSchedules(ranks []int, f func(s *schedule.Schedule, r *rand.Rand)) {
	for _, a := range algos.Table() {
		for _, kind := range a.Kinds {
			for _, n := range ranks {
				r := rand.New(rand.NewPCG(uint64(n), 8))
				s, err := a.Build(float32Spec(kind, n, r), algos.Options{})
				if err == nil { // not for so many ranks
					f(s, r)
				}
			}
		}
	}
}

// TestHost: every algorithm, executed for real, gives the bits that the interpreter gives: on
// goroutines, and on a process for every rank.
func TestHost(t *testing.T) {
	for _, c := range []struct {
		transport host.Transport
		ranks     []int
		least     int
	}{{host.Goroutines, tier.Of([]int{1, 3, 8}, []int{1, 2, 3, 4, 5, 8}), tier.Of(80, 150)},
		{host.Unix, tier.Of([]int{2, 5}, []int{1, 2, 3, 5, 8}), tier.Of(40, 120)},
		{host.TCP, tier.Of([]int{4}, []int{4, 16}), tier.Of(20, 40)}} {
		t.Run(c.transport.String(), func(t *testing.T) {
			h, err := host.New(host.Config{Transport: c.transport})
			require.NoError(t, err)
			defer h.Close()
			runs := 0
			allSchedules(c.ranks, func(s *schedule.Schedule, r *rand.Rand) {
				in := make([][]float32, s.Spec.Ranks)
				for rank := range in {
					for range s.Spec.In(rank) {
						in[rank] = append(in[rank], float32(r.NormFloat64()))
					}
				}
				agrees(t, h, s, in)
				runs++
			})
			require.Greater(t, runs, c.least)
		})
	}
}

// TestHostPlaysOthers: every schedule of others that proves right runs as well, and gives the
// interpreter's bits.
func TestHostPlaysOthers(t *testing.T) {
	h, err := host.New(host.Config{})
	require.NoError(t, err)
	defer h.Close()
	samples.Each(t, "msccl_xml", func(t *testing.T, set samples.Set) {
		executed := 0
		for _, c := range set.Cases {
			in, err := os.Open(set.Path(c["file"]))
			require.NoError(t, err)
			f, err := formats.Read(c["file"], in, formats.Options{})
			in.Close()
			if err != nil || len(f.Found) > 0 || f.Schedule == nil || f.Schedule.Spec.Ranks > 16 {
				continue
			}
			s := f.Schedule
			if _, found := proof.Verify(s, proof.Options{Slots: 8}); len(found) > 0 {
				continue
			}
			numbers, err := reference.Inputs[float32](s.Spec, reference.Normal, 7)
			require.NoError(t, err)
			agrees(t, h, s, numbers)
			executed++
		}
		require.Equal(t, samples.Of(set, 27, 112), executed)
	})
}
