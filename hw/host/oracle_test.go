package host

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/hwtest"
	"collsim/reference"
	"collsim/schedule"
)

// randomInputs are random numbers, normally distributed, or any integers.
func randomInputs(s *schedule.Schedule, seed uint64) [][]byte {
	r := rand.New(rand.NewPCG(seed, 3))
	in := make([][]byte, s.Spec.Ranks)
	for rank := range in {
		in[rank] = make([]byte, s.Len(schedule.Input, rank)*int64(s.Spec.Type.Width()))
		fill(s.Spec.Type, in[rank], r)
	}
	return in
}

func fill(t dtype.Type, b []byte, r *rand.Rand) {
	switch t {
	case dtype.Float64:
		random[float64](b, r)
	case dtype.Float32:
		random[float32](b, r)
	case dtype.Float16:
		random[dtype.F16](b, r)
	case dtype.BFloat16:
		random[dtype.BF16](b, r)
	case dtype.Float8E4M3:
		random[dtype.E4M3](b, r)
	case dtype.Float8E5M2:
		random[dtype.E5M2](b, r)
	default:
		for i := range b {
			b[i] = byte(r.Uint32())
		}
	}
}

func random[T dtype.Number](b []byte, r *rand.Rand) {
	x := make([]T, len(b)/dtype.Of[T]().Width())
	for i := range x {
		x[i] = dtype.From[T](r.NormFloat64())
	}
	dtype.Put(b, x)
}

// oracle is what the interpreter makes of the same inputs.
func oracle(t *testing.T, s *schedule.Schedule, in [][]byte) [][]byte {
	t.Helper()
	out, err := reference.RunBytes(s, in, reference.RunOptions{})
	require.NoError(t, err)
	return out
}

// open is a host that the test closes.
func open(t *testing.T, c Config) *Host {
	t.Helper()
	h, err := New(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	return h
}

// agree executes a schedule and compares every bit with the oracle's.
func agree(t *testing.T, h *Host, s *schedule.Schedule, env hw.Env) *hw.Result {
	t.Helper()
	in := randomInputs(s, uint64(s.Spec.Ranks))
	result, err := h.Run(context.Background(), &hw.Job{Schedule: s, Inputs: in, Env: env})
	require.NoError(t, err, "%s %v of %d", s.Name, s.Spec.Kind, s.Spec.Ranks)
	want := oracle(t, s, in)
	hwtest.SameOutputs(t, s, want, result.Outputs)
	return result
}

// agreeOnScripts executes all that the vocabulary has, with as few slots as will do, and once more
// without a pause.
func agreeOnScripts(t *testing.T, h *Host) {
	t.Helper()
	for _, s := range hwtest.Scripts(t) {
		slots := s.Proof.MinSlots
		agree(t, h, s.Schedule, hw.Env{Slots: slots, Repetitions: 3})
		agree(t, h, s.Schedule, hw.Env{Slots: slots, Iterations: s.Proof.Iterations, Trace: true})
	}
}

// ringOf is the ring all-reduce of a type's first operator, mostly the sum: reduce-scatter, then
// all-gather.
func ringOf(t testing.TB, ranks int, count int64, typ dtype.Type) *schedule.Schedule {
	t.Helper()
	return ringWith(t, collective.Spec{Kind: collective.AllReduce, Op: collective.OpsOf(typ)[0],
		Type: typ, Ranks: ranks, Count: count})
}

func ringWith(t testing.TB, spec collective.Spec) *schedule.Schedule {
	t.Helper()
	s, err := schedule.Build(schedule.Plan{
		Name:   "ring",
		Spec:   spec,
		Group:  schedule.Group{int32(spec.Ranks)},
		Chunks: spec.Ranks,
		Lane: func(l *schedule.Lane) {
			n, next, prev := l.Ranks, l.Rank+1, l.Rank-1
			l.Send(next, l.Chunk(l.Rank))
			for i := 1; i < n-1; i++ {
				l.ReduceSend(prev, next, l.Chunk(l.Rank-i))
			}
			l.Completes()
			l.ReduceCopySend(prev, next, l.Chunk(l.Rank-n+1))
			for i := n; i < 2*n-2; i++ {
				l.CopySend(prev, next, l.Chunk(l.Rank-i))
			}
			l.Recv(prev, l.Chunk(l.Rank-2*n+2))
		},
	})
	require.NoError(t, err)
	return s
}
