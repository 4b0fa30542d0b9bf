package cuda

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/hwtest"
	"collsim/internal/tier"
)

// TestEverything: every algorithm, on virtual ranks of the stand-in, gives the bits that the
// interpreter gives, of any inputs. Types, operators and numbers of ranks take turns; each operator
// is met in every type, and where that differs, in float32, too.
func TestEverything(t *testing.T) {
	standin(t, "seed=1 delay=20")
	e := executor(t)
	type met struct {
		op   collective.Op
		dt   dtype.Type
		wide bool
	}
	reduced, measured := map[met]bool{}, map[string]bool{}
	turn, algorithms := 0, 0
	for _, a := range algos.Table() {
		for _, kind := range a.Kinds {
			algorithms++
			for _, op := range hwtest.Operators(kind) {
				for _, dt := range dtype.All() {
					if collective.CheckOp(op.Op, dt) != nil || op.Op >= collective.And {
						continue // the last without a kernel for GPUs
					}
					turn++
					ranks := []int{4, 3, 8, 2, 6, 1, 5}[turn/3%7]
					if turn%tier.Of(9, 3) != 0 {
						continue
					}
					spec := hwtest.AnySpec(kind, ranks, rand.New(rand.NewPCG(uint64(turn), 7)))
					spec.Op, spec.Avg, spec.Factor, spec.Type = op.Op, op.Avg, op.Factor, dt
					if kind == collective.Barrier {
						spec.Type = 0
					}
					s, err := a.Build(spec, algos.Options{})
					if err != nil {
						continue // not for so many ranks
					}
					env := hw.Env{Slots: 2 * ranks, Trace: turn%4 == 0, Float32: turn%2 == 1}
					agrees(t, e, s, env, rand.New(rand.NewPCG(uint64(turn), 7)))
					measured[a.Name+" "+kind.String()] = true
					reduced[met{op.Op, dt, env.Float32 && widens(dt)}] = true
				}
			}
		}
	}
	t.Logf("%d of %d algorithms and kinds, %d operators in types", len(measured), algorithms,
		len(reduced))
	require.Equal(t, algorithms, len(measured))
	for _, op := range collective.Ops() {
		for _, dt := range dtype.All() {
			if collective.CheckOp(op, dt) != nil || op >= collective.And {
				continue
			}
			require.True(t, reduced[met{op, dt, false}] || reduced[met{op, dt, true}], "%v %v", op, dt)
		}
	}
}

// TestScripts: gets, puts, silent ones, packets, multimem, events, slices and lanes give the bits
// that they must, with as few slots as will do, and once more without a pause.
func TestScripts(t *testing.T) {
	standin(t, "seed=2 delay=30")
	e, measured := executor(t), 0
	for _, s := range hwtest.Scripts(t) {
		if refusal(s.Schedule, 1) != nil || s.Spec.Kind == collective.Custom {
			continue
		}
		env := hw.Env{Slots: s.Proof.MinSlots, Repetitions: 3, Trace: true}
		r := rand.New(rand.NewPCG(uint64(measured), 9))
		agrees(t, e, s.Schedule, env, r)
		env = hw.Env{Slots: s.Proof.MinSlots, Iterations: s.Proof.Iterations}
		agrees(t, e, s.Schedule, env, r)
		measured++
	}
	require.Greater(t, measured, 12)
}
