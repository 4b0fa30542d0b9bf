package bounds

import (
	"math/bits"

	"collsim/unit"
)

// allCuts considers every cut of a small network. Sets of nodes follow each other in Gray code
// order, so each step only updates the counts for one node. The last node is always outside, since
// both directions of a cut are tried.
//
// REQUIRES: at most 62 nodes, and all rates together are below Unlimited. The work doubles with
// each node.
func (s *search) allCuts(t traffic) {
	c := cutCount{net: s.net, traffic: t}
	for i := uint64(1); i < 1<<(len(s.net.rank)-1); i++ {
		c.flip(int32(bits.TrailingZeros64(i)))
		for direction, into := range []bool{false, true} {
			rough := cutBound{bytes: c.bytes[direction], rate: unit.Rate(c.rate[direction])}
			if c.unlimited[direction] == 0 && rough.exceeds(s.best) {
				near := func(v int32) bool { return c.set>>v&1 == 1 }
				exact := s.net.across(near, into, noLinks(rough.bytes))
				s.consider(exact, func() string { return s.describeCut(near, into) })
			}
		}
	}
}

// A cutCount holds what crosses the border of a set of nodes: out of it [0], and into it [1].
type cutCount struct {
	net       *network
	traffic   traffic
	set       uint64
	bytes     [2]int64
	rate      [2]int64 // of the limited links
	unlimited [2]int   // number of the other links
}

// flip moves a node into the set, or out of it, and updates the counts.
func (c *cutCount) flip(v int32) {
	sign := int64(1) // v enters: a link from v to a node outside now crosses
	if c.set>>v&1 == 1 {
		sign = -1
	}
	c.set ^= 1 << v
	for direction, links := range [2][]int32{c.net.out.of(v), c.net.in.of(v)} {
		for _, l := range links {
			other := c.net.to[l] + c.net.from[l] - v
			if c.set>>other&1 == 0 {
				c.count(direction, c.net.rate[l], sign)
			} else {
				c.count(1-direction, c.net.rate[l], -sign)
			}
		}
	}
	r := c.net.rank[v]
	if r < 0 {
		return
	}
	for other, u := range c.net.ranks {
		sent, received := c.traffic.bytes(int(r), other), c.traffic.bytes(other, int(r))
		if c.set>>u&1 == 0 {
			c.bytes[0] += sign * sent
			c.bytes[1] += sign * received
		} else {
			c.bytes[0] -= sign * received
			c.bytes[1] -= sign * sent
		}
	}
}

// count adds a link to those that cross in a direction, or removes it (sign −1).
func (c *cutCount) count(direction int, rate unit.Rate, sign int64) {
	if rate == unit.Unlimited {
		c.unlimited[direction] += int(sign)
		return
	}
	c.rate[direction] += sign * int64(rate)
}
