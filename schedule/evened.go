package schedule

import (
	"reflect"

	"collsim/collective"
)

// Evened returns the schedule of an all-reduce on the shortest vectors that its cuts divide evenly:
// the same steps on blocks whose slices are one element each. It also returns the lengths of the
// strips (Strips) of s itself. It reports false unless input and output are cut alike, by even
// splits, the last one into blocks that are numbered by ranks; and where a slice would be empty, or
// scratch memory is used.
func (s *Schedule) Evened() (even *Schedule, strips []int64, ok bool) {
	cut := s.Cuts[Input]
	last := len(cut) - 1
	if s.Spec.Kind != collective.AllReduce || s.teams != nil || s.parts != nil || s.each > 1 ||
		s.Memory > 0 || last < 0 || cut[last].Axis != Block || !cut[last].ByRank ||
		!reflect.DeepEqual(cut, s.Cuts[Output]) {
		return nil, nil, false
	}
	count := int64(s.Slices)
	for _, l := range cut {
		if l.Split != Even || l.N > s.Spec.Count/count {
			return nil, nil, false
		}
		count *= l.N
	}
	other := *s
	other.Spec.Count = count
	if other.settle() != nil {
		return nil, nil, false
	}
	return &other, stripLengths(cut[:last], s.Spec.Count), true
}

// stripLengths lists the lengths of the parts that the levels of a cut divide a length into.
func stripLengths(cut Cut, length int64) []int64 {
	within := []span{{0, length}}
	for _, l := range cut {
		var parts []span
		for _, w := range within {
			for i := range l.N {
				parts = append(parts, l.part(w, i, 0))
			}
		}
		within = parts
	}
	lengths := make([]int64, len(within))
	for i, w := range within {
		lengths[i] = w.len
	}
	return lengths
}
