package callbacks

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/hwtest"
	"collsim/internal/tier"
	"collsim/reference"
	"collsim/schedule"
)

// TestEverything: every algorithm, carried out by callbacks with messages that arrive in any order,
// gives the bits that the interpreter gives, in every type and with every operator, also of NaN,
// infinities and numbers that overflow. Numbers of ranks take turns.
func TestEverything(t *testing.T) {
	runs, turn := 0, 0
	for _, a := range algos.Table() {
		for _, kind := range a.Kinds {
			for _, ranks := range []int{1, 2, 3, 4, 6, 8} {
				spec := hwtest.AnySpec(kind, ranks, rand.New(rand.NewPCG(uint64(ranks), 7)))
				for _, op := range hwtest.Operators(kind) {
					for _, dt := range dtype.All() {
						if collective.CheckOp(op.Op, dt) != nil {
							continue
						}
						// Each operator in each type on one or two of the six numbers of ranks;
						// each type of a kind without operators on three in the short tier.
						every := tier.Of(2, 1)
						if kind.Reduces() {
							every = tier.Of(5, 3)
						}
						if turn++; turn%every != 0 {
							continue
						}
						spec.Op, spec.Avg, spec.Factor, spec.Type = op.Op, op.Avg, op.Factor, dt
						if kind == collective.Barrier {
							spec.Type = 0
						}
						s, err := a.Build(spec, algos.Options{})
						if err != nil {
							continue // not for so many ranks
						}
						agrees(t, s, hw.Env{Slots: 2 * ranks}, rand.New(rand.NewPCG(uint64(turn), 7)))
						runs++
					}
				}
			}
		}
	}
	require.Greater(t, runs, tier.Of(3000, 5000))
}

// agrees compares the two executors, on bits that may be any.
func agrees(t *testing.T, s *schedule.Schedule, env hw.Env, r *rand.Rand) *hw.Result {
	t.Helper()
	in := hwtest.AnyInputs(s, r)
	want, err := reference.RunBytes(s, in, reference.RunOptions{})
	require.NoError(t, err)
	env.Trace = true
	result, err := New(Config{Next: r.IntN}).Run(context.Background(),
		&hw.Job{Schedule: s, Inputs: in, Env: env})
	require.NoError(t, err)
	require.NoError(t, result.Trace.Validate())
	hwtest.SameOutputs(t, s, want, result.Outputs)
	return result
}

// TestScripts: gets, puts, silent ones, packets, multimem, events, slices and lanes give the bits
// that they must, with as few slots as will do, and once more without a pause.
func TestScripts(t *testing.T) {
	for i, s := range hwtest.Scripts(t) {
		r := rand.New(rand.NewPCG(uint64(i), 9))
		agrees(t, s.Schedule, hw.Env{Slots: s.Proof.MinSlots, Repetitions: 3}, r)
		agrees(t, s.Schedule, hw.Env{Slots: s.Proof.MinSlots, Iterations: s.Proof.Iterations}, r)
	}
}
