package reference

import (
	"collsim/collective"
	"collsim/dtype"
	"collsim/kernel"
)

func (c complexes[T]) define(spec *collective.Spec, in [][]byte) ([][]byte, error) {
	inComponents := spec.InComponents()
	return c.as.define(&inComponents, in)
}

// typeOf returns the type of a value's elements, complex or not.
func (d *script) typeOf(value int) dtype.Type {
	if value < len(d.s.Tensors) {
		return d.s.Tensors[value].Type
	}
	return d.types[value]
}

// inComponents turns a script into one on components.
func (d *script) inComponents() {
	each := make([]int64, len(d.types))
	for i, t := range d.types {
		each[i] = int64(t.Components())
		d.types[i], d.lengths[i] = t.Component(), d.lengths[i]*each[i]
	}
	longer := func(p place) place {
		offsets := make([]int64, len(p.offsets))
		for k, off := range p.offsets {
			offsets[k] = off * each[p.value]
		}
		return place{p.value, offsets}
	}
	for i := range d.lines {
		l := &d.lines[i]
		from := make([]place, len(l.from))
		for k, p := range l.from {
			from[k] = longer(p)
		}
		l.from, l.to = from, longer(l.to)
		if l.spec != nil {
			spec := l.spec.InComponents()
			l.spec = &spec
		}
		if l.kernel != nil {
			op := kernel.InComponents(*l.kernel)
			l.kernel = &op
		}
	}
}
