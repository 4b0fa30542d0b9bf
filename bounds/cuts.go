package bounds

import (
	"math"
	"math/bits"

	"collsim/collective"
	"collsim/unit"
)

// A cutFamily is a set of cuts. A cut is a set R of nodes with at least one root in it. With into,
// the data that ranks outside R hold must cross the links into R. Otherwise the data held for the
// ranks outside R must cross the links out of R.
//
//	all_gather      every rank holds its block     all ranks are roots            into R
//	broadcast       the root holds the vector      all ranks but the root         into R
//	gather          every rank holds its block     the root                       into R
//	reduce_scatter  every rank's block comes to it, from all ranks                out of R
//	reduce          the vector comes to the root, from all ranks but the root     out of R
//	scatter         every rank's block comes to it, from the root                 out of R
//
// A reduced block leaves R as one sum, however many ranks of R add to it. In an all_reduce, the
// vector must cross every cut with ranks on both sides, in both directions. Cuts into R without
// rank 0, and cuts out of R without rank 0, cover each of these once.
type cutFamily struct {
	held  []int64 // bytes, by rank
	roots []int
	into  bool
}

// held returns the bytes that each rank holds, or that are held for it. For all_reduce it is the
// vector at rank 0.
func (s *search) held() []int64 {
	bytes := heldBy(s.spec, len(s.net.ranks))
	for r := range bytes {
		bytes[r] = product(bytes[r], s.net.standsFor(r))
	}
	return bytes
}

// heldBy returns the bytes that each rank holds, or that are held for it.
func heldBy(spec collective.Spec, ranks int) []int64 {
	bytes := make([]int64, ranks)
	width := int64(spec.Type.Width())
	switch spec.Kind {
	case collective.AllReduce, collective.Broadcast, collective.Reduce:
		bytes[spec.Root] = spec.Count * width
		return bytes
	}
	for r := range bytes {
		if spec.Kind.Splits() {
			bytes[r] = spec.Splits[0][r] * width
		} else {
			bytes[r] = spec.Count * width
		}
	}
	return bytes
}

// cuts considers the worst cut of a family, and some others.
//
// Whether a root r has a cut worse than a ratio d/b is decided by a maximum flow from r to a sink.
// Links carry rate·d, and from every rank held·b can go to the sink. If the flow fills the sink,
// every set R with r in it has held(outside)·b ≤ rate(R)·d: no cut is worse. Otherwise the least
// cut is worse, and its ratio is tried next (Newton's iteration; Dinkelbach 1967). That takes a few
// rounds, since the ratio only grows. Once r is finished, no cut with r inside is worse, so the
// sink takes all that reaches r. Later roots then have short paths to the sink.
func (s *search) cuts(f cutFamily) {
	s.ports(f)
	m := s.newSeparator(f)
	m.tune(s.best)
	for _, r := range s.rootsOf(f) {
		root := s.net.ranks[r]
		for !m.isSaturated(root) && m.run([]int32{root}, m.target) < m.target {
			c := s.boundOfCut(&m)
			if !s.consider(c, func() string { return s.describeCut(m.reached, f.into) }) {
				break // worse by less than the rounding of capacities
			}
			m.tune(s.best)
		}
		m.finish(root)
		if m.work > s.limits.work {
			s.found.Partial = true
			return
		}
	}
}

// ports considers the cuts around single ranks: a root alone, and all ranks except one that holds
// something.
func (s *search) ports(f cutFamily) {
	total := int64(0)
	for _, bytes := range f.held {
		total += bytes
	}
	claim := func(r int, out bool, bytes int64) {
		if s.net.standsFor(r) > 1 { // a kept rank stands for these
			return
		}
		c := s.net.inward[s.net.ranks[r]]
		if out {
			c = s.net.outward[s.net.ranks[r]]
		}
		c.bytes = bytes
		s.consider(c, func() string { return s.describePort(r, out) })
	}
	for _, r := range f.roots {
		claim(r, !f.into, total-f.held[r])
	}
	for r, bytes := range f.held {
		if len(f.roots) > 1 || f.roots[0] != r {
			claim(r, f.into, bytes)
		}
	}
}

// A separator is a flow that finds a cut of a family that is worse than a ratio.
type separator struct {
	maxFlow
	net    *network
	family cutFamily
	done   []bool  // by node: no cut with it inside is worse
	target int64   // capacity into the sink
	direct []int64 // by node: capacity to the sink through one link to a node that drains all

	// Common divisors of what is held and of the rates that are limited, to keep capacities small.
	bytes, rate int64
}

// newSeparator returns a flow for the cuts of a family.
func (s *search) newSeparator(f cutFamily) separator {
	m := separator{maxFlow: s.net.newFlow(f.into), net: s.net, family: f,
		done: make([]bool, len(s.net.rank)), direct: make([]int64, len(s.net.rank))}
	for _, bytes := range f.held {
		m.bytes = unit.GCD(m.bytes, bytes)
	}
	m.rate = s.net.commonRate()
	return m
}

// tune sets the capacities for the ratio of a bound. Capacities that are too large are rounded to
// about 60 bits. A cut that is worse by less may then be missed, but every cut that is found is
// real.
func (m *separator) tune(c cutBound) {
	if c.bytes == 0 || c.rate == unit.Unlimited { // start below any cut: all links for one byte
		c = cutBound{bytes: 1, rate: m.net.allRates()}
	}
	units := int64(0)
	for _, bytes := range m.family.held {
		units += bytes / m.bytes
	}
	// In units of bytes and of rate the ratio is c.bytes·m.rate / c.rate·m.bytes.
	num, den := fraction([2]int64{c.bytes, m.rate}, [2]int64{int64(c.rate), m.bytes})
	shift := uint(0)
	for shifted(units, den, shift) > endless {
		shift++
	}
	m.target = 0
	for _, bytes := range m.family.held {
		m.target += shifted(bytes/m.bytes, den, shift)
	}
	for l, rate := range m.net.rate {
		m.room[l] = m.target // a link never needs more
		if rate != unit.Unlimited {
			m.room[l] = min(m.target, shifted(int64(rate)/m.rate, num, shift))
		}
	}
	clear(m.direct)
	for r, v := range m.net.ranks {
		m.drain[v] = shifted(m.family.held[r]/m.bytes, den, shift)
		if m.done[v] || m.drain[v] == m.target {
			m.drainAll(v)
		}
	}
}

// finish records that no cut with this root inside is worse than the ratio.
func (m *separator) finish(root int32) {
	m.done[root] = true
	if m.drain[root] < m.target {
		m.drainAll(root)
	}
}

// drainAll lets all that reaches a node go to the sink.
func (m *separator) drainAll(v int32) {
	m.drain[v] = m.target
	for _, l := range m.behind.of(v) {
		from := m.tail[l]
		m.direct[from] = min(m.direct[from]+m.room[l], m.target)
	}
}

// isSaturated reports whether paths of one or two links already fill the sink. These paths go from
// the root itself, from its neighbours, and through each neighbour to nodes that drain all. No two
// of them share a link. So a rank of a full mesh, or at a switch, needs no flow.
func (m *separator) isSaturated(root int32) bool {
	total := m.drain[root]
	links := m.ahead.of(root)
	for _, l := range links {
		if total >= m.target {
			break
		}
		next := m.head[l]
		total += min(m.room[l], m.drain[next]+m.direct[next])
	}
	m.work += int64(len(links))
	return total >= m.target
}

// boundOfCut returns the bound of the cut that ended a flow.
func (s *search) boundOfCut(m *separator) cutBound {
	c := noLinks(0)
	for r, v := range s.net.ranks {
		if !m.reached(v) {
			c.bytes += m.family.held[r]
		}
	}
	return s.net.across(m.reached, m.family.into, c)
}

// across adds to a bound the links that leave the near nodes or, with into, lead to them.
func (n *network) across(near func(v int32) bool, into bool, c cutBound) cutBound {
	for l := range n.rate {
		if from := near(n.from[l]); from != near(n.to[l]) && from != into {
			c = c.over(n.rate[l], n.lead[l])
		}
	}
	return c
}

// commonRate returns the greatest common divisor of all limited rates, 1 if there are none.
func (n *network) commonRate() int64 {
	common := int64(0)
	for _, rate := range n.rate {
		if rate != unit.Unlimited {
			common = unit.GCD(common, int64(rate))
		}
	}
	return max(common, 1)
}

// allRates returns the sum of all limited rates, at least 1 and below Unlimited.
func (n *network) allRates() unit.Rate {
	total := int64(0)
	for _, rate := range n.rate {
		if rate != unit.Unlimited {
			total = sum(total, int64(rate))
		}
	}
	return unit.Rate(min(max(total, 1), math.MaxInt64-1))
}

// fraction returns num/den as one numerator and denominator; each is given as two factors. If the
// exact result does not fit, both lose the same number of low bits. A numerator that is still too
// large becomes the largest int64.
func fraction(num, den [2]int64) (n, d int64) {
	for i := range num {
		for j := range den {
			g := unit.GCD(num[i], den[j])
			num[i], den[j] = num[i]/g, den[j]/g
		}
	}
	shift := uint(0)
	for shifted(den[0], den[1], shift) == math.MaxInt64 {
		shift++
	}
	return max(shifted(num[0], num[1], shift), 1), shifted(den[0], den[1], shift)
}

// shifted returns a·b in 128 bits, shifted right, at most the largest int64.
func shifted(a, b int64, shift uint) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	low := lo>>shift | hi<<(64-shift) // a shift by 64 is 0
	if hi>>shift > 0 || low > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(low)
}

// scattered orders ranks by the bit reversal of their index. Each is then far from all before it,
// so the flow from it, to the nearest of them, is short.
func scattered(ranks []int) []int {
	order := firstScattered(len(ranks), len(ranks))
	for i, place := range order {
		order[i] = ranks[place]
	}
	return order
}

// firstScattered returns the first few of so many indices in bit-reversed order.
func firstScattered(places, few int) []int {
	width := bits.Len(uint(places - 1))
	order := make([]int, 0, few)
	for i := 0; i < 1<<width && len(order) < few; i++ {
		if place := int(bits.Reverse64(uint64(i)) >> (64 - width)); place < places {
			order = append(order, place)
		}
	}
	return order
}
