package synth

import (
	"slices"

	"collsim/unit"
)

// A path is how a part of a block goes from rank to rank: the hops, one after the other.
type path []int32

// A router finds paths for the parts of all blocks. First each takes the fastest one as if it were
// alone. Then every part is taken off and routed anew, one after the other, a few times. It takes
// the path of the least cost, where the cost of a link grows exponentially with its load, so that
// the largest load comes near the least possible (Aspnes et al. 1997).
type router struct {
	n     *network
	parts int
	load  []int64  // by link: parts
	rate  []int64  // by link, of the fastest's fullRate
	cost  []uint64 // by link
	paths [][]path // by pair (from·ranks + to) and part

	isAlone bool // costs ignore loads

	powers []uint64
	far    []uint64 // by rank, for cheapest: the cost of the way to it
	done   []bool   // … which is final
	by     []int32  // … and its last hop
}

const (
	// passes counts how often all parts are routed anew.
	passes = 6
	// The cost of a link is multiplied by 17/16 so many times at the largest load, and at most
	// maxPower times. It begins with one.
	steepness = 160
	maxPower  = 2 * steepness
	one       = 1 << 6
	fullRate  = 1 << 20
)

// newRouter returns a router without paths.
func newRouter(n *network, parts int) *router {
	r := &router{n: n, parts: parts, load: make([]int64, len(n.links)),
		rate: make([]int64, len(n.links)), cost: make([]uint64, len(n.links)),
		paths: make([][]path, n.ranks*n.ranks), powers: []uint64{one},
		far: make([]uint64, n.ranks), done: make([]bool, n.ranks), by: make([]int32, n.ranks)}
	full := scale{fullRate, n.rates()[0]}
	for i, l := range n.links {
		r.rate[i] = max(1, full.of(l.rate, fullRate))
	}
	for i := range maxPower {
		r.powers = append(r.powers, r.powers[i]+r.powers[i]/16)
	}
	return r
}

// A routing is the paths of all parts, by pair and part, and the bytes a second of each part that
// they allow.
type routing struct {
	paths [][]path
	each  unit.Rate
}

// route returns the paths that parts take alone, and those of the passes that are fastest for all
// together; none where a rank cannot be reached.
func (r *router) route() (list []routing) {
	load, rate := int64(r.parts*r.n.ranks), slices.Min(r.rate) // a guess of the largest
	for pass := range passes + 1 {
		r.isAlone = pass == 0
		for l := range r.cost {
			r.cost[l] = r.price(l, load, rate)
		}
		for offset := 1; offset < r.n.ranks; offset++ {
			for from := range r.n.ranks {
				if !r.pair(from, (from+offset)%r.n.ranks, load, rate) {
					return nil
				}
			}
		}
		l := r.longest()
		load, rate = r.load[l], r.rate[l]
		now := routing{r.copied(), min(r.n.links[l].rate, fastest) / unit.Rate(load)}
		if pass > 1 && now.each > list[1].each {
			list[1] = now
		} else if pass < 2 {
			list = append(list, now)
		}
	}
	return list
}

// longest returns the link that takes longest for what it carries.
func (r *router) longest() (most int) {
	for l := range r.load {
		if r.load[l]*r.rate[most] > r.load[most]*r.rate[l] {
			most = l
		}
	}
	return most
}

// price returns the cost of a link for one more part, relative to the largest load, on a link of
// such a rate.
func (r *router) price(l int, load, rate int64) uint64 {
	power := r.load[l] * rate * steepness / (load * r.rate[l])
	return r.powers[min(power, maxPower)] * uint64(fullRate/r.rate[l])
}

// pair routes the parts of a pair anew.
func (r *router) pair(from, to int, load, rate int64) bool {
	at := from*r.n.ranks + to
	if r.paths[at] == nil {
		r.paths[at] = make([]path, r.parts)
	}
	add := func(p path, parts int64) {
		for _, h := range p {
			for _, l := range r.n.hops[h].links {
				r.load[l] += parts
				if !r.isAlone {
					r.cost[l] = r.price(int(l), load, rate)
				}
			}
		}
	}
	for i, p := range r.paths[at] {
		add(p, -1)
		if p = r.cheapest(from, to); p == nil {
			return false
		}
		add(p, 1)
		r.paths[at][i] = p
	}
	return true
}

// cheapest returns the path of the least cost between two ranks (Dijkstra 1959), nil if there is
// none.
func (r *router) cheapest(from, to int) path {
	const unreached = ^uint64(0)
	for rank := range r.far {
		r.far[rank], r.done[rank] = unreached, false
	}
	r.far[from] = 0
	for at := from; at != to; {
		r.done[at] = true
		for _, h := range r.n.at[at] {
			cost := r.far[at]
			for _, l := range r.n.hops[h].links {
				cost += r.cost[l]
			}
			if next := r.n.hops[h].to; cost < r.far[next] {
				r.far[next], r.by[next] = cost, h
			}
		}
		at = -1
		for rank, cost := range r.far {
			if !r.done[rank] && cost < unreached && (at < 0 || cost < r.far[at]) {
				at = rank
			}
		}
		if at < 0 {
			return nil
		}
	}
	var p path
	for at := to; at != from; at = r.n.hops[r.by[at]].from {
		p = append(p, r.by[at])
	}
	slices.Reverse(p)
	return p
}

// copied returns the paths as they are; a path itself is never changed.
func (r *router) copied() [][]path {
	list := make([][]path, len(r.paths))
	for i, paths := range r.paths {
		list[i] = slices.Clone(paths)
	}
	return list
}
