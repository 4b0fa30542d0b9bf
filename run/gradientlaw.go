package run

import (
	"collsim/collective"
	"collsim/reference"
	"collsim/scenarios"
	"collsim/schedule"
)

// rebuild makes the schedule of what has been made for another count.
func (r *runner) rebuild(m *made, p *scenarios.Point, spec collective.Spec) (*schedule.Schedule,
	error) {
	if m.another != nil {
		return m.another(spec)
	}
	f, err := r.s.build(p, spec, m.algorithm)
	if err != nil {
		return nil, err
	}
	return f.Schedule, nil
}

// law checks that one schedule is the transpose of the other.
func (r *runner) law(forward, back *made, result *Result) error {
	p, g := result.Point, result.Gradient
	for i, member := range forward.members {
		f, b := member.schedule, back.members[i].schedule
		if held := reference.AdjointBytes(&f.Spec); held > int64(p.Check.Memory) {
			if f.Spec.Kind.Splits() {
				g.LawOff = "check.memory is too little for it"
				return nil
			}
			fewer, backward := f.Spec, b.Spec
			fewer.Count = max(1, f.Spec.Count*int64(p.Check.Memory)/held/2)
			backward.Count = fewer.Count
			var err error
			if f, err = r.rebuild(forward, p, fewer); err == nil {
				b, err = r.rebuild(back, p, backward)
			}
			if err != nil {
				g.LawOff = "check.memory is too little for it"
				return nil
			}
		}
		holds, err := reference.Adjoint(f, b, g.Mask, uint64(p.Seed))
		if err != nil {
			return err
		}
		if g.Law == Off {
			g.Law, g.LawOff, g.Count = string(reference.NumbersExact), "", CountOf(f.Spec)
		}
		if !holds {
			g.Law = string(reference.NumbersMismatch)
		}
	}
	return nil
}
