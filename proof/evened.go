package proof

import (
	"collsim/collective"
	"collsim/schedule"
	"collsim/unit"
)

// Blocks that do not divide a vector evenly differ by an element, and no rank stands for another.
// An all-reduce then has the proof of the same steps on blocks of one size (schedule.Evened), if
// every element that is stored there is stored at its own place in the vector.
//
// For then a message holds the blocks that its sender names, what is added to it are the same
// blocks, and so are those in which it is stored. Blocks of other sizes, whose elements are as many
// on both sides, meet in the same way. Where an element is stored at another's place, sizes would
// matter; all ranks are walked.

// evenedOf returns the schedule that evened proofs walk, its folding, and the lengths of strips of
// the schedule itself; nil where there is none.
func evenedOf(s *schedule.Schedule, o Options) (*schedule.Schedule, *folding, []int64) {
	if s.Group == nil || s.Spec.Kind != collective.AllReduce || o.Traffic || s.SameSizes() {
		return nil, nil, nil
	}
	even, strips, ok := s.Evened()
	if !ok {
		return nil, nil, nil
	}
	f, _ := foldingOf(even, o)
	if f == nil || f.copies || len(f.strips) != len(strips) {
		return nil, nil, nil
	}
	return even, f, strips
}

// verifyEvened proves an all-reduce by a folded walk on blocks of one size; nil where that does not
// prove it.
func verifyEvened(s *schedule.Schedule, o Options) *Proof {
	even, f, strips := evenedOf(s, o)
	if even == nil {
		return nil
	}
	return proveEvened(even, f, strips, o)
}

// proveEvened proves a schedule by a walk of one rank; nil where that does not prove it. Unless
// strips is nil, another schedule is proven, whose strips have these lengths: each element must
// then be stored at its own place.
func proveEvened(even *schedule.Schedule, f *folding, strips []int64, o Options) *Proof {
	v := newVerifier(even)
	v.fold = f
	if strips != nil {
		v.places = &places{}
	}
	p, _ := v.prove(o, nil)
	if p == nil || p.Walked != 1 || f.misaligned || strips != nil && v.places.isLeft {
		return nil
	}
	if strips == nil {
		return p
	}
	elements := int64(0)
	for i, n := range v.places.sent {
		// All ranks together send each element of a strip as often.
		times := n / f.strips[i].Size
		elements = unit.AddCapped(elements, unit.MultiplyCapped(times, strips[i]))
	}
	p.BytesSent = unit.MultiplyCapped(elements, v.width())
	return p
}
