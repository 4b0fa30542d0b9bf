package run

import (
	"collsim/formats/arrays"
	"collsim/reference"
)

// Comparison is how a result compares with somebody else's, bit for bit; but any NaN equals any
// other, since hardware and libraries differ in their payloads.
type Comparison struct {
	File      string
	Why       string      // nothing was compared: why; empty where it was
	Elements  int64       // compared, of all ranks
	Different int64       // of them
	Ranks     int         // that have different elements
	First     *Difference // of the lowest rank and element that is not wrong; nil if there is none

	// Wrong is how many elements of theirs lie outside the bound of any order of additions, on
	// WrongRanks ranks; Outside has the first of them. Undefined says that nobody can tell: the kind
	// custom has no definition.
	Wrong      int64
	WrongRanks int
	Outside    []Outside
	Undefined  bool
	Altered    bool // theirs are not judged: they were scaled or masked

	Shared   bool          // all ranks of a team should have the same
	Disagree *Disagreement // the first ranks that have not; nil if there are none
}

// Equal reports whether theirs are the bits that the schedule gives.
func (c *Comparison) Equal() bool { return c.Why == "" && c.Different == 0 }

// unproven is why nothing is compared with a schedule that is wrong.
const unproven = "the schedule is wrong, so there is nothing to compare with"

// Disagreement is two ranks that should hold the same elements, and do not: the lowest rank of a
// team, and the first that differs from it.
type Disagreement struct {
	Ranks    [2]int
	Elements int64 // that differ between them
	First    int64 // of these, in C order
	Theirs   [2]Bits
}

// same reports whether two elements have the same bits, or are both NaN.
func (n *number) same(a, b []byte) bool {
	return string(a) == string(b) || n.isNaN(a) && n.isNaN(b)
}

// compare holds a team's outputs against theirs: are they the same bits, if not are they wrong, and
// are theirs the same on all ranks?
func (t *teamRun) compare(theirs, ours []arrays.Array, c *Comparison) error {
	c.Shared = c.Shared || t.shared()
	width, before := int64(t.schedule.Spec.Type.Width()), c.Different
	for _, rank := range t.team {
		c.Elements += int64(len(ours[rank].Data)) / width
		different := c.Different
		t.differing(theirs[rank].Data, ours[rank].Data, func(int64) bool {
			c.Different++
			return true
		})
		if c.Different > different {
			c.Ranks++
		}
	}
	t.agreement(theirs, c)
	if c.Different == before && t.played.report.Wrong == 0 {
		c.Undefined = c.Undefined || t.played.report.Numbers == reference.NumbersOff
		return nil
	}
	wrong, err := t.outside(theirs, c)
	if err != nil {
		return err
	}
	for place, rank := range t.team {
		if c.First != nil && c.First.Rank < rank {
			continue
		}
		a, b := theirs[rank].Data, ours[rank].Data
		t.differing(a, b, func(element int64) bool {
			if wrong[place] != nil && wrong[place][t.flat(place, element)] {
				return true
			}
			c.First = t.explain(place, element, a, b, wrong[place])
			return false
		})
	}
	return nil
}

// shared reports whether all ranks of the team should have the same. Of gradients that are masked
// each has its own, and so has a local one.
func (t *teamRun) shared() bool { return t.schedule.Spec.Kind.Shared() && !t.altered }

// differing calls f with the elements in which two tensors differ, until it returns false.
func (t *teamRun) differing(a, b []byte, f func(element int64) bool) {
	width := t.schedule.Spec.Type.Width()
	if string(a) == string(b) {
		return
	}
	for at := 0; at < len(b); at += width {
		if !t.number.same(a[at:at+width], b[at:at+width]) && !f(int64(at/width)) {
			return
		}
	}
}

// agreement finds the first ranks of theirs that should have the same bits and have not.
func (t *teamRun) agreement(theirs []arrays.Array, c *Comparison) {
	if !t.shared() || c.Disagree != nil {
		return
	}
	width, first := int64(t.schedule.Spec.Type.Width()), t.team[0]
	for _, rank := range t.team[1:] {
		a, b := theirs[first].Data, theirs[rank].Data
		var d *Disagreement
		t.differing(a, b, func(element int64) bool {
			if d == nil {
				at := element * width
				d = &Disagreement{Ranks: [2]int{first, rank}, First: element,
					Theirs: [2]Bits{t.number.bits(a[at : at+width]), t.number.bits(b[at : at+width])}}
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
