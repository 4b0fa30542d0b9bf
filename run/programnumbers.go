package run

import (
	"math"
	"slices"

	"collsim/collective"
	"collsim/reference"
	"collsim/scenarios"
	"collsim/schedule"
)

// sampledFLOPs bounds the operations of a check of numbers that is not to be full: about a
// second.
const sampledFLOPs = 10e9

// computeProgram carries a program out on numbers, at its own sizes or smaller ones, and holds them
// against what the program means.
func (r *runner) computeProgram(result *ProgramResult, data *programData) error {
	p := result.Point
	if !p.Check.Numbers {
		return nil
	}
	if data != nil && (!result.Timed || result.Proof == Failed) {
		result.leaveUncompared()
	}
	if !result.Timed && result.Faulted == nil {
		return nil
	}
	if p.Unplaced {
		result.NumbersOff = "the file says how many bytes move, not what they hold"
		return nil
	}
	o := r.optionsOf(result)
	if data != nil {
		o.Given, o.Wanted, o.Theirs = data.given, data.wanted, data.theirs
	}
	s, err := unfolded(r, result)
	if s == nil {
		return err
	}
	result.computed = s
	report, err := reference.Check(s, o)
	if err != nil {
		return p.Refuse("check.memory", err.Error(), "")
	}
	result.Numbers, result.NumbersOff = string(report.Numbers), report.Why
	result.Wrong, result.MaxULP, result.Mismatch = report.Wrong, report.MaxULP, report.First
	result.Digest = report.Digest
	if report.Numbers == reference.NumbersOff {
		result.Scaled, result.computed = 0, nil
	}
	if data == nil {
		return nil
	}
	if report.Values == nil {
		return result.tooMuchData(report.Why)
	}
	if result.Outputs, err = result.outputsOf(report.Values); err != nil {
		return err
	}
	if result.Proof == Failed {
		return nil
	}
	return compareProgram(r, result, data.theirs, report.Judged)
}

// optionsOf returns the options for checking a program's numbers. The check may take a smaller
// program; it is then noted in result.
func (r *runner) optionsOf(result *ProgramResult) reference.CheckOptions {
	p := result.Point
	o := reference.CheckOptions{Seed: uint64(p.Seed), Data: dataOf(p.Point, r.options.Numerics),
		Memory: int64(p.Check.Memory), Slots: p.Sim.Slots, FLOPs: sampledFLOPs}
	if p.Check.Full || p.HasData() {
		o.FLOPs = math.MaxInt64
	}
	if p.HasData() { // which have its own size
		return o
	}
	o.Smaller = func(by int64) (*schedule.Schedule, error) {
		low, _, err := r.lower(smaller(asChosen(result), by), result)
		if err != nil {
			return nil, nil // sizes that do not fit together
		}
		result.Scaled, result.computed = by, low.Schedule
		return low.Schedule, nil
	}
	return o
}

// smaller returns a program in which every length, also in splits, is divided by the given number
// if that leaves no remainder.
func smaller(p *scenarios.ProgramPoint, by int64) *scenarios.ProgramPoint {
	q := *p
	q.Tensors = nil
	for _, t := range p.Tensors {
		t.Shape = divided(t.Shape, by)
		q.Tensors = append(q.Tensors, t)
	}
	q.Ops = slices.Clone(p.Ops)
	for i := range q.Ops {
		o := &q.Ops[i]
		o.Shape = divided(o.Shape, by)
		c, err := collective.ParseCommunication(o.Call)
		if err != nil || c.Splits == nil {
			continue
		}
		for _, row := range c.Splits {
			for to, n := range row {
				if n%by == 0 {
					row[to] = n / by
				}
			}
		}
		o.Call = c.String()
	}
	return &q
}

// divided returns a shape in which every length is divided, if that leaves no remainder.
func divided(shape collective.Shape, by int64) (smaller collective.Shape) {
	for _, n := range shape {
		if n%by == 0 {
			n /= by
		}
		smaller = append(smaller, n)
	}
	return smaller
}

// asChosen returns a program whose calls name the algorithms that were chosen for them.
func asChosen(result *ProgramResult) *scenarios.ProgramPoint {
	q := *result.Point
	q.Ops = slices.Clone(q.Ops)
	calls := map[string]int{} // by names
	for i, o := range programOf(result.Point, "").Ops {
		for _, name := range o.Names() {
			calls[name] = i
		}
	}
	for _, o := range result.Lowered.Ops {
		if a, ok := result.chosen[o.Became]; ok && o.IsCall {
			for _, name := range o.Names {
				if i, is := calls[name]; is {
					q.Ops[i].Algorithm = a
				}
			}
		}
	}
	return &q
}
