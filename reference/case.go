package reference

import (
	"collsim/collective"
	"collsim/schedule"
)

// A Case is outputs of a schedule, as the interpreter computes them, that are to be compared with
// another implementation's (theirs). Positions are the schedule's ranks.
type Case struct {
	Schedule   *schedule.Schedule
	Ranks      []int    // names of positions: a team's ranks have other numbers
	Inputs     [][]byte // by position, in the collective's layout
	Accumulate Accumulate
	Report     Report // on the interpreter's outputs
	Altered    bool   // outputs are not the schedule's: they were scaled or masked

	// Moves maps the output tensor of a position to the output of the collective; nil where both
	// have one layout.
	Moves func(position int) []collective.Move
	// TermsOf returns the order in which a schedule adds an element, and the number of elements
	// from it on with the same order; package proof implements it.
	TermsOf func(s *schedule.Schedule) (func(position int, element int64) (*schedule.Term, int64,
		error), error)

	typed typed
	terms func(position int, element int64) (*schedule.Term, int64, error) // see term
}

// BitComparison counts how a result compares with theirs, bit for bit. All NaN are equal, since
// hardware and libraries differ in their payloads.
type BitComparison struct {
	Elements  int64       // compared, of all ranks
	Different int64       // of these
	Ranks     int         // with different elements
	First     *Difference // at the lowest rank and element that differs and is not wrong; nil if none

	// Wrong counts elements of theirs outside the bound of any order of additions, on WrongRanks
	// ranks; Outside has the first of them. Undefined says that this is unknown: the kind custom
	// has no definition.
	Wrong      int64
	WrongRanks int
	Outside    []Outside
	Undefined  bool
	Altered    bool // theirs are not judged: they were scaled or masked

	Shared   bool          // all ranks of a team should have the same elements
	Disagree *Disagreement // the first ranks that differ although they should not; else nil
}

// A Disagreement is two ranks that should hold the same elements but do not: the lowest rank of a
// team, and the first that differs from it.
type Disagreement struct {
	Ranks    [2]int
	Elements int64 // that differ between them
	First    int64 // of these, in C order
	Theirs   [2]Bits
}

// bits formats an element.
func (t *Case) bits(element []byte) Bits { return bitsOf(t.typed, element) }

// same reports whether two elements have the same bits, or are both NaN.
func (t *Case) same(a, b []byte) bool {
	return string(a) == string(b) || t.typed.isNaN(a) && t.typed.isNaN(b)
}

// Compare compares outputs, by position, with theirs, which another implementation has computed
// from the same inputs. It finds whether the bits are the same, whether theirs are wrong if not,
// and whether theirs agree on all ranks. It adds to the results of a comparison of other teams.
func (t *Case) Compare(theirs, ours [][]byte, c *BitComparison) error {
	t.typed = typeOf(t.Schedule.Spec.Type)
	c.Shared = c.Shared || t.shared()
	width, before := int64(t.Schedule.Spec.Type.Width()), c.Different
	for position := range t.Ranks {
		c.Elements += int64(len(ours[position])) / width
		different := c.Different
		t.differing(theirs[position], ours[position], func(int64) bool {
			c.Different++
			return true
		})
		if c.Different > different {
			c.Ranks++
		}
	}
	t.agreement(theirs, c)
	if c.Different == before && t.Report.Wrong == 0 {
		c.Undefined = c.Undefined || t.Report.Numbers == NumbersOff
		return nil
	}
	wrong, err := t.outside(theirs, c)
	if err != nil {
		return err
	}
	for position, rank := range t.Ranks {
		if c.First != nil && c.First.Rank < rank {
			continue
		}
		a, b := theirs[position], ours[position]
		t.differing(a, b, func(element int64) bool {
			if wrong[position] != nil && wrong[position][t.flat(position, element)] {
				return true
			}
			c.First = t.explain(position, element, theirs, ours, wrong)
			return false
		})
	}
	return nil
}

// shared reports whether all ranks of the team should have the same elements. Masked and local
// gradients differ between ranks.
func (t *Case) shared() bool { return t.Schedule.Spec.Kind.Shared() && !t.Altered }

// differing calls f with the elements in which two tensors differ, until it returns false.
func (t *Case) differing(a, b []byte, f func(element int64) bool) {
	width := t.Schedule.Spec.Type.Width()
	if string(a) == string(b) {
		return
	}
	for at := 0; at < len(b); at += width {
		if !t.same(a[at:at+width], b[at:at+width]) && !f(int64(at/width)) {
			return
		}
	}
}

// agreement finds the first ranks of theirs that should have the same bits but do not.
func (t *Case) agreement(theirs [][]byte, c *BitComparison) {
	if !t.shared() || c.Disagree != nil {
		return
	}
	width, first := int64(t.Schedule.Spec.Type.Width()), t.Ranks[0]
	for i, rank := range t.Ranks[1:] {
		a, b := theirs[0], theirs[i+1]
		var d *Disagreement
		t.differing(a, b, func(element int64) bool {
			if d == nil {
				at := element * width
				d = &Disagreement{Ranks: [2]int{first, rank}, First: element,
					Theirs: [2]Bits{t.bits(a[at : at+width]), t.bits(b[at : at+width])}}
			}
			d.Elements++
			return true
		})
		if d != nil {
			c.Disagree = d
			return
		}
	}
}

// flattened returns a position's output tensor in the collective's layout.
func (t *Case) flattened(position int, tensor []byte) []byte {
	if t.Moves == nil || tensor == nil {
		return tensor
	}
	spec := &t.Schedule.Spec
	width := int64(spec.Type.Width())
	flat := make([]byte, spec.Out(position)*width)
	for _, m := range t.Moves(position) {
		copy(flat[m.Flat*width:(m.Flat+m.Len)*width], tensor[m.Tensor*width:])
	}
	return flat
}

// unflat returns the index in its tensor of an element of a position's output.
func (t *Case) unflat(position int, element int64) int64 {
	if t.Moves == nil {
		return element
	}
	for _, m := range t.Moves(position) {
		if element >= m.Flat && element < m.Flat+m.Len {
			return m.Tensor + element - m.Flat
		}
	}
	panic("reference: an element in no part of its tensor")
}

// flat returns the index in the collective's output of an element of a position's output tensor.
func (t *Case) flat(position int, element int64) int64 {
	if t.Moves == nil {
		return element
	}
	for _, m := range t.Moves(position) {
		if element >= m.Tensor && element < m.Tensor+m.Len {
			return m.Flat + element - m.Tensor
		}
	}
	panic("reference: an element in no part of its tensor")
}
