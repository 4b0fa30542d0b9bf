package reference

import (
	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// Complex numbers are computed on their components: whatever an operator, a copy or a kernel does
// to them, it does to the real and the imaginary parts alone. So a schedule, a definition or a line
// of a program is turned into one on twice as many floats, and only places and texts of elements
// are those of complex numbers.

// complexes implements typed for complex numbers with components of type T.
type complexes[T float32 | float64] struct{ as[T] }

func (c complexes[T]) run(s *schedule.Schedule, inputs [][]byte, o RunOptions) ([][]byte, error) {
	return c.as.run(schedule.InComponents(s), inputs, o)
}

func (c complexes[T]) text(element []byte) string {
	re, im := c.parts(element)
	text := c.as.text(im)
	if text[0] != '-' && text[0] != '+' {
		text = "+" + text
	}
	return c.as.text(re) + text + "i"
}

func (c complexes[T]) isNaN(element []byte) bool {
	re, im := c.parts(element)
	return c.as.isNaN(re) || c.as.isNaN(im)
}

// parts returns the real and the imaginary part of an element.
func (complexes[T]) parts(element []byte) (re, im []byte) {
	half := len(element) / 2
	return element[:half], element[half:]
}

func (c complexes[T]) outside(spec *collective.Spec, in, out [][]byte,
	wrong func(position int, element int64, right []byte)) error {
	inComponents := spec.InComponents()
	inputs := make([][]T, len(in))
	for i := range in {
		inputs[i] = getAll[T](in[i])
	}
	var right [][]T
	position, element := -1, int64(-1) // the last reported
	return c.as.outside(&inComponents, in, out, func(p int, component int64, _ []byte) {
		at := component / 2
		if p == position && at == element {
			return
		}
		if position, element = p, at; right == nil {
			right, _ = Define(inComponents, inputs) // as the comparison has done, without an error
		}
		wrong(p, at, put(right[p][2*at:][:2]))
	})
}

func (c complexes[T]) one() []byte { return put([]T{1, 0}) }

func (c complexes[T]) unwritten() []byte { return put([]T{unwritten[T](), unwritten[T]()}) }

// checkComponents checks a collective of complex numbers by its components (Check).
func checkComponents(s *schedule.Schedule, o CheckOptions) (Report, error) {
	each := int64(s.Spec.Type.Components())
	if rebuild := o.Rebuild; rebuild != nil {
		o.Rebuild = func(count int64) (*schedule.Schedule, error) {
			next, err := rebuild(count / each)
			if err != nil {
				return nil, err
			}
			return schedule.InComponents(next), nil
		}
	}
	o.Most *= each
	r, err := Check(schedule.InComponents(s), o)
	return InElements(r, s.Spec.Type), err
}

// InElements returns a report on the components of elements of a type as one on the elements: the
// number that were checked, and the first wrong one. Wrong still counts components.
func InElements(r Report, t dtype.Type) Report {
	r.Checked /= int64(t.Components())
	if r.First != nil {
		first := *r.First
		first.ofComponent(t)
		r.First = &first
	}
	return r
}

// ofComponent makes a mismatch of a component that of its complex number.
func (m *Mismatch) ofComponent(t dtype.Type) {
	if !t.IsComplex() {
		return
	}
	part := " (real part)"
	if m.Element%2 == 1 {
		part = " (imaginary part)"
	}
	m.Element, m.Got, m.Want = m.Element/2, m.Got+part, m.Want+part
}
