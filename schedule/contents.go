package schedule

import (
	"collsim/collective"
	"collsim/unit"
)

// Computes reports whether a schedule does more than one collective without kernels. It does if it
// is a program, a composed schedule, or one with a kernel that is not opaque.
func (s *Schedule) Computes() bool {
	return len(s.Tensors) > 0 || s.parts != nil || s.AnyStep(func(step *Step) bool {
		return step.Kernel != nil && step.Kernel.HasResult()
	})
}

// Contents counts what a program is made of.
type Contents struct {
	Kernels, Collectives int // in its definitions; in a composed schedule, in its parts' too
	Parts                int // of a composed schedule
	Tensors              int // in memory
	Bytes                unit.Bytes
}

// Contents counts the parts, definitions and tensors of a program or a composed schedule, and the
// memory of its tensors on a rank.
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

// define adds the definitions of a schedule, or its collective.
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
