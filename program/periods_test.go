package program

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/schedule"
)

// TestPeriods: whether a tensor may lie in a space is what following all that parts wait for says,
// of parts on random streams of some ranks, in ops of one or several.
func TestPeriods(t *testing.T) {
	r := rand.New(rand.NewPCG(18, 2))
	said := map[bool]int{}
	for range tier.Of(100, 3000) {
		w := randomOps(r)
		orders := w.orders()
		uses := func() (e extent) {
			for range 1 + r.IntN(3) {
				e.uses = append(e.uses, r.IntN(len(w.result.Ops)))
			}
			return e
		}
		for range 20 {
			space, tensor := uses(), uses()
			both := extent{uses: slices.Concat(space.uses, tensor.uses)}
			joined := w.periods(&space, orders)
			for i, p := range w.periods(&tensor, orders) {
				joined[i].add(&p)
			}
			require.Equal(t, w.periods(&both, orders), joined)
			got := w.free(w.periods(&space, orders), w.periods(&tensor, orders))
			require.Equal(t, w.naivelyFree(space.uses, tensor.uses), got)
			said[got]++
		}
	}
	require.Greater(t, min(said[true], said[false]), 100)
}

// randomOps is a lowered program of 2 iterations on 3 ranks.
func randomOps(r *rand.Rand) *scheduler {
	w := &scheduler{plan: &plan{Program: &Program{Ranks: 3, Iterations: 2}}, result: &Lowered{}}
	for iteration := range w.Iterations {
		for range 6 {
			o := LoweredOp{Iteration: iteration}
			for range 1 + r.IntN(2) {
				p := schedule.Part{Stream: int32(r.IntN(3))}
				if r.IntN(3) == 0 {
					p.Ranks = r.Perm(w.Ranks)[:2]
				}
				for before := range w.parts {
					if r.IntN(4) == 0 && !slices.Contains(o.Parts, before) {
						p.After = append(p.After, before)
					}
				}
				o.Parts, w.parts = append(o.Parts, len(w.parts)), append(w.parts, p)
			}
			w.result.Ops = append(w.result.Ops, o)
		}
	}
	return w
}

// naivelyFree asks each pair of uses.
func (w *scheduler) naivelyFree(space, tensor []int) bool {
	for _, a := range space {
		for _, b := range tensor {
			first, last := a, b
			if w.result.Ops[b].Iteration < w.result.Ops[a].Iteration {
				first, last = b, a
			}
			for rank := range w.Ranks {
				for _, p := range w.result.Ops[first].Parts {
					for _, q := range w.result.Ops[last].Parts {
						if w.isOn(p, rank) && w.isOn(q, rank) && !w.isBefore(p, q, rank) {
							return false
						}
					}
				}
			}
		}
	}
	return true
}

func (w *scheduler) isOn(part, rank int) bool {
	return w.parts[part].Ranks == nil || slices.Contains(w.parts[part].Ranks, rank)
}

// isBefore reports whether a part waits for another on a rank, for whatever it waits for.
func (w *scheduler) isBefore(p, q, rank int) bool {
	for before := range w.parts[:q] {
		waits := slices.Contains(w.parts[q].After, before) ||
			w.parts[before].Stream == w.parts[q].Stream
		if waits && w.isOn(before, rank) && (before == p || w.isBefore(p, before, rank)) {
			return true
		}
	}
	return false
}
