package bounds

import "collsim/collective"

// bisections considers the least cuts between certain ranks and the others, in both directions. For
// every divisor b of the number of ranks it separates the first half of each run of b ranks. Grids
// and hierarchies with numbered dimensions are bisected so. It also separates every single run, if
// there are few.
func (s *search) bisections(t traffic) {
	const mostRuns = 8
	n := s.spec.Ranks
	h := s.newBisector(t)
	for b := n; b >= 2; b-- {
		if n%b != 0 {
			continue
		}
		h.between(func(r int) bool { return r%b < b/2 })
		for i := 0; b < n && n/b <= mostRuns && i < n/b; i++ {
			h.between(func(r int) bool { return r/b == i })
		}
	}
}

// A bisector finds least cuts between two sets of ranks.
type bisector struct {
	maxFlow
	search  *search
	traffic traffic
	side    []int32 // by rank: 0 or 1
	sideOf  []int32 // by node: the side of its rank, or 2
}

// newBisector returns a bisector for a traffic pattern.
func (s *search) newBisector(t traffic) *bisector {
	h := &bisector{maxFlow: s.net.newFlow(false), search: s, traffic: t,
		side: make([]int32, s.spec.Ranks), sideOf: make([]int32, len(s.net.rank))}
	for v := range h.sideOf {
		h.sideOf[v] = 2
	}
	common := s.net.commonRate()
	most := endless / int64(len(s.net.rate)+1) // so that their sum is below endless
	for l, rate := range s.net.rate {
		h.room[l] = min(int64(rate)/common, most)
	}
	return h
}

// between considers the least cut from some ranks to the others, and that back, unless too much
// work was done before.
//
// Links from one side straight to the other are in every such cut. If they carry what must cross as
// fast as the best bound so far, no flow is needed.
func (h *bisector) between(in func(r int) bool) {
	s := h.search
	if h.work > s.limits.work {
		s.found.Partial = true
		return
	}
	for r, v := range s.net.ranks {
		h.side[r] = 1
		if in(r) {
			h.side[r] = 0
		}
		h.sideOf[v] = h.side[r]
	}
	sent, _ := h.traffic.between(2, h.side)
	straight := [2]cutBound{noLinks(sent[0]), noLinks(sent[1])}
	for l, from := range s.net.from {
		if a, b := h.sideOf[from], h.sideOf[s.net.to[l]]; a != b && a+b == 1 {
			straight[a] = straight[a].over(s.net.rate[l], s.net.lead[l])
		}
	}
	for near, c := range straight {
		if c.rate == 0 || c.exceeds(s.best) {
			h.cut(int32(near), sent[near])
		}
	}
	h.work += int64(len(h.room))
	if s.spec.Kind == collective.AllToAllV {
		h.work += int64(s.spec.Ranks) * int64(s.spec.Ranks)
	}
}

// cut considers the least cut around the ranks of one side, which send so many bytes to the others.
func (h *bisector) cut(near int32, bytes int64) {
	s := h.search
	var from []int32
	for r, v := range s.net.ranks {
		h.drain[v] = endless
		if h.side[r] == near {
			h.drain[v] = 0
			from = append(from, v)
		}
	}
	h.run(from, endless)
	c := s.net.across(h.reached, false, noLinks(bytes))
	s.consider(c, func() string { return s.describeCut(h.reached, false) })
}
