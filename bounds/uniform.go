package bounds

import (
	"slices"

	"collsim/collective"
)

// isUniform reports whether all ranks are interchangeable, as in a torus, and every node has a
// rank. The collective may distinguish only a root.
func (s *search) isUniform() bool {
	g := s.net.graph
	return g.Alike() && g.NumNodes() == len(s.net.ranks) && !s.spec.Kind.Splits() &&
		s.spec.Kind != collective.SendRecv
}

// rootsOf returns the roots of a family whose cuts must be tried, in order. In a uniform network
// some worst cut has a given rank inside. If one rank is always outside, some worst cut has a
// neighbour of that rank inside. For some link crosses the cut, and by symmetry it can be taken to
// end at that rank.
func (s *search) rootsOf(f cutFamily) []int {
	roots := s.net.scattered(f.roots)
	switch {
	case len(roots) <= 1 || !s.isUniform():
		return roots
	case len(roots) == len(s.net.ranks):
		return roots[:1]
	}
	outside := s.net.ranks[slices.IndexFunc(f.held, func(bytes int64) bool { return bytes > 0 })]
	var next []int32
	for _, l := range s.net.out.of(outside) {
		next = append(next, s.net.to[l])
	}
	for _, l := range s.net.in.of(outside) {
		next = append(next, s.net.from[l])
	}
	return slices.DeleteFunc(roots, func(r int) bool { return !slices.Contains(next, s.net.ranks[r]) })
}
