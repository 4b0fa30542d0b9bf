package mpi

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/openmpi"
	"collsim/algos/openmpi/openmpitest"
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/internal/tier"
)

// counts are of fewer elements than ranks, of few, of many that no number of ranks divides, and of
// so many that the library sends them in another way; in the short tier every other one of these.
func counts(choice, ranks int) (some []int64) {
	all := []int64{1, 5, 1009, 20011}
	if ranks != 6 {
		all = all[:3]
	}
	for i, n := range all {
		if tier.Long || (i+choice)%2 == 0 {
			some = append(some, n)
		}
	}
	return some
}

// testLikeBits: the library's bits are those of the schedules that are written down, whatever the
// ranks, the root and the count. In the short tier TestCensus has those of every choice, and every
// third one is called here, on one number of ranks.
func testLikeBits(t *testing.T, d *Executor) {
	for k, c := range openmpitest.Reducing() {
		for ranks := 2; ranks <= 6; ranks++ {
			if !tier.Long && (k%3 != 0 || (k+ranks)%5 != 0) {
				continue
			}
			for i, count := range counts(k, ranks) {
				spec := openmpitest.SpecOf(t, c, ranks, i, count)
				s, err := openmpi.Build(c, spec)
				require.NoError(t, err)
				in := sensitive(&spec, uint64(ranks))
				r, err := d.Perform(context.Background(), &Call{Spec: spec, Choice: c, Inputs: in})
				require.NoError(t, err)
				n := differing(t, oracle(t, s, in), r.Outputs)
				if n != 0 {
					t.Errorf("%v, %d ranks, %d elements: %d differ", c, ranks, count, n)
				}
			}
		}
	}
}

// start starts so many ranks, which all jobs of fewer then use.
func (d *Executor) start(t testing.TB, ranks int) {
	t.Helper()
	c := openmpi.Choice{Function: "barrier"}
	spec := openmpitest.SpecOf(t, c, ranks, 0, 0)
	r, err := d.Perform(context.Background(), &Call{Spec: spec, Choice: c,
		Inputs: make([][]byte, ranks), Env: hw.Env{}})
	require.NoError(t, err)
	require.Len(t, r.Outputs, ranks)
}

// meet is start for jobs that only execute schedules: nothing is asked of the library but messages.
func (d *Executor) meet(t testing.TB, ranks int) {
	t.Helper()
	s, err := algos.ForKind(collective.Barrier)[0].Build(specsOf(collective.Barrier, ranks),
		algos.Options{})
	require.NoError(t, err)
	_, err = d.Run(context.Background(), &hw.Job{Schedule: s, Inputs: make([][]byte, ranks)})
	require.NoError(t, err)
}

// testMoving: what only moves arrives where it must, by each of the library's algorithms, in both
// places and of a type that MPI doesn't have. In the short tier TestCensus has all of them, and
// every third one is called here, on one number of ranks.
func testMoving(t *testing.T, d *Executor) {
	for _, kind := range []collective.Kind{collective.Broadcast, collective.AllGather,
		collective.AllToAll, collective.Gather, collective.Scatter, collective.Barrier} {
		for i, c := range openmpitest.Choices(kind) {
			for ranks := 2; ranks <= 5; ranks++ {
				two := c.Algorithm == "two_proc"
				if two && ranks > 2 || !tier.Long && !two && (i%3 > 0 || (i+ranks)%4 != 0) {
					continue
				}
				spec := openmpitest.SpecOf(t, c, ranks, i, 37)
				spec.InPlace = kind != collective.Barrier && i%2 == 1
				s, err := algos.ForKind(kind)[0].Build(spec, algos.Options{})
				if kind == collective.AllToAll && spec.InPlace { // for which ours is not
					s, err = openmpi.Build(c, spec)
				}
				require.NoError(t, err)
				in := sensitive(&spec, uint64(ranks))
				r, err := d.Perform(context.Background(), &Call{Spec: spec, Choice: c, Inputs: in,
					Env: hw.Env{Warmup: 1, Repetitions: 2, Iterations: 2}})
				require.NoError(t, err)
				require.Zero(t, differing(t, oracle(t, s, in), r.Outputs), "%v, %d ranks", c, ranks)
				require.Len(t, r.Repetitions, 2)
			}
		}
	}
}

// TestTypes: operators and types besides, in place. Sums of 16 bits are those of Go's integers only
// without the library's vector instructions (its component op/avx), which saturate.
func TestTypes(t *testing.T) {
	d := device(t, Config{Arguments: []string{"--mca", "op", "^avx"}, Listen: "127.0.0.1:0"})
	d.start(t, 3)
	for _, c := range []openmpi.Choice{{Function: "allreduce", Algorithm: "ring"},
		{Function: "reduce", Algorithm: "binomial"}} {
		for _, typ := range []dtype.Type{dtype.Int8, dtype.Int16, dtype.Uint32, dtype.Int64, dtype.Bool,
			dtype.Complex64, dtype.Complex128} {
			for _, op := range collective.OpsOf(typ) {
				if op == collective.Avg || op == collective.PremulSum {
					continue // which MPI has not
				}
				spec := openmpitest.SpecOf(t, c, 3, 1, 20)
				spec.InPlace, spec.Op, spec.Type = true, op, typ
				in, math := make([][]byte, 3), hw.ArithmeticOf(&spec)
				for rank := range in {
					in[rank] = hw.Memory(20 * int64(typ.Width()))
					for i := range in[rank] {
						if in[rank][i] = byte(7*rank + 31*i + 1); typ == dtype.Bool {
							in[rank][i] = in[rank][i] >> 3 & 1
						}
					}
					switch typ { // of numbers that no order rounds
					case dtype.Complex64:
						dtype.Put(in[rank], slices.Repeat([]float32{0.5, -3, float32(rank), 7}, 10))
					case dtype.Complex128:
						dtype.Put(in[rank], slices.Repeat([]float64{0.5, -3, float64(rank), 7}, 10))
					}
				}
				want := append(hw.Memory(0), in[0]...)
				math.Combine(want, in[1])
				math.Combine(want, in[2])
				r, err := d.Perform(context.Background(), &Call{Spec: spec, Choice: c, Inputs: in})
				require.NoError(t, err)
				require.Equal(t, want, append([]byte{}, r.Outputs[spec.Root]...), "%v %v %v", c, op, typ)
			}
		}
	}
}
