package synth

import (
	"errors"
	"math/bits"
	"slices"

	"collsim/unit"
)

// A demand is how many trees begin at each rank.
type demand []int64

// everywhere returns a demand of k trees of every rank.
func everywhere(ranks int, k int64) demand { return slices.Repeat(demand{k}, ranks) }

// from returns a demand of k trees of one rank.
func from(ranks, root int, k int64) demand {
	d := make(demand, ranks)
	d[root] = k
	return d
}

// total returns the number of trees.
func (d demand) total() (sum int64) {
	for _, k := range d {
		sum += k
	}
	return sum
}

// source makes an additional node that stands for all roots: it has an arc to each, with as much
// room as there are trees of it.
func (d demand) source(f *flow, node int) {
	for rank, k := range d {
		if k > 0 {
			f.add(node, rank, k)
		}
	}
}

// A prober asks whether capacities hold the trees of a demand: whether, from all roots together, as
// many units reach every rank as there are trees (Edmonds; with switches ForestColl, theorem 1).
type prober struct {
	n    *network
	last int // the rank that the latest refusal was about, which is asked first
}

// holds reports whether links of these capacities, and hops of their own, hold a demand.
func (p *prober) holds(d demand, links, hops []int64) bool {
	f := newFlow(p.n.nodes + 1)
	for i, room := range links {
		if room > 0 {
			f.add(p.n.links[i].from, p.n.links[i].to, room)
		}
	}
	for i, room := range hops {
		if room > 0 {
			f.add(p.n.hops[i].from, p.n.hops[i].to, room)
		}
	}
	source, total := p.n.nodes, d.total()
	d.source(f, source)
	for i := range p.n.ranks {
		rank := (p.last + i) % p.n.ranks
		if f.run(source, rank, total) < total {
			p.last = rank
			return false
		}
	}
	return true
}

// A choice is a number of trees a root, and the least scale at which links hold them. A tree then
// carries scale.each / scale.units bytes a second.
type choice struct {
	trees int64
	scale scale
}

// faster reports whether the trees of a root together carry more than percent of those of another
// choice.
func (c choice) faster(o choice, percent int64) bool {
	left := product(uint64(c.trees)*uint64(c.scale.each), 100*uint64(o.scale.units))
	right := product(uint64(o.trees)*uint64(o.scale.each), uint64(percent)*uint64(c.scale.units))
	return left[0] > right[0] || left[0] == right[0] && left[1] > right[1]
}

// product returns a·b in two words.
func product(a, b uint64) [2]uint64 {
	hi, lo := bits.Mul64(a, b)
	return [2]uint64{hi, lo}
}

// maxUnits bounds a scale. No network of rates that differ less needs more.
const maxUnits = 1 << 40

// mostUnits returns the most units of a rate at which k trees are faster than another choice by
// more than a hundredth.
func mostUnits(k int64, rate unit.Rate, than choice) int64 {
	hi, lo := bits.Mul64(uint64(k)*uint64(rate), 100*uint64(than.scale.units))
	by := 101 * uint64(than.trees) * uint64(than.scale.each)
	if hi >= by {
		return maxUnits
	}
	units, rest := bits.Div64(hi, lo, by)
	if rest == 0 {
		units--
	}
	return int64(min(units, maxUnits))
}

// choices returns the best choice for each number of trees from least to most that is faster than
// all with fewer trees, until one is within a hundredth of what any number of trees reaches.
func (n *network) choices(demands func(k int64) demand, least, most int64) (list []choice,
	err error) {
	p := &prober{n: n}
	const many = 1 << 12
	if len(n.hops) == 0 {
		return nil, errors.New("no rank reaches another over links without a third between")
	}
	limit, ok := n.best(p, demands(many), many, choice{})
	if !ok {
		return nil, errors.New("some rank cannot be reached")
	}
	var best choice
	for k := least; k <= most; k++ {
		c, ok := n.best(p, demands(k), k, best)
		if !ok {
			continue
		}
		best = c
		if list = append(list, c); !limit.faster(c, 101) {
			break
		}
	}
	return list, nil
}

// best returns the least scale of k trees, if it is faster than another choice by more than a
// hundredth; no trees are the slowest choice. At the least scale some link carries a whole number
// of units, so the scales that measure by each of the rates are searched.
func (n *network) best(p *prober, d demand, k int64, than choice) (c choice, ok bool) {
	total := d.total()
	holds := func(s scale) bool { return p.holds(d, n.capacities(s, total), nil) }
	for _, rate := range n.rates() {
		low, high := int64(0), int64(1) // the least units are above low, and at most high
		if than.trees == 0 {
			for !holds(scale{high, rate}) {
				if low, high = high, 2*high; high > maxUnits {
					break
				}
			}
			if high > maxUnits {
				continue
			}
		} else {
			if high = mostUnits(k, rate, than); high < 1 || !holds(scale{high, rate}) {
				continue
			}
		}
		for low+1 < high {
			if middle := (low + high) / 2; holds(scale{middle, rate}) {
				high = middle
			} else {
				low = middle
			}
		}
		c, ok = choice{k, scale{high, rate}}, true
		than = c
	}
	return c, ok
}
