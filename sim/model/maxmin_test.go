package model

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/topology"
	"collsim/unit"
)

// TestRates compares, after every change of random flows, the rates that were worked out for what
// the change can have touched with those that the rule gives for everything.
func TestRates(t *testing.T) {
	slack, joined := 0, 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 5))
		x := randomMaxMin(t, rng)
		present := map[int32]bool{}
		speeds := make([]uint64, len(x.links)) // as Links and Slack tell when they change
		tell := func(links []int32) {
			for _, l := range links {
				speeds[l] = speedOf(x, l)
			}
		}
		for range 100 {
			for range 1 + rng.IntN(3) {
				f := int32(rng.IntN(len(x.Flows)))
				if present[f] {
					x.End(f)
					delete(present, f)
					continue
				}
				limit := NoCap
				if x.isPaced && rng.IntN(2) == 0 {
					limit = FluidRate(unit.Rate(1+rng.IntN(3_000))) + rng.Uint64N(2)
				}
				route := int32(rng.IntN(len(x.network.Routes)))
				if x.network.Routes[route].Slowest != unit.Unlimited {
					x.Begin(f, route, limit)
					present[f] = true
				}
			}
			for x.Next() {
				for _, f := range x.Members {
					require.True(t, present[f])
					x.Flows[f].Rate = x.Flows[f].Next
				}
				for _, l := range x.Links {
					require.False(t, x.links[l].isSlack)
				}
				tell(x.Links)
			}
			tell(x.Slack)
			require.Negative(t, x.Starved)
			rates := map[int32]uint64{}
			for f := range present {
				rates[f] = x.Flows[f].Rate
			}
			require.Equal(t, naiveRates(x, present), rates, "seed %d", seed)
			for i := range x.links {
				require.Equal(t, speedOf(x, int32(i)), speeds[i])
				if l := &x.links[i]; l.isSlack && len(l.flows) > 0 {
					slack++
				} else if len(l.flows) > 0 {
					joined++
				}
			}
		}
	}
	require.Greater(t, min(slack, joined), 10_000)
}

// speedOf is the sum of the rates of the flows on a link.
func speedOf(x *MaxMin, link int32) (sum uint64) {
	for _, f := range x.On(link) {
		sum += x.Flows[f].Rate
	}
	return sum
}

// TestSlack: a link that has as much as its flows can take still gives them what the rule rounds
// down; one that has more for each is slack and holds none back. When it fills up it joins them,
// and when one of them has ended the others get what their caps allow.
func TestSlack(t *testing.T) {
	g, err := topology.Ring(2, 10, 0)
	require.NoError(t, err)
	n := NewNetwork(g)
	x := NewMaxMin(&n, true)
	x.Grow(4)
	route := n.Route(0, 1)
	rates := func() (list []uint64) {
		for x.Next() {
			for _, f := range x.Members {
				x.Flows[f].Rate = x.Flows[f].Next
			}
		}
		for f := range x.Flows {
			if x.Flows[f].need > 0 {
				list = append(list, x.Flows[f].Rate)
			}
		}
		return list
	}
	link, five := &x.links[n.Hops[0]], FluidRate(5)
	x.Begin(0, route, five)
	x.Begin(1, route, five+1)
	require.Equal(t, []uint64{five, five}, rates())
	require.False(t, link.isSlack)
	x.End(0)
	require.Equal(t, []uint64{five + 1}, rates())
	require.True(t, link.isSlack)
	require.Equal(t, []int32{n.Hops[0]}, x.Slack)
	x.Begin(2, route, FluidRate(3))
	require.Equal(t, []uint64{five + 1, FluidRate(3)}, rates())
	require.True(t, link.isSlack)
	require.EqualValues(t, 1, len(x.Members), "it joins nobody")
	x.Begin(3, route, FluidRate(4))
	require.Equal(t, []uint64{FluidRate(7) / 2, FluidRate(3), FluidRate(7) / 2}, rates())
	require.False(t, link.isSlack)
	x.End(2)
	require.Equal(t, []uint64{five + 1, FluidRate(4)}, rates())
	x.End(1)
	x.End(3)
	require.Empty(t, rates())
	require.Equal(t, need{}, link.needs)
}

// randomMaxMin has links whose shares leave remainders, some without limit, and 40 flows to be.
func randomMaxMin(t *testing.T, rng *rand.Rand) *MaxMin {
	g, err := topology.New(topology.Presets()[rng.IntN(len(topology.Presets()))], 6, 1000, 0)
	require.NoError(t, err)
	for i := range g.Links() {
		if g.Links()[i].Bandwidth = unit.Rate(1000 + rng.IntN(2000)); rng.IntN(10) == 0 {
			g.Links()[i].Bandwidth = unit.Unlimited
		} else if rng.IntN(3) == 0 { // often it has more than its flows can take
			g.Links()[i].Bandwidth *= 8
		}
	}
	n := NewNetwork(g)
	for src := range int32(6) {
		for dst := range int32(6) {
			if src != dst {
				n.Route(src, dst)
			}
		}
	}
	x := NewMaxMin(&n, rng.IntN(2) == 0)
	x.Grow(40)
	return x
}

// naiveRates is the rule of design §4 to the letter: of all links, and of all flows as links of
// their own, those with the least ⌊capacity left / weight left⌋ saturate together.
func naiveRates(x *MaxMin, flows map[int32]bool) map[int32]uint64 {
	left, on := map[int32]uint64{}, map[int32][]int32{}
	for f := range flows {
		own := -1 - f
		left[own], on[own] = x.caps[f], []int32{f}
		for _, h := range x.LinksOf(f) {
			left[h], on[h] = NoCap, append(on[h], f)
			if b := x.network.Links[h].Bandwidth; b != unit.Unlimited {
				left[h] = FluidRate(b)
			}
		}
	}
	rates := map[int32]uint64{}
	for len(rates) < len(flows) {
		least, share := NoCap, map[int32]uint64{}
		for l, list := range on {
			weight := uint64(0)
			for _, f := range list {
				if _, isFixed := rates[f]; !isFixed {
					weight++
				}
			}
			if weight > 0 && left[l] != NoCap {
				share[l] = left[l] / weight
				least = min(least, share[l])
			}
		}
		for l, s := range share {
			if s == least {
				fixNaively(rates, left, on, l, least)
			}
		}
	}
	return rates
}

// fixNaively gives the flows of a link a rate, and takes it off all of their links.
func fixNaively(rates, left map[int32]uint64, on map[int32][]int32, l int32, rate uint64) {
	for _, f := range on[l] {
		if _, isFixed := rates[f]; isFixed {
			continue
		}
		rates[f] = rate
		for k, list := range on {
			for _, other := range list {
				if other == f && left[k] != NoCap {
					left[k] -= rate
				}
			}
		}
	}
}

// TestStarved: three flows on a link of 2 units of rate are one too many; two are not.
func TestStarved(t *testing.T) {
	g, err := topology.Ring(2, 1, 0)
	require.NoError(t, err)
	n := NewNetwork(g)
	x := NewMaxMin(&n, true)
	x.Grow(3)
	route := n.Route(0, 1)
	x.links[n.Hops[0]].capacity = 2
	x.Begin(0, route, NoCap)
	x.Begin(1, route, NoCap)
	require.True(t, x.Next())
	require.Equal(t, []uint64{1, 1}, []uint64{x.Flows[0].Next, x.Flows[1].Next})
	require.EqualValues(t, 0, x.Limit(0))
	require.False(t, x.Next())
	x.Begin(2, route, NoCap)
	require.False(t, x.Next())
	require.EqualValues(t, 0, x.Starved)
}

// TestWork is the arithmetic of 128 bits: at b bytes a second n bytes take what unit says, in one
// go or in parts.
func TestWork(t *testing.T) {
	for _, n := range []unit.Bytes{1, 999, unit.GiB, 1 << 59} {
		for _, rate := range []unit.Rate{1, 3, 12_500_000_000, MaxFluidRate} {
			w := WorkOf(n)
			all := w.Over(FluidRate(rate))
			require.Equal(t, n.Over(rate), all)
			if all < unit.Forever && all > 1 {
				part := all / 3
				rest := w.After(FluidRate(rate), part)
				require.Equal(t, all, part+rest.Over(FluidRate(rate)))
			}
		}
	}
}
