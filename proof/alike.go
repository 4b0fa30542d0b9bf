package proof

import (
	"fmt"
	"slices"

	"collsim/schedule"
)

// Pair is elements of every rank that two schedules are to agree on.
type Pair struct {
	Name  string
	A, B  schedule.Place
	Count int64
}

// Alike says where two programs, or composed schedules, define different values, for some values
// that they are given in tensors of equal names: nil if they agree on all pairs. That their steps
// compute what they define is for Verify to say.
func Alike(a, b *schedule.Schedule, pairs []Pair) error {
	if a.Spec.Ranks != b.Spec.Ranks {
		return fmt.Errorf("proof: %d and %d ranks", a.Spec.Ranks, b.Spec.Ranks)
	}
	x, y := newVerifier(a), newVerifier(b)
	x.formulas = newFormulas(a)
	y.formulas = x.formulas
	first, second := x.definedAs(a), y.definedAs(a)
	for _, p := range pairs {
		for rank := range a.Spec.Ranks {
			v, w := first.elements(p.A, rank, p.Count), second.elements(p.B, rank, p.Count)
			if !slices.Equal(v, w) {
				return fmt.Errorf("proof: %s of rank %d is not the same", p.Name, rank)
			}
		}
	}
	return nil
}

// definedAs evaluates the definition on what is given under the names that tensors have in another
// schedule.
func (v *verifier) definedAs(named *schedule.Schedule) *definition {
	d := &definition{f: v.formulas, all: newStores(v.s, 1, v.s.Spec.Ranks)}
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

// elements are what a place of a rank holds.
func (d *definition) elements(at schedule.Place, rank int, count int64) (all []seg) {
	m, base := d.all.of(at.Tensor, rank)
	for _, g := range m.read(nil, schedule.Span{Off: base + at.Offset(rank), Len: count}) {
		all = appendSeg(all, g)
	}
	return all
}
