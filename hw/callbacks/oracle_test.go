package callbacks

import (
	"context"
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
				spec := anySpec(kind, ranks, rand.New(rand.NewPCG(uint64(ranks), 7)))
				for _, op := range operators(kind) {
					for _, dt := range dtype.All() {
						// Each operator in each type on one or two of the six numbers of ranks; each
						// type of a kind without operators on three in the short tier.
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

// agrees compares the two executors, on bits that may be any.
func agrees(t *testing.T, s *schedule.Schedule, env hw.Env, r *rand.Rand) *hw.Result {
	t.Helper()
	in := make([][]byte, s.Spec.Ranks)
	for rank := range in {
		in[rank] = make([]byte, s.Len(schedule.Input, rank)*int64(s.Spec.Type.Width()))
		for i := range in[rank] {
			in[rank][i] = byte(r.Uint32())
		}
	}
	want, err := reference.RunBytes(s, in, reference.RunOptions{})
	require.NoError(t, err)
	env.Trace = true
	result, err := New(Config{Next: r.IntN}).Run(context.Background(),
		&hw.Job{Schedule: s, Inputs: in, Env: env})
	require.NoError(t, err)
	require.NoError(t, result.Trace.Validate())
	for rank := range want {
		if s.Spec.Kind == collective.Custom {
			require.Len(t, result.Outputs[rank], len(want[rank])) // some write no output
			continue
		}
		require.Equal(t, want[rank], append([]byte{}, result.Outputs[rank]...),
			"%s %v %v %v, rank %d of %d", s.Name, s.Spec.Kind, s.Spec.Op, s.Spec.Type, rank, len(want))
	}
	return result
}

// TestScripts: gets, puts, silent ones, packets, multimem, events, slices and lanes give the bits
// that they must, with as few slots as will do, and once more without a pause.
func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("../../schedule/testdata/*.txt")
	require.NoError(t, err)
	played := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, part := range strings.Split("\n"+string(text), "\nschedule\n")[1:] {
			body, _, _ := strings.Cut(part, "\n----")
			s, err := schedule.Parse(body + "\n")
			require.NoError(t, err, path)
			p, found := proof.Verify(s, proof.Options{})
			if len(found) > 0 {
				continue
			}
			r := rand.New(rand.NewPCG(uint64(played), 9))
			agrees(t, s, hw.Env{Slots: p.MinSlots, Repetitions: 3}, r)
			agrees(t, s, hw.Env{Slots: p.MinSlots, Iterations: p.Iterations}, r)
			played++
		}
	}
	require.Greater(t, played, 12)
}
