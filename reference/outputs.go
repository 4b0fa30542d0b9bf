package reference

import (
	"fmt"

	"collsim/collective"
	"collsim/dtype"
)

// Inputs makes each rank's input for a collective, of the same numbers that Check uses: every
// element is a function of the seed, the rank and its index alone.
func Inputs[T dtype.Number](spec collective.Spec, data Data, seed uint64) ([][]T, error) {
	inputs := make([][]T, max(spec.Ranks, 0))
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	for rank := range inputs {
		inputs[rank] = make([]T, spec.In(rank))
	}
	if err := fits(&spec, inputs); err != nil {
		return nil, err
	}
	g := newGenerator[T](&spec, data, seed)
	for rank, in := range inputs {
		g.fill(in, rank, 0)
	}
	return inputs, nil
}

// Compare compares outputs, computed from these inputs by any implementation, with the definition,
// as Check does without a schedule. Inputs and outputs have the lengths of Spec.In and Spec.Out;
// other lengths, and a type that is not T, are errors. Spec.InPlace is ignored. The bound holds for
// any order of additions, and for both ways to take a mean. Sums may be rounded to T one by one, or
// in any groups at once, as a step does with InFloat32.
func Compare[T dtype.Number](spec collective.Spec, inputs, outputs [][]T) (Report, error) {
	return CompareEach(spec, inputs, outputs, nil)
}

// CompareEach does what Compare does, and calls wrong, unless it is nil, with each element that is
// out of bounds, and the right value: by rank, then element.
func CompareEach[T dtype.Number](spec collective.Spec, inputs, outputs [][]T,
	wrong func(rank int, element int64, want T)) (Report, error) {
	if err := fits(&spec, inputs); err != nil {
		return Report{}, err
	}
	if spec.Kind == collective.Custom {
		return Report{Numbers: NumbersOff, Why: undefined}, nil
	}
	if len(outputs) != spec.Ranks {
		return Report{}, fmt.Errorf("outputs of %d ranks; there are %d", len(outputs),
			spec.Ranks)
	}
	for rank, out := range outputs {
		if int64(len(out)) != spec.Out(rank) {
			return Report{}, fmt.Errorf("rank %d has %d output elements; %d are expected",
				rank, len(out), spec.Out(rank))
		}
	}
	spec.Avg = collective.AvgNCCL // of the two, the one that may be further off
	c := newComparison(newDefinition(&spec, reader(inputs), false), rounding{n: spec.Ranks,
		height: spec.Ranks - 1, widens: InFloat32.widens(spec.Type)})
	c.each = wrong
	return judge(c, outputs), nil
}

// judge compares the outputs of all ranks. REQUIRES: they have the lengths of Spec.Out.
func judge[T dtype.Number](c *comparison[T], outputs [][]T) Report {
	if c.common {
		c.given(outputs, 0)
	} else {
		for rank := range outputs {
			c.given(outputs[rank:rank+1], rank)
		}
	}
	r, spec := together([]*comparison[T]{c}), c.d.spec
	if r.Checked = spec.Count; spec.Kind.Splits() {
		for rank := range outputs {
			r.Checked = max(r.Checked, spec.In(rank), spec.Out(rank))
		}
	}
	return r
}

// given compares the outputs of ranks that should be the same, from the first of them on.
func (c *comparison[T]) given(outputs [][]T, first int) {
	n := int64(len(outputs[0]))
	for off := int64(0); off < n; {
		o := c.d.origin(first, off)
		o.n = min(o.n, n-off, block)
		for i, out := range outputs {
			c.elements(first+i, off, out[off:off+o.n], o)
		}
		off += o.n
	}
}
