package reference

import (
	"collsim/schedule"
	"collsim/unit"
)

// ProgramWork counts what Check has to do for a program, or a composed schedule.
type ProgramWork struct {
	Steps int64
	Bytes int64 // the most: of all memories, and of values and errors by definition
	FLOPs int64 // of kernels, by the schedule and by definition
}

// WorkOfProgram counts what a check of a program has to do at the first sizes that are not too
// much; nothing if there are none. Errors are those of Check.
func WorkOfProgram(s *schedule.Schedule, o CheckOptions) (ProgramWork, error) {
	p, err := o.affordProgram(s)
	if err != nil || p.why != "" {
		return ProgramWork{}, err
	}
	w := ProgramWork{p.c.steps, p.c.bytes, unit.AddCapped(p.c.flops, p.d.flops())}
	for i, t := range p.d.types {
		each := int64((t.Width() + bytesPerDoubt) * p.s.Spec.Ranks)
		w.Bytes = unit.AddCapped(w.Bytes, unit.MultiplyCapped(p.d.lengths[i], each))
	}
	return w, nil
}
