package cuda

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/internal/tier"
	"collsim/proof"
	"collsim/schedule"
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
	reduced, played := map[met]bool{}, map[string]bool{}
	turn, algorithms := 0, 0
	for _, a := range algos.Table() {
		for _, kind := range a.Kinds {
			algorithms++
			for _, op := range operators(kind) {
				for _, dt := range dtype.All() {
					turn++
					ranks := []int{4, 3, 8, 2, 6, 1, 5}[turn/3%7]
					if turn%tier.Of(9, 3) != 0 {
						continue
					}
					spec := anySpec(kind, ranks, rand.New(rand.NewPCG(uint64(turn), 7)))
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
					played[a.Name+" "+kind.String()] = true
					reduced[met{op.Op, dt, env.Float32 && widens(dt)}] = true
				}
			}
		}
	}
	t.Logf("%d of %d algorithms and kinds, %d operators in types", len(played), algorithms,
		len(reduced))
	require.Equal(t, algorithms, len(played))
	for _, op := range collective.Ops() {
		for _, dt := range dtype.All() {
			require.True(t, reduced[met{op, dt, false}] || reduced[met{op, dt, true}], "%v %v", op, dt)
		}
	}
}

// operators are those of a kind with their factor and mode; a kind that does not reduce has none.
func operators(kind collective.Kind) []collective.Spec {
	if !kind.Reduces() {
		return []collective.Spec{{}}
	}
	list := []collective.Spec{{Op: collective.Avg, Avg: collective.AvgPost}}
	for _, op := range collective.Ops() {
		list = append(list, collective.Spec{Op: op})
	}
	list[len(list)-1].Factor = 3
	return list
}

// anySpec is a collective of any size and root.
func anySpec(kind collective.Kind, ranks int, r *rand.Rand) collective.Spec {
	s := collective.Spec{Kind: kind, Ranks: ranks}
	rows := 0
	switch {
	case kind == collective.Barrier:
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
	for range rows {
		row := make([]int64, ranks)
		for i := range row {
			row[i] = r.Int64N(5)
		}
		s.Splits = append(s.Splits, row)
	}
	return s
}

// TestScripts: gets, puts, silent ones, packets, multimem, events, slices and lanes give the bits
// that they must, with as few slots as will do, and once more without a pause.
func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("../../schedule/testdata/*.txt")
	require.NoError(t, err)
	standin(t, "seed=2 delay=30")
	e, played := executor(t), 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, part := range strings.Split("\n"+string(text), "\nschedule\n")[1:] {
			body, _, _ := strings.Cut(part, "\n----")
			s, err := schedule.Parse(body + "\n")
			require.NoError(t, err, path)
			p, found := proof.Verify(s, proof.Options{})
			if len(found) > 0 || refusal(s, 1) != nil || s.Spec.Kind == collective.Custom {
				continue
			}
			r := rand.New(rand.NewPCG(uint64(played), 9))
			agrees(t, e, s, hw.Env{Slots: p.MinSlots, Repetitions: 3, Trace: true}, r)
			agrees(t, e, s, hw.Env{Slots: p.MinSlots, Iterations: p.Iterations}, r)
			played++
		}
	}
	require.Greater(t, played, 12)
}
