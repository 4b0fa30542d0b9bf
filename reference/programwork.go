package reference

import "collsim/schedule"

// ProgramWork counts what Check has to do for a program, or a composed schedule, of the first sizes
// that are not too much. Nothing is computed.
type ProgramWork struct {
	By       int64  // sizes are one of so many parts of the program's own
	Why      string // nothing is computed; all that follows is 0 then
	Steps    int64
	Bytes    int64 // the most: of all memories, and of values and errors by definition
	Elements int64 // that kernels read and write, and that steps and collectives move
	FLOPs    int64 // of kernels, by the schedule and by definition
}

// WorkOfProgram counts what a check of a program has to do. Errors are those of Check.
func WorkOfProgram(s *schedule.Schedule, o CheckOptions) (ProgramWork, error) {
	p, err := o.affordProgram(s)
	if err != nil || p.why != "" {
		return ProgramWork{By: p.by, Why: p.why}, err
	}
	w := ProgramWork{By: p.by, Steps: p.c.steps, Bytes: p.c.bytes,
		FLOPs: capped(p.c.flops, p.d.flops()), Elements: capped(p.c.elements, p.c.moved)}
	for i, t := range p.d.types {
		each := int64(t.Width()) + bytesPerDoubt
		w.Bytes = capped(w.Bytes, times(p.d.lengths[i], each*int64(p.s.Spec.Ranks)))
	}
	return w, nil
}
