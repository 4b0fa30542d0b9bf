package proof

import (
	"fmt"
	"slices"

	"collsim/schedule"
)

// verifyMeaning checks that the parts of a composed schedule define what the program means
// (schedule.Meaning). For every element of a result, both definitions must give the same value.
// That the steps compute what the parts define is proven before. made is the evaluated definition
// of the parts; nil: it is evaluated here.
func verifyMeaning(s *schedule.Schedule, made *definition) (found []*schedule.Violation) {
	ops := s.Means.Ops
	if made == nil {
		made = newVerifier(s).define(0)
	}
	x := newVerifier(ops)
	x.formulas = made.f
	meant := x.definedAs(s)
	for i := range ops.Tensors {
		t := &ops.Tensors[i]
		if !t.Role.IsResult() {
			continue
		}
		named := schedule.Place{Tensor: schedule.FirstTensor + schedule.Buffer(i)}
		for rank := range ops.Spec.Ranks {
			n := t.Shape.Elements()
			off := int64(0)
			zip(nil, meant.elements(named, rank, n), made.elements(s.Means.Where[i], rank, n),
				func(want, got seg) seg {
					k := min(want.n, got.n)
					if v := x.differs(want, got); v != nil && len(found) < maxViolations {
						v.Rank = rank
						v.Text = fmt.Sprintf("%s %s %s, by the program as it is written", t.Name,
							elements(off, k), v.Text)
						found = append(found, v)
					}
					off += k
					return want
				})
		}
	}
	return found
}

// differs explains how elements differ from what is wanted. It is nil if they do not, or if nothing
// is wanted.
func (v *verifier) differs(want, got seg) *schedule.Violation {
	x := &schedule.Violation{Kind: schedule.Missing, Lane: -1, Step: -1, Chunk: -1}
	switch {
	case want.v == nil || want.v == spoilt || got.v == want.v && got.off == want.off:
		return nil
	case got.v == nil || got.v == spoilt:
		x.Text = "is left open"
	default:
		x.Kind, x.Text = v.formulas.differ(got, want, 0)
	}
	return x
}

// definedAs evaluates the definition with given tensors identified, by name, with those of another
// schedule.
func (v *verifier) definedAs(named *schedule.Schedule) *definition {
	d := &definition{f: v.formulas, all: newFewStores(v.s)}
	for _, b := range v.given {
		t := v.s.Tensor(b)
		if t == nil {
			continue
		}
		as := slices.IndexFunc(named.Tensors, func(u schedule.Tensor) bool { return u.Name == t.Name })
		for rank := range v.s.Spec.Ranks {
			m, base := d.all.of(b, rank)
			value := v.formulas.given(schedule.FirstTensor+schedule.Buffer(as), t.Type, rank, 0)
			n := v.s.Len(b, rank)
			m.write(schedule.Span{Off: base, Len: n}, []seg{{n, value, 0}}, 0)
		}
	}
	d.parts(v.s)
	return d
}

// elements returns count elements that a rank holds at a place.
func (d *definition) elements(at schedule.Place, rank int, count int64) (all []seg) {
	m, base := d.all.of(at.Tensor, rank)
	for _, g := range m.read(nil, schedule.Span{Off: base + at.Offset(rank), Len: count}) {
		all = appendSeg(all, g)
	}
	return all
}
