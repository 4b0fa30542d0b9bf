package proof

import (
	"cmp"
	"slices"

	"collsim/schedule"
)

// places follows a folded walk on blocks of one size.
type places struct {
	isLeft bool    // an element is stored at another's place, or one of unknown place is
	sent   []int64 // by strip: elements that the walked rank sends
}

// sends counts the elements of segments that are sent, by strip.
func (p *places) sends(strips []schedule.Strip, segs []seg) {
	for _, g := range segs {
		for g.n > 0 {
			i, found := slices.BinarySearchFunc(strips, g.off,
				func(s schedule.Strip, off int64) int { return cmp.Compare(s.Off, off) })
			if !found {
				i--
			}
			n := g.n
			if i+1 < len(strips) {
				n = min(n, strips[i+1].Off-g.off)
			}
			p.sent[i] += n
			g.n, g.off = g.n-n, g.off+n
		}
	}
}

// stores notes whether segments are stored in spans of a vector at their own places.
func (p *places) stores(spans []schedule.Span, segs []seg) {
	i, done := 0, int64(0)
	for _, s := range spans {
		for s.Len > 0 {
			g := &segs[i]
			n := min(s.Len, g.n-done)
			if g.v == nil || g.v == spoilt || g.off+done != s.Off {
				p.isLeft = true
				return
			}
			s.Off, s.Len = s.Off+n, s.Len-n
			if done += n; done == g.n {
				i, done = i+1, 0
			}
		}
	}
}
