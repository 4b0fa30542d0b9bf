package bounds

import "collsim/collective"

// halves claims the least cuts between certain ranks and the others, both ways. These are, for
// every divisor b of the number of ranks, the ranks in the first half of each run of b (that is how
// grids and hierarchies with numbered dimensions are halved), and every run, if there are few.
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

// halver finds least cuts between two sets of ranks.
type bisector struct {
	maxFlow
	search  *search
	traffic traffic
	side    []int32 // by rank: 0 or 1
	sideOf  []int32 // by node: the side of its rank, or 2
}

func (s *search) newBisector(t traffic) *bisector {
	h := &bisector{maxFlow: s.net.newFlow(false), search: s, traffic: t,
		side: make([]int32, s.spec.Ranks), sideOf: make([]int32, len(s.net.rank))}
	for v := range h.sideOf {
		h.sideOf[v] = 2
	}
	common := s.net.commonRate()
	most := endless / int64(len(s.net.rate)+1) // all together are less than endless
	for l, rate := range s.net.rate {
		h.room[l] = min(int64(rate)/common, most)
	}
	return h
}

// between claims the least cut from some ranks to the others and that from the others to them,
// unless there was too much work before.
//
// The links from one side straight to the other are in every such cut. Where they are enough to
// carry what must cross as fast as the best claim so far, there is nothing to be found.
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

// cut claims the least cut from the ranks of one side, which send so many bytes to the others.
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
