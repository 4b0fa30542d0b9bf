package schedule

import (
	"collsim/collective"
	"collsim/kernel"
	"collsim/unit"
)

// Computes reports whether a schedule does more than one collective without kernels: a program, a
// composed schedule, or one whose steps compute something that is known.
func (s *Schedule) Computes() bool {
	return len(s.Tensors) > 0 || s.parts != nil || s.AnyStep(func(step *Step) bool {
		return step.Kernel != nil && step.Kernel.Kind != kernel.Opaque
	})
}

// Contents are what a program is made of.
type Contents struct {
	Kernels, Collectives int // that define it: lines, and of a composed schedule its collectives
	Parts                int // of a composed schedule
	Tensors              int // in memory
	Bytes                unit.Bytes
}

// Contents counts what a program, or a composed schedule, is made of, and the memory of its
// tensors on a rank; of any other schedule there are no tensors.
func (s *Schedule) Contents() Contents {
	c := Contents{Parts: len(s.parts)}
	for i := range s.Tensors {
		if t := &s.Tensors[i]; t.Role != Defined {
			c.Tensors++
			c.Bytes += unit.Bytes(t.Shape.Elements() * int64(t.Type.Width()))
		}
	}
	c.define(s)
	for i := range s.parts {
		c.define(s.parts[i].Schedule)
	}
	return c
}

// define counts the lines that define a schedule, or its collective.
func (c *Contents) define(s *Schedule) {
	if s.parts == nil && s.Spec.Kind != collective.Custom {
		c.Collectives++
	}
	for i := range s.Defs {
		if s.Defs[i].Kernel != nil {
			c.Kernels++
		} else {
			c.Collectives++
		}
	}
}
