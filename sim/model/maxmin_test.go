package model

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/topology"
	"collsim/unit"
)

// TestRates compares the rates of MaxMin with FairRates after every change of random flows. On
// every other network links have so few units that roundings decide which are saturated together.
// Flows cross some links more than once. The budget for shares that rise is small or zero. Where
// all routes are plain, links are kept in order as often as possible.
func TestRates(t *testing.T) {
	unsaturated, joined, kept, twins := 0, 0, 0, 0
	for seed := range tier.Of[uint64](20, 600) {
		rng := rand.New(rand.NewPCG(seed, 5))
		x, isPaced, isSmall := randomMaxMin(t, rng), rng.IntN(2) == 0, seed%2 == 0
		x.patience = []int{0, 1, 8}[rng.IntN(3)]
		isPlainly := rng.IntN(2) == 0
		if x.threshold = 1; isPlainly {
			isPaced = false
		}
		for i := range x.links {
			if isSmall && x.links[i].capacity > 0 {
				x.links[i].capacity = 200 + rng.Uint64N(100)
			}
		}
		present := map[int32]bool{}
		speeds := make([]uint64, len(x.links)) // updated for the links of Touched
		for range 100 {
			for range 1 + rng.IntN(3) {
				f := int32(rng.IntN(len(x.Flows)))
				if present[f] {
					x.End(f)
					delete(present, f)
					continue
				}
				limit := NoCap
				isAny := !isPlainly || seed%3 == 1 && rng.IntN(20) == 0 // not plain
				if (isPaced || isPlainly && isAny) && rng.IntN(2) == 0 {
					limit = FluidRate(unit.Rate(1+rng.IntN(3_000))) + rng.Uint64N(2)
					if isSmall {
						limit = 1 + rng.Uint64N(300)
					}
				}
				route := int32(rng.IntN(len(x.network.Routes)))
				y := &x.network.Routes[route]
				if y.Slowest != unit.Unlimited && (isAny || isPlain(x.network.LinksOf(y), NoCap)) {
					x.Begin(f, route, limit)
					present[f] = true
				}
			}
			x.Solve()
			checkOrder(t, x, &kept, &twins)
			for _, f := range x.Members() {
				require.True(t, present[f])
				x.Flows[f].Rate = x.Flows[f].Next
			}
			for _, l := range x.Touched(nil) {
				speeds[l] = speedOf(x, l)
			}
			require.Negative(t, x.Starved)
			rates := map[int32]uint64{}
			for f := range present {
				rates[f] = x.Flows[f].Rate
			}
			require.Equal(t, definedRates(x, present), rates, "seed %d", seed)
			for i := range x.links {
				checkBalance(t, x, int32(i))
				if isSmall {
					require.Equal(t, definedShare(x, int32(i)), x.shares[i], "seed %d, link %d", seed, i)
				}
				require.Equal(t, speedOf(x, int32(i)), speeds[i])
				if l := &x.links[i]; l.isUnsaturated && len(l.flows) > 0 {
					unsaturated++
				} else if len(l.flows) > 0 {
					joined++
				}
			}
		}
	}
	require.Greater(t, min(unsaturated, joined), tier.Of(2000, 4000))
	require.Greater(t, kept, tier.Of(200, 6000))
	require.Greater(t, twins, tier.Of(3, 200))
}

// checkBalance holds the balance of a link, where it is known, to the shares of the other links,
// and the groups of its flows to the bottlenecks.
func checkBalance(t *testing.T, x *MaxMin, link int32) {
	l, b := &x.links[link], &x.balances[link]
	require.EqualValues(t, 1, b.isClean)
	if !b.isKnown {
		require.Zero(t, b.stable)
		return
	}
	require.Equal(t, x.shares[link], b.stable)
	left := l.capacity
	for j := range l.flows {
		u := x.rateElsewhere(l, link, j)
		isBelow := u < x.shares[link] || x.isOrdered && u == x.shares[link] && j >= int(b.held)
		require.Equal(t, j < int(b.held), !isBelow)
		if isBelow {
			left -= u
			require.True(t, u < b.bound || u == x.shares[link])
		}
	}
	require.Equal(t, left, b.left)
}

// definedShare returns the bottleneck share of a link by its equation: the least v at which the
// link is saturated, by the shares of the other links.
func definedShare(x *MaxMin, link int32) uint64 {
	for v := range x.links[link].capacity + 1 {
		left, others := x.links[link].capacity, uint64(0)
		for _, c := range x.On(link) {
			u := x.Flows[c.Flow].limit
			for _, h := range x.linksOf(c.Flow) {
				if h != link {
					u = min(u, x.shares[h])
				}
			}
			if u < v {
				left -= u
			} else {
				others++
			}
		}
		if others > 0 && left/others <= v {
			return v
		}
	}
	return NoCap
}

// speedOf returns the sum of the rates of the flows on a link.
func speedOf(x *MaxMin, link int32) (sum uint64) {
	for _, c := range x.On(link) {
		sum += x.Flows[c.Flow].Rate
	}
	return sum
}

// TestDrain has random flows begin at random times, and watches some of them half way. It compares
// their ends, and what is left of them at any time, with flows that each count their own work at
// the rates of FairRates.
func TestDrain(t *testing.T) {
	ended, watched := 0, 0
	for seed := range tier.Of[uint64](20, 1000) {
		rng := rand.New(rand.NewPCG(seed, 6))
		d := &Drain{MaxMin: randomMaxMin(t, rng)}
		d.clocks = make([]clock, len(d.links))
		d.Grow(40)
		rests, rates, beyond := map[int32]*Rest{}, map[int32]uint64{}, map[int32]Work{}
		now, begun := unit.Time(0), 0
		for begun < 60 || len(rests) > 0 {
			next, starts := Never, now+unit.Time(1+rng.Int64N(300_000_000_000_000))
			for f, r := range rests {
				next = min(next, endOf(r, rates[f], beyond[f]))
			}
			require.Equal(t, next, d.NextEnd())
			if now = next; begun < 60 && starts < next {
				now = starts
				f, route := int32(rng.IntN(40)), int32(rng.IntN(len(d.network.Routes)))
				if rests[f] == nil && d.network.Routes[route].Slowest != unit.Unlimited {
					begun++
					limit, n := NoCap, unit.Bytes(1+rng.IntN(1_000_000))
					if rng.IntN(2) == 0 {
						limit = FluidRate(unit.Rate(1 + rng.IntN(3_000)))
					}
					d.Begin(f, route, limit, n)
					rests[f], beyond[f] = &Rest{Work: WorkOf(n), Since: now}, Work{}
					if rng.IntN(3) == 0 {
						beyond[f] = WorkOf(n / 2)
						d.Watch(f, beyond[f])
					}
				}
			}
			for d.NextEnd() == now {
				f, isPart := d.Next()
				require.Equal(t, now, endOf(rests[f], rates[f], beyond[f]))
				require.Equal(t, beyond[f] != Work{}, isPart)
				if beyond[f] = (Work{}); isPart {
					watched++
					continue
				}
				ended++
				d.End(f)
				delete(rests, f)
				delete(rates, f)
			}
			d.Solve(now)
			present := map[int32]bool{}
			for f := range rests {
				present[f] = true
			}
			for f, rate := range definedRates(d.MaxMin, present) {
				rests[f].Change(rates[f], rate, now)
				rates[f] = rate
				require.Equal(t, rests[f].Work, d.Left(f, now))
				require.Equal(t, endOf(rests[f], rate, beyond[f]), d.Ends(f))
			}
		}
	}
	require.Greater(t, ended, tier.Of(1000, 2000))
	require.Greater(t, watched, tier.Of(150, 300))
}

// TestUnsaturated: a link that has exactly the demands of its flows still gives them rounded-down
// shares. One that has more than the demands is unsaturated and holds no flow back. It becomes a
// bottleneck as flows begin, and when one has ended the others get what their caps allow.
func TestUnsaturated(t *testing.T) {
	g, err := topology.Ring(2, 10, 0)
	require.NoError(t, err)
	n := NewNetwork(g)
	x := NewMaxMin(&n)
	x.Grow(4)
	route := n.Route(0, 1)
	rates := func() (list []uint64) {
		x.Solve()
		for _, f := range x.Members() {
			x.Flows[f].Rate = x.Flows[f].Next
		}
		for f := range x.Flows {
			if x.Flows[f].demand > 0 {
				list = append(list, x.Flows[f].Rate)
			}
		}
		return list
	}
	link, five := &x.links[n.Hops[0]], FluidRate(5)
	x.Begin(0, route, five)
	x.Begin(1, route, five+1)
	require.Equal(t, []uint64{five, five}, rates())
	require.False(t, link.isUnsaturated)
	x.End(0)
	require.Equal(t, []uint64{five + 1}, rates())
	require.True(t, link.isUnsaturated)
	x.Begin(2, route, FluidRate(3))
	require.Equal(t, []uint64{five + 1, FluidRate(3)}, rates())
	require.True(t, link.isUnsaturated)
	require.EqualValues(t, 1, len(x.Members()), "it joins nobody")
	x.Begin(3, route, FluidRate(4))
	require.Equal(t, []uint64{FluidRate(7) / 2, FluidRate(3), FluidRate(7) / 2}, rates())
	require.False(t, link.isUnsaturated)
	x.End(2)
	require.Equal(t, []uint64{five + 1, FluidRate(4)}, rates())
	x.End(1)
	x.End(3)
	require.Empty(t, rates())
	require.Equal(t, demand{}, link.demands)
}

// randomMaxMin returns a network of links whose shares leave remainders, some without limit, with
// room for 40 flows.
func randomMaxMin(t *testing.T, rng *rand.Rand) *MaxMin {
	g, err := topology.Build(topology.Params{Ranks: 6, Bandwidth: 1000,
		Preset: []string{"switch", "full-mesh", "ring"}[rng.IntN(3)]})
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
	for range 20 { // routes that cross a link more than once
		r := Route{From: int32(len(n.Hops)), Slowest: unit.Unlimited, Tree: -1}
		for range 2 + rng.IntN(4) {
			h := int32(rng.IntN(len(n.Links)))
			n.Hops = append(n.Hops, h)
			r.Slowest = min(r.Slowest, n.Links[h].Bandwidth)
			if rng.IntN(3) == 0 {
				n.Hops = append(n.Hops, h)
			}
		}
		r.To = int32(len(n.Hops))
		n.Routes = append(n.Routes, r)
	}
	x := NewMaxMin(&n)
	x.Grow(40)
	return x
}

// definedRates returns what FairRates gives the flows that are present.
func definedRates(x *MaxMin, present map[int32]bool) map[int32]uint64 {
	capacities, flows := make([]uint64, len(x.links)), []FairFlow{}
	for i, l := range x.links {
		if capacities[i] = NoCap; x.IsLimited(int32(i)) {
			capacities[i] = l.capacity
		}
	}
	numbers := slices.Sorted(maps.Keys(present))
	for _, f := range numbers {
		flows = append(flows, FairFlow{Links: x.linksOf(f), Cap: x.Flows[f].limit})
	}
	rates := map[int32]uint64{}
	for i, rate := range FairRates(capacities, flows) {
		rates[numbers[i]] = rate
	}
	return rates
}

// TestStarved: three flows on a link of 2 units of rate are one too many; two are not.
func TestStarved(t *testing.T) {
	g, err := topology.Ring(2, 1, 0)
	require.NoError(t, err)
	n := NewNetwork(g)
	x := NewMaxMin(&n)
	x.Grow(3)
	route := n.Route(0, 1)
	x.links[n.Hops[0]].capacity = 2
	x.Begin(0, route, NoCap)
	x.Begin(1, route, NoCap)
	x.Solve()
	require.Equal(t, []uint64{1, 1}, []uint64{x.Rate(0), x.Rate(1)})
	require.Equal(t, []int32{0, 1}, x.Members())
	require.EqualValues(t, 0, x.Limit(0))
	require.Negative(t, x.Starved)
	x.Begin(2, route, NoCap)
	x.Solve()
	require.EqualValues(t, 0, x.Starved)
}

// TestWork holds the arithmetic of 128 bits to that of package unit: n bytes at b bytes a second
// take the same time, at once or in parts.
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

// TestAfter: a flow that ends between two picoseconds has nothing left at the second.
func TestAfter(t *testing.T) {
	rate, n := FluidRate(unit.Rate(3*unit.GB)), WorkOf(1)
	ends := n.Over(rate)
	require.NotEqual(t, Work{}, n.After(rate, ends-1))
	require.Equal(t, Work{}, n.After(rate, ends))
	require.Equal(t, Work{}, n.After(rate, 2*ends))
}

// endOf returns when a flow ends at a rate that it has from r.Since on, except for a last part.
func endOf(r *Rest, rate uint64, but Work) unit.Time {
	return min(r.Since+r.Work.Without(but).Over(rate), unit.Forever)
}
