package program

import (
	"fmt"

	"collsim/collective"
	"collsim/schedule"
)

// call returns the schedule chosen for a team's call.
func (x *plan) call(r *resolved, team []int) (Chosen, error) {
	spec, err := r.call.Spec(x.teamSize(team))
	if err != nil {
		return Chosen{}, &Error{r.number, -1, "call", r.Name + ": " + err.Error()}
	}
	return x.chosenFor(r, spec, team, len(r.in) > 0 && r.in[0].Memory == Symmetric)
}

// chosenFor returns the schedule chosen for a call's collective, on symmetric memory or other.
func (x *plan) chosenFor(r *resolved, spec collective.Spec, team []int, symmetric bool) (Chosen,
	error) {
	algorithm := r.Algorithm
	if d := x.guide.Decided; d != nil && r.phase == backwardPass && d.Backward[r.Name] != "" {
		algorithm = d.Backward[r.Name]
	}
	if x.folding != nil { // teams of other ranks may be folded to the same ones
		folded, err := x.seat(team)
		if err != nil {
			return Chosen{}, err
		}
		team = folded.of
	}
	key := fmt.Sprint(spec.Key(), algorithm, team, symmetric, r.phase)
	if c, ok := x.chosen[key]; ok {
		return c, nil
	}
	c, err := x.guide.Choose(spec, algorithm, team, symmetric)
	// the algorithm does not do that kind
	if err != nil && r.phase == backwardPass && algorithm != "" {
		c, err = x.guide.Choose(spec, "", team, symmetric)
	}
	if err != nil {
		return Chosen{}, &Error{r.number, -1, "algorithm", r.Name + ": " + err.Error()}
	}
	x.chosen[key] = c
	return c, nil
}

// callPart makes the part that executes a call's schedule, and returns the name of its scratch
// buffer, if it has one.
func (w *scheduler) callPart(r *resolved, team []int, s *schedule.Schedule,
	in, out schedule.Place) (p schedule.Part, scratch string, err error) {
	folded, err := w.seat(team)
	if err != nil {
		return p, "", err
	}
	if f := folded.fold; f != nil {
		if why := f.Fits(s); why != "" {
			return p, "", notFolded("%s: %s", r.Name, why)
		}
	}
	p = schedule.Part{Name: schedule.Word(r.Name), Schedule: s, Ranks: folded.ranks,
		Fold: folded.fold, Stream: w.stream(r.stream()), Memory: []schedule.Place{in, out}}
	if s.Memory > 0 {
		name, at := w.own("scratch_"+r.Name, &schedule.Tensor{Type: s.Spec.Type,
			Shape: collective.Shape{s.Memory}}, s.OneSided())
		p.Memory, scratch = append(p.Memory, at), name
	}
	if !launches(s) {
		p.Launch = &schedule.Launch{Name: schedule.Word(r.Name)}
	}
	return p, scratch, nil
}

// compose returns the schedule of parts.
func (w *scheduler) compose() (*schedule.Schedule, error) {
	if w.folding != nil {
		return schedule.ComposeFolded(w.Name, w.folding.alike, w.list, w.parts)
	}
	return schedule.Compose(w.Name, w.Ranks, w.list, w.parts)
}
