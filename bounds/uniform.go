package bounds

import (
	"slices"

	"collsim/collective"
)

// isUniform reports whether any rank can be put in the place of any other, as in a torus, and the
// collective tells none from another but for a root; and no node is more than a rank.
func (s *search) isUniform() bool {
	g := s.net.graph
	return g.Alike() && g.NumNodes() == len(s.net.ranks) && !s.spec.Kind.Splits() &&
		s.spec.Kind != collective.SendRecv
}

// rootsOf are the roots of a family whose cuts are looked at, in order. In a uniform network a cut
// that is as bad as any has a certain rank inside; or, where one rank is always outside, that rank
// outside and one next to it inside: some link leads from the inside of a cut to its outside, and
// that can be put so that it leads to this rank.
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
