package topology

import (
	"cmp"
	"slices"

	"collsim/unit"
)

// Rings returns, for each channel, an order of ranks in which they form a ring. The orders load the
// links between them as evenly as their rates allow. An order lists indices of ranks and begins
// with the first. If the ranks' own order loads no link more than any other ring would (on a
// switch), all channels have it.
//
// NCCL searches rings of a node likewise (src/graph/search.cc), with speeds from a list and by the
// type of path. Here each channel in turn takes the ring of the least cost. The cost is a sum over
// its links: the fourth power of the link's rings divided by its rate. So the busiest links count
// most. For up to 8 ranks all rings are tried. For more, a bounded number is tried, cheap links
// first.
func (g *Graph) Rings(ranks []int32, channels int) [][]int32 {
	s := newRingSearch(g, ranks)
	rings := make([][]int32, channels)
	for c := range rings {
		rings[c] = s.next()
	}
	return rings
}

// NICTo returns the NIC of its node by which messages of a rank leave to another, −1 if they leave
// none.
func (g *Graph) NICTo(src, dst int) int {
	if g.parts == nil || g.parts.nics == 0 {
		return -1
	}
	for _, l := range g.Route(src, dst, nil) {
		if v := g.Link(l).To - g.parts.fabric; v >= 0 {
			return int(g.parts.nicOf(v))
		}
	}
	return -1
}

// maxRingTries bounds the steps of the search for one ring: all that 8 ranks need.
const maxRingTries = 20_000

// ringSearch finds rings one after the other.
type ringSearch struct {
	ranks []int32
	links [][]int32   // by pair of ranks, the links of the route, numbered from 0
	rates []unit.Rate // by link
	load  []int       // by link: number of rings that use it so far

	order   []int32 // the current ring, as indices of ranks
	isIn    []bool  // by index of a rank
	best    []int32
	cost    float64 // of best
	triesAt int
}

func newRingSearch(g *Graph, ranks []int32) *ringSearch {
	n := len(ranks)
	s := &ringSearch{ranks: ranks, links: make([][]int32, n*n), isIn: make([]bool, n)}
	numbers := map[int32]int32{}
	for a, from := range ranks {
		for b, to := range ranks {
			if a == b {
				continue
			}
			for _, l := range g.Route(int(from), int(to), nil) {
				number, ok := numbers[l]
				if !ok {
					number = int32(len(numbers))
					numbers[l] = number
					s.rates = append(s.rates, g.Link(l).Bandwidth)
				}
				s.links[a*n+b] = append(s.links[a*n+b], number)
			}
		}
	}
	s.load = make([]int, len(s.rates))
	return s
}

// next returns the best further ring, and adds its load to the links.
func (s *ringSearch) next() []int32 {
	n := len(s.ranks)
	s.order, s.best, s.cost, s.triesAt = []int32{0}, nil, 0, 0
	clear(s.isIn)
	s.isIn[0] = true
	s.inOrder()
	if n > 2 {
		s.extend(0)
	}
	for i, at := range s.best {
		for _, l := range s.links[int(at)*n+int(s.best[(i+1)%n])] {
			s.load[l]++
		}
	}
	return s.best
}

// inOrder makes the ranks' own order the best so far.
func (s *ringSearch) inOrder() {
	n := len(s.ranks)
	for i := range n {
		s.best = append(s.best, int32(i))
		s.cost += s.more(i, (i+1)%n)
	}
}

// more returns the cost of the route from one rank to another.
func (s *ringSearch) more(from, to int) (cost float64) {
	for _, l := range s.links[from*len(s.ranks)+to] {
		busy := float64(s.load[l]+1) / (float64(s.rates[l]) / float64(unit.GB))
		square := float64(busy * busy) // the conversions keep processors from rounding otherwise
		cost += float64(square * square)
	}
	return cost
}

// extend tries all continuations of the current ring, whose cost is given, the cheapest first.
func (s *ringSearch) extend(cost float64) {
	n, last := len(s.ranks), int(s.order[len(s.order)-1])
	if len(s.order) == n {
		if cost += s.more(last, 0); isLess(cost, s.cost) {
			s.cost, s.best = cost, slices.Clone(s.order)
		}
		return
	}
	type step struct {
		to   int
		cost float64
	}
	var steps []step
	for to := range n {
		if !s.isIn[to] {
			steps = append(steps, step{to, cost + s.more(last, to)})
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.cost, b.cost) })
	for _, w := range steps {
		if s.triesAt++; s.triesAt > maxRingTries || !isLess(w.cost, s.cost) {
			return
		}
		s.order, s.isIn[w.to] = append(s.order, int32(w.to)), true
		s.extend(w.cost)
		s.order, s.isIn[w.to] = s.order[:len(s.order)-1], false
	}
}

// isLess compares costs; sums of the same terms in another order are equal.
func isLess(a, b float64) bool { return a < float64(b*(1-1e-9)) }
