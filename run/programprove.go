package run

import (
	"errors"
	"fmt"
	"runtime/debug"

	"collsim/proof"
	"collsim/scenarios"
	"collsim/schedule"
)

// proveAndTime does both at once: neither needs what the other finds.
func (r *runner) proveAndTime(result *ProgramResult) error {
	p := result.Point
	var err, unproven error
	both(func() {
		if p.Check.Proof {
			r.options.staged(p.Point, proofStage, func(Progress) { unproven = proveProgram(r, result) })
		}
	}, func() {
		r.options.staged(p.Point, simStage, func(Progress) { err = r.timeProgram(result) })
	})
	var stall *schedule.StallError
	var refused *scenarios.Refusal
	switch {
	case unproven != nil:
		return unproven
	case errors.As(err, &refused):
		return err
	case errors.As(err, &stall) && result.Proof == Failed:
		return nil
	case err != nil:
		return p.Refuse("program", err.Error(), "")
	}
	return nil
}

// both does two things at once. It returns when both are done; a panic belongs to the caller.
func both(one, other func()) {
	done := make(chan string, 1)
	go func() {
		told := ""
		defer func() {
			if p := recover(); p != nil {
				told = fmt.Sprintf("%v\n\n%s", p, debug.Stack())
			}
			done <- told
		}()
		one()
	}()
	other()
	if told := <-done; told != "" {
		panic(told)
	}
}

// proveProgram verifies what a program is carried out as, whether folded or not.
func proveProgram(r *runner, result *ProgramResult) error {
	if result.Lowered.Schedule.Alike != nil {
		return proveFolded(r, result)
	}
	result.prove(result.Lowered.Schedule, result.Point.Sim.Slots)
	return nil
}

// prove verifies what a program is carried out as.
func (result *ProgramResult) prove(s *schedule.Schedule, slots int) {
	result.Proof = Proved
	_, found := proof.Verify(s, proof.Options{Slots: slots})
	if len(found) > 0 {
		result.Proof = Failed
		for _, v := range found {
			result.Violations = append(result.Violations, violation(v))
		}
	}
}
