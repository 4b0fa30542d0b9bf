package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"collsim/fidelity"
	"collsim/hw"
	"collsim/reference"
	"collsim/scenarios"
)

// program carries a program out and executes it on hardware: at its own sizes, or at those on
// which its numbers were checked. Every result must have the same bits as the interpreter's.
func (v *validator) program(ctx context.Context,
	p *scenarios.ProgramPoint) (*ProgramResult, error) {
	result, err := v.carryProgram(p)
	if err != nil {
		return nil, err
	}
	to := &Measured{Executor: p.Hardware.Executor, Bits: fidelity.NotComparable}
	result.Measured = to
	switch {
	case result.Faulted != nil && !suffers(p.Hardware.Executor):
		to.Skipped = fmt.Sprintf("%v injects no faults: host and callbacks do", p.Hardware.Executor)
		return result, nil
	case result.Faulted != nil && result.Scaled > 1:
		to.Skipped = "its numbers are computed at smaller sizes, whose steps are not those of the faults"
		return result, nil
	case !result.sound():
		to.Skipped = "its schedule is wrong, or its numbers are"
		return result, nil
	case result.computed == nil:
		to.Skipped = "its numbers were not computed: " + result.NumbersOff
		return result, nil
	case p.Hardware.Ranks > 0 && p.Topology.Ranks > p.Hardware.Ranks:
		to.Skipped = "the hardware has fewer ranks"
		return result, nil
	}
	if err := v.open(ctx, p.Point); err != nil {
		return nil, err
	}
	if to.Skipped = v.tooLarge(result.computed, p.Point); to.Skipped != "" {
		return result, nil
	}
	return result, v.executeProgram(ctx, result)
}

// executeProgram executes a program's schedule on hardware and compares bits.
func (v *validator) executeProgram(ctx context.Context, result *ProgramResult) error {
	p, s, to := result.Point, result.computed, result.Measured
	data, err := readData(&v.runner, result)
	if err != nil {
		return err
	}
	var files reference.Values
	if data != nil {
		files = data.given
	}
	given, err := reference.GivenWith(s, reference.Normal, uint64(p.Seed), files)
	if err != nil {
		return p.Refuse("program", err.Error(), "")
	}
	job := &hw.Job{Schedule: s, Tensors: given, Env: hw.Env{
		Warmup: p.Hardware.Warmup, Repetitions: p.Hardware.Repetitions, Slots: p.Sim.Slots,
		Timeout: p.Hardware.Timeout, Trace: v.options.Trace}}
	var done *hw.Result
	if result.Faulted != nil {
		done, err = v.suffer(ctx, job, result.Faulted, to)
	} else {
		done, err = v.device.Run(ctx, job)
	}
	var refusal *hw.Refusal
	switch {
	case errors.As(err, &refusal):
		to.Skipped = reason(err)
		return nil
	case errors.As(err, &to.Failure):
		return nil
	case err != nil || done == nil:
		return err
	}
	to.take(done, 1, result.Time)
	if to.Trace != nil {
		result.annotate(to.Trace, s, nil)
	}
	to.Error = 0 // naive kernels, or those of processors, say nothing of a library's time
	want, err := reference.RunTensors(s, given, reference.RunOptions{})
	if err != nil {
		return p.Refuse("program", err.Error(), "")
	}
	to.Bits = fidelity.Equal
	for i := range s.Tensors {
		if !s.Tensors[i].Role.IsResult() {
			continue
		}
		for rank := range s.Spec.Ranks {
			if !bytes.Equal(done.Tensors[i][rank], want[i][rank]) {
				to.Bits = fidelity.Differ
				result.Differs = append(result.Differs, Differing{s.Tensors[i].Name, rank})
			}
		}
	}
	return nil
}

// Differing names a result whose bits on a rank differ from the interpreter's.
type Differing struct {
	Tensor string
	Rank   int
}
