package reference

import (
	"fmt"

	"collsim/dtype"
	"collsim/schedule"
	"collsim/unit"
)

// computesKernels reports whether some step of a schedule has a kernel that is not opaque.
func computesKernels(s *schedule.Schedule) bool {
	return s.AnyStep(func(step *schedule.Step) bool {
		return step.Kernel != nil && step.Kernel.HasResult()
	})
}

// interpret executes a schedule of inputs and outputs whose steps compute.
func interpret[T dtype.Number](s *schedule.Schedule, inputs [][]T, o RunOptions,
	slots int) ([][]T, error) {
	x := newInterpreter(s, o)
	width := int64(dtype.Of[T]().Width())
	of := func(b schedule.Buffer, rank int) []byte {
		home, base := s.Home(b, rank)
		return x.memory[home][rank][base*width:][:s.Len(b, rank)*width]
	}
	for rank, in := range inputs {
		dtype.Put(of(schedule.Input, rank), in)
	}
	if err := x.run(slots); err != nil {
		return nil, err
	}
	outputs := make([][]T, s.Spec.Ranks)
	for rank := range outputs {
		outputs[rank] = getAll[T](of(schedule.Output, rank))
	}
	return outputs, nil
}

// checkKernels checks a collective's schedule whose steps compute (Check): on all elements, and
// within the bound of any order of additions.
func checkKernels(s *schedule.Schedule, o *CheckOptions) (Report, error) {
	c, err := costOf(s, o.Slots)
	if err != nil {
		return Report{}, err
	}
	most := o.FLOPs
	if most == 0 {
		most = defaultFLOPs
	}
	if need := unit.MultiplyCapped(c.bytes, 2); need > o.Memory {
		return Report{}, tooLittle(need, o.Memory)
	}
	if c.flops > most {
		return Report{Numbers: NumbersOff, Why: fmt.Sprintf("the kernels have %.3g operations; at "+
			"most %.3g are computed", float64(c.flops), float64(most))}, nil
	}
	r, err := typeOf(s.Spec.Type).checkKernels(s, o)
	r.Checked = countOf(&s.Spec)
	return r, err
}

func (as[T]) checkKernels(s *schedule.Schedule, o *CheckOptions) (Report, error) {
	inputs, err := Inputs[T](s.Spec, o.Data, o.Seed)
	if err != nil {
		return Report{}, err
	}
	outputs, err := interpret(s, inputs, RunOptions{Accumulate: o.Accumulate}, o.Slots)
	if err != nil {
		return Report{}, err
	}
	return Compare(s.Spec, inputs, outputs)
}
