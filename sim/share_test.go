package sim

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// TestRates compares, at every instant of random runs, the rates that were worked out for what a
// change touched with those that the rule gives for everything.
func TestRates(t *testing.T) {
	instants := 0
	law(t, 300, "rates are max-min fair", func(t testing.TB, rng *rand.Rand) bool {
		s := randomSchedule(t, rng, false)
		env := randomEnv(t, rng, s.Spec.Ranks)
		s = dressed(t, rng, s, env.Graph)
		env.Sharing, env.Switching, env.Segment = Fluid, CutThrough, 0
		for i := range env.Graph.Links { // shares that leave remainders
			env.Graph.Links[i].Bandwidth += unit.Rate(rng.IntN(1000))
		}
		e := newEngine(s, &env, Options{})
		require.NoError(t, e.settle())
		for len(e.queue) > 0 || len(e.finishes) > 0 {
			now := unit.Forever
			if len(e.queue) > 0 {
				now = e.queue[0].t
			}
			if len(e.finishes) > 0 {
				now = min(now, e.rests[e.finishes[0]].ends)
			}
			require.NoError(t, e.instant(now))
			for _, m := range e.finishes {
				require.LessOrEqual(t, e.rests[m].since, now)
			}
			require.Equal(t, naiveRates(e), ratesOf(e))
			instants++
		}
		return true
	})
	require.Greater(t, instants, 5000)
}

func ratesOf(e *engine) map[int32]uint64 {
	rates := map[int32]uint64{}
	for _, m := range e.finishes {
		rates[m] = e.flows[m].rate
	}
	return rates
}

// naiveRates is the rule of design §4 to the letter: of all links, and of all flows as links of
// their own, those with the least ⌊capacity left / weight left⌋ saturate together.
func naiveRates(e *engine) map[int32]uint64 {
	rates := map[int32]uint64{}
	left, on := map[int]uint64{}, map[int][]int32{}
	for _, m := range e.finishes {
		own := -1 - int(m)
		left[own], on[own] = e.rests[m].cap, []int32{m}
		r := e.routes[e.messages[m].route]
		for _, h := range e.hops[r.from:r.to] {
			left[int(h)] = uint64(e.env.Graph.Links[h].Bandwidth) << unitShift
			on[int(h)] = append(on[int(h)], m)
		}
	}
	for len(rates) < len(e.finishes) {
		least := ^uint64(0)
		share := map[int]uint64{}
		for l, flows := range on {
			weight := uint64(0)
			for _, m := range flows {
				if _, fixed := rates[m]; !fixed {
					weight++
				}
			}
			if weight > 0 {
				share[l] = left[l] / weight
				least = min(least, share[l])
			}
		}
		for l, s := range share {
			if s != least {
				continue
			}
			for _, m := range on[l] {
				if _, fixed := rates[m]; fixed {
					continue
				}
				rates[m] = least
				for k, flows := range on {
					for _, other := range flows {
						if other == m {
							left[k] -= least
						}
					}
				}
			}
		}
	}
	return rates
}

// TestWork is the arithmetic of 128 bits: at b bytes a second n bytes take what unit says, in one
// go or in parts.
func TestWork(t *testing.T) {
	for _, n := range []unit.Bytes{1, 999, unit.GiB, 1 << 59} {
		for _, rate := range []unit.Rate{1, 3, 12_500_000_000, maxFluidRate} {
			w := workOf(n)
			all := w.over(uint64(rate) << unitShift)
			require.Equal(t, n.Over(rate), all)
			if all < unit.Forever && all > 1 {
				part := all / 3
				rest := w.less(uint64(rate)<<unitShift, part)
				require.Equal(t, all, part+rest.over(uint64(rate)<<unitShift))
			}
		}
	}
}
