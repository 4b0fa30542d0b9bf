package proof

import (
	"errors"

	"collsim/schedule"
)

// findSlots verifies values with 1, 2, 4, … slots until the schedule does not stall. Then it
// searches for the least number that suffices. It returns that number, or 0 if the schedule is
// wrong, and the counts of that execution.
func (v *verifier) findSlots(limit int) (int, schedule.Counts) {
	v.searches = true
	declared := v.s.Slots
	if declared > 0 {
		limit = declared
	}
	failed, ends := 0, false // the most slots that were too few; whether unlimited slots suffice
	var stalled *schedule.StallError
	for slots := 1; ; slots *= 2 {
		counts, err := v.walk(slots)
		if errors.Is(err, errComputes) { // a collective whose steps compute with kernels
			v.formulas = newFormulas(v.s)
			counts, err = v.walk(slots)
		}
		if !errors.As(err, &stalled) {
			if err != nil {
				v.reportError(err)
				return 0, counts
			}
			least := slots
			if failed+1 < slots {
				least, counts = v.least(failed+1, slots)
			}
			if limit > 0 && least > limit {
				v.tooFew(limit, least)
			}
			return least, counts
		}
		if failed = slots; slots == 1 || ends { // two are most often enough
			continue
		}
		if _, ends = v.execute(0); !ends { // any number of slots is too few
			v.reportStall(v.stall(0))
			return 0, counts
		}
	}
}

// least returns the least number of slots, from … to, with which the schedule does not stall, and
// the counts of that execution. REQUIRES: it does not stall with to.
func (v *verifier) least(from, to int) (int, schedule.Counts) {
	for from < to {
		slots := (from + to) / 2
		if _, ends := v.execute(slots); !ends {
			from = slots + 1
		} else {
			to = slots
		}
	}
	counts, _ := v.execute(to)
	return to, counts
}

// execute executes the schedule without values, with so many slots whatever it declares. It reports
// whether the schedule ends rather than stalls.
func (v *verifier) execute(slots int) (counts schedule.Counts, ends bool) {
	counts, err := v.run(slots, true, schedule.Hooks{})
	var stalled *schedule.StallError
	return counts, !errors.As(err, &stalled)
}

// stall returns the stall with so many slots; nil if there is none.
func (v *verifier) stall(slots int) (stalled *schedule.StallError) {
	_, err := v.run(slots, false, schedule.Hooks{})
	errors.As(err, &stalled)
	return stalled
}

// run executes the schedule, or its classes, with so many slots, whatever it declares. If brief, a
// stall does not name its waits.
func (v *verifier) run(slots int, brief bool, hooks schedule.Hooks) (schedule.Counts, error) {
	if v.treeClasses != nil {
		return schedule.ExecuteClasses(v.treeClasses.classes, slots, v.treeClasses.hooks(hooks, v))
	}
	if v.roleCounts != nil {
		return schedule.ExecuteClasses(v.roleCounts.classes, slots, hooks)
	}
	s := *v.s
	s.Slots = slots
	if v.progress != nil && hooks.Step != nil {
		ranks := int64(v.s.Spec.Ranks / v.walked())
		hooks.Step = counted(hooks.Step, func(steps int64) {
			v.progress(steps * ranks / int64(v.iterations))
		})
	}
	counts, err := schedule.Execute(&s, schedule.Limits{Iterations: v.iterations,
		Rendezvous: v.rendezvous, Folded: v.fold != nil, Brief: brief}, hooks)
	return counts, err
}

// counted returns a hook that also counts sub-steps, and reports every 2^16.
func counted(step func(*schedule.Visit) error,
	report func(steps int64)) func(*schedule.Visit) error {
	const every = 1 << 16
	steps := int64(0)
	return func(at *schedule.Visit) error {
		if steps++; steps%every == 0 {
			report(steps)
		}
		return step(at)
	}
}

// walked returns the number of ranks that are walked.
func (v *verifier) walked() int {
	if v.fold != nil {
		return 1
	}
	return v.s.Spec.Ranks
}

// tooFew reports the deadlock of a schedule that has fewer slots than it needs.
func (v *verifier) tooFew(slots, least int) {
	if stalled := v.stall(slots); stalled != nil {
		stalled.MinSlots = least
		v.reportStall(stalled)
	}
}

// reportStall reports a stall as a deadlock, with the ranks' names.
func (v *verifier) reportStall(e *schedule.StallError) {
	for i := range e.Waits {
		w := &e.Waits[i]
		w.Rank, w.OnRank = v.names.of(w.Rank), v.names.of(w.OnRank)
	}
	w := e.Waits[0]
	v.found = append(v.found,
		&schedule.Violation{Kind: schedule.Deadlock, Rank: w.Rank, Lane: w.Lane, Step: w.Step,
			Chunk: w.Chunk, Text: e.Error(), Steps: e.Steps(), Stall: e})
}

// reportError reports an error of the walk if it is a violation.
func (v *verifier) reportError(err error) {
	var violation *schedule.Violation
	if errors.As(err, &violation) {
		v.found = append(v.found, violation.Renamed(v.names.of))
	}
}
