package synth

import (
	"cmp"
	"math/bits"
	"slices"
)

// logical divides the capacities of links among the hops that use them, so that hops alone hold the
// demand. A hop over one link that no other hop uses has all of it. Others get theirs in rounds, a
// fair share of what is left or one unit, as long as links and hops together still hold the demand
// (edge splitting: Bang-Jensen, Frank and Jackson 1995, as in ForestColl). Only the routes that
// messages really take are split off; so it may fail at a scale at which the links would do, and ok
// is false then.
func (n *network) logical(d demand, links []int64) (hops []int64, ok bool) {
	s := &splitting{prober: prober{n: n}, d: d, left: slices.Clone(links),
		hops: make([]int64, len(n.hops)), users: make([]int, len(n.links))}
	for i := range n.hops {
		for _, l := range n.hops[i].links {
			s.users[l]++
		}
	}
	for i := range n.hops {
		if l := n.hops[i].links; len(l) == 1 && s.users[l[0]] == 1 {
			s.move(i, s.left[l[0]])
			continue
		}
		s.open = append(s.open, i)
	}
	n.byOffset(s.open)
	for !s.holds(d, nil, s.hops) {
		if !s.round() {
			return nil, false
		}
	}
	return s.hops, true
}

// A splitting is the state of logical.
type splitting struct {
	prober
	d     demand
	left  []int64 // by link: units that no hop has
	hops  []int64 // by hop: its units
	users []int   // by link: hops that use it and are open
	open  []int   // hops that may get more
}

// byOffset sorts hops by how far apart their ranks are in number, so that hops next to each other
// load all ranks alike. Offsets are in the order of their reversed bits: half of the ranks, a
// quarter, three quarters, … so that the first few lead everywhere in a few steps.
func (n *network) byOffset(hops []int) {
	place := func(i int) uint64 {
		offset := uint64((n.hops[i].to - n.hops[i].from + n.ranks) % n.ranks)
		return bits.Reverse64(offset << 32 / uint64(n.ranks))
	}
	slices.SortStableFunc(hops, func(a, b int) int { return cmp.Compare(place(a), place(b)) })
}

// round gives open hops units once, and reports whether any got some.
func (s *splitting) round() (moved bool) {
	s.close()
	shares, least := make([]int64, len(s.hops)), int64(1)
	for _, i := range s.open {
		least = min(least, s.share(i))
		shares[i] = max(1, s.share(i))
	}
	batch := slices.Clone(s.open)
	if least > 0 && s.give(batch, shares) {
		return true
	}
	n := s.n
	for len(batch) > 0 {
		offset := func(i int) int { return (n.hops[i].to - n.hops[i].from + n.ranks) % n.ranks }
		first, end := offset(batch[0]), 1
		for end < len(batch) && offset(batch[end]) == first {
			end++
		}
		moved = s.divide(batch[:end], shares) || moved
		batch = batch[end:]
		if s.holds(s.d, nil, s.hops) {
			return true
		}
	}
	return moved
}

// close takes out the hops that have a link without anything left.
func (s *splitting) close() {
	s.open = slices.DeleteFunc(s.open, func(i int) bool {
		links := s.n.hops[i].links
		if !slices.ContainsFunc(links, func(l int32) bool { return s.left[l] == 0 }) {
			return false
		}
		for _, l := range links {
			s.users[l]--
		}
		return true
	})
}

// share returns the units that a hop gets if each link is shared evenly by its users.
func (s *splitting) share(i int) int64 {
	least := int64(1) << 62
	for _, l := range s.n.hops[i].links {
		least = min(least, s.left[l]/int64(s.users[l]))
	}
	return least
}

// divide gives units to all hops of a batch, or else to those of its halves to which it can. A hop
// to which nothing can be given never gets any, since what is left only falls.
func (s *splitting) divide(batch []int, shares []int64) bool {
	switch {
	case s.give(batch, shares):
		return true
	case len(batch) == 1 && shares[batch[0]] == 1:
		s.open = slices.DeleteFunc(s.open, func(i int) bool { return i == batch[0] })
		for _, l := range s.n.hops[batch[0]].links {
			s.users[l]--
		}
		return false
	case len(batch) == 1:
		return false
	}
	middle := len(batch) / 2
	first := s.divide(batch[:middle], shares)
	return s.divide(batch[middle:], shares) || first
}

// give gives the hops of a batch as much as their links have left of their shares, and reports
// whether that is anything, and whether the demand holds then. If not, it takes it back.
func (s *splitting) give(batch []int, shares []int64) bool {
	given, all := make([]int64, len(batch)), int64(0)
	for j, i := range batch {
		given[j] = shares[i]
		for _, l := range s.n.hops[i].links {
			given[j] = min(given[j], s.left[l])
		}
		s.move(i, given[j])
		all += given[j]
	}
	if all > 0 && s.holds(s.d, s.left, s.hops) {
		return true
	}
	for j, i := range batch {
		s.move(i, -given[j])
	}
	return false
}

// move moves units from the links of a hop to the hop.
func (s *splitting) move(i int, units int64) {
	s.hops[i] += units
	for _, l := range s.n.hops[i].links {
		s.left[l] -= units
	}
}
