package program

import (
	"fmt"

	"collsim/collective"
	"collsim/schedule"
)

// meaning returns what a lowered program must compute: the definitions of its ops as they are
// written, in their order, without streams, memory and passes. Layout is the only pass: its copies
// define a call along another axis than the first.
func (w *scheduler) meaning(l *lookup) (*schedule.Meaning, error) {
	asWritten, err := layOut(newPlan(l, Lowering{}, Guide{Decided: &Decisions{}}))
	if err != nil {
		return nil, err
	}
	asWritten.kernels = w.kernels
	ops := &scheduler{plan: asWritten, tensors: map[string]schedule.Place{},
		uses: map[string][]int{}, result: &Lowered{}}
	m := &schedule.Meaning{}
	for i, t := range asWritten.tensors {
		ops.declare(schedule.Tensor{Name: t.Name, Type: t.Type, Shape: t.Shape,
			Role: asWritten.roles[t.Name]})
		at := w.tensors[t.Name]
		if w.inside[t.Name] || i >= len(l.tensors) { // also those that layout adds
			at = schedule.Place{}
		}
		m.Where = append(m.Where, at)
	}
	defined := map[collective.Key]*schedule.Schedule{} // of equal calls
	for _, made := range w.iterations {
		for i := range asWritten.ops {
			r := &asWritten.ops[i]
			parts, err := ops.definitions(r, defined)
			if err != nil {
				return nil, err
			}
			ops.parts = append(ops.parts, parts...)
			if len(parts) > 0 && len(made[r.Name]) == 0 {
				return nil, fmt.Errorf("the passes have left out %s", r.Name)
			}
			for range parts {
				m.Made = append(m.Made, made[r.Name])
			}
		}
	}
	if m.Ops, err = ops.compose(); err != nil {
		return nil, err
	}
	return m, nil
}

// definitions returns the parts that define the result of an op; none for an op without a result.
func (w *scheduler) definitions(r *resolved, known map[collective.Key]*schedule.Schedule) (
	list []schedule.Part, err error) {
	switch {
	case r.Out == "":
		return nil, nil
	case r.call == nil:
		return w.kernelParts(r), nil
	}
	memory := []schedule.Place{w.tensors[r.In[0]], w.tensors[r.Out]}
	for _, team := range r.teams {
		spec, err := r.call.Spec(w.teamSize(team))
		if err != nil {
			return nil, err // not reached: choosing an algorithm has checked it
		}
		spec.InPlace = false // the operand is read before the result is written
		s := known[spec.Key()]
		if s == nil {
			if s, err = defines(spec); err != nil {
				return nil, err
			}
			known[spec.Key()] = s
		}
		folded, err := w.seat(team)
		if err != nil {
			return nil, err
		}
		list = append(list, schedule.Part{Name: schedule.Word(r.Name), Schedule: s,
			Ranks: folded.ranks, Fold: folded.fold, Memory: memory})
	}
	return list, nil
}

// defines builds a schedule without steps, which only states its collective.
func defines(spec collective.Spec) (*schedule.Schedule, error) {
	return schedule.Build(schedule.Plan{Name: "definition", Spec: spec, Same: true,
		Lane: func(*schedule.Lane) {}})
}
