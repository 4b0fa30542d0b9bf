package reference

import (
	"fmt"

	"collsim/schedule"
)

// ofWhole converts values of the whole's tensors to values of the meaning's, where these are
// stored.
func (d *script) ofWhole(values Tensors) Tensors {
	if d.s == d.whole {
		return values
	}
	all := make(Tensors, len(d.s.Tensors))
	for i := range all {
		at := d.whole.Means.Where[i]
		if at.Tensor == 0 {
			continue
		}
		width := int64(d.types[i].Width())
		for rank, elements := range values[at.Tensor-schedule.FirstTensor] {
			all[i] = append(all[i], elements[at.Offset(rank)*width:][:d.lengths[i]*width])
		}
	}
	return all
}

// defineTensors computes the results of a program, or of a composed schedule, by definition. For a
// program that is its definitions. For a composed schedule it is its meaning, or without one its
// parts' definitions, one after the other. A collective is the exact result, rounded once; package
// kernel defines kernels. Undefined elements are the unwritten ones of RunTensors.
func defineTensors(s *schedule.Schedule, given Tensors) (Tensors, error) {
	if err := given.fitsGiven(s); err != nil {
		return nil, err
	}
	d, err := scriptOf(s, RunOptions{}, 0)
	if err != nil {
		return nil, err
	}
	v, err := evaluate(d, d.ofWhole(given), false)
	if err != nil {
		return nil, err
	}
	want := make(Tensors, len(d.s.Tensors))
	for _, i := range results(d.s) {
		want[i] = v.values[i]
	}
	return d.inWhole(want), nil
}

// compareTensors compares results, computed from given tensors by any implementation, with the
// definition, within the bound of this schedule's own roundings.
func compareTensors(s *schedule.Schedule, given, got Tensors, o RunOptions) (Report, error) {
	if err := given.fitsGiven(s); err != nil {
		return Report{}, err
	}
	if len(got) != len(s.Tensors) {
		return Report{}, fmt.Errorf("results of %d tensors; there are %d", len(got),
			len(s.Tensors))
	}
	for _, i := range results(s) {
		if err := got.fits(s, i); err != nil {
			return Report{}, err
		}
	}
	d, err := scriptOf(s, o, 0)
	if none, undefined := err.(*noDefinition); undefined {
		return Report{Numbers: NumbersOff, Why: none.text}, nil
	}
	if err != nil {
		return Report{}, err
	}
	return d.compare(d.ofWhole(given), d.ofWhole(got), false)
}
