package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"collsim/program"
	"collsim/reference"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/sim"
	"collsim/symmetry"
	"collsim/trace"
	"collsim/unit"
)

// ProgramResult holds the results of a program.
type ProgramResult struct {
	Point   *scenarios.ProgramPoint
	Lowered *program.Lowered
	// Classes, unless 0, is how many ranks are lowered, proven and simulated, each for equal ones.
	Classes int

	Proof      string // Proved, Failed or Off
	Violations []Violation
	// Numbers, NumbersOff, Wrong, MaxULP and Mismatch are as of a Result; "unbounded" is what
	// differs by as much as nobody has bounded. They were checked on sizes that are one of Scaled
	// parts, 0 or 1 for the program's own. With opaque kernels that write, Numbers is "stand-in", and
	// NumbersOff has the verdict and the names.
	Numbers, NumbersOff string
	Wrong               int64
	MaxULP              float64
	Mismatch            *reference.Mismatch
	Scaled              int64
	// Digest is a SHA-256 of all results on all ranks, in hexadecimal: whatever passes are on, it is
	// the same on data on which every order of additions gives the same. It is empty where no numbers
	// were computed.
	Digest string

	Compared []TensorComparison // in the order of the ops that write them
	Outputs  []TensorOutput

	Timed      bool
	Time       unit.Time
	Engine     string
	Iterations []unit.Time // when each has ended on the last rank
	Ops        []OpTime    // in the order of Lowered.Ops
	Usage                  // of the rank with the most exposed time
	Waits      []CallWait  // of that rank, the longest first; they sum up to Waiting
	Stages     []Stage     // of a pipeline
	BytesSent  unit.Bytes
	Trace      *trace.Trace // nil unless asked for
	Devices    []string
	Critical   []sim.Piece
	Network    string

	Links []LinkUse // all of them, by index; nil unless asked for

	Faulted *Faulted // nil unless the scenario has faults
	Arrived *Arrived // nil unless ranks arrive at random

	Measured *Measured   // of a program to be executed on hardware; else nil
	Differs  []Differing // where that gave other bits

	Library []LibraryCall // calls that name no algorithm, where the machine has a library

	chosen   map[string]scenarios.Algorithm // of calls, by name
	computed *schedule.Schedule             // on which the numbers were checked; nil if none were
}

// OpTime holds the time of an op, from the start of its first rank to the end of its last. Moving
// and Waiting are the op's parts of the exposed time of the program's Rank.
type OpTime struct {
	Start, End      unit.Time
	Moving, Waiting unit.Time
	IsOnRank        bool // Rank takes part in it
}

// Exposed returns the op's part of the exposed time.
func (t *OpTime) Exposed() unit.Time { return t.Moving + t.Waiting }

// Good reports whether no check has failed.
func (r *ProgramResult) Good() bool {
	if r.Measured != nil && (r.Measured.Failure != nil || len(r.Differs) > 0) {
		return false
	}
	if slices.ContainsFunc(r.Compared, func(c TensorComparison) bool { return !c.Good() }) {
		return false
	}
	told := r.Measured != nil && r.Measured.Told != nil
	return r.sound() && (!told || agrees(r.Measured.Told)) &&
		(told || r.Faulted == nil || !r.Faulted.Hangs)
}

// sound reports whether no check has failed, faults aside.
func (r *ProgramResult) sound() bool {
	return r.Proof != Failed && r.Numbers != "mismatch" &&
		(r.Timed || r.Faulted != nil || r.Proof == Failed)
}

// AllPoints lists a scenario's points, and those that its programs run at.
func AllPoints(s *Scenario) []*scenarios.Point {
	points := slices.Clone(s.Points)
	for _, p := range s.Programs {
		points = append(points, p.Point)
	}
	return points
}

// runPrograms carries the programs out, one after the other. It returns as soon as the context ends
// or one fails, with the results of those before.
func (s *Scenario) runPrograms(ctx context.Context, o RunOptions, known asked) (
	list []*ProgramResult, err error) {
	r := &runner{s: s, options: o, known: known, numbers: func(check func()) { check() }}
	for _, p := range s.Programs {
		var result *ProgramResult
		if result, err = aside(ctx, func() (*ProgramResult, error) {
			return r.carryProgram(p)
		}); err != nil {
			return list, err
		}
		list = append(list, result)
		if o.Program != nil {
			o.Program(result)
		}
	}
	return list, nil
}

// aside does what takes a while, unheard if the context ends before.
func aside[T any](ctx context.Context, do func() (T, error)) (value T, err error) {
	if ctx.Err() != nil {
		return value, ctx.Err()
	}
	type outcome struct {
		value  T
		err    error
		panics any
		stack  []byte
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if o.panics = recover(); o.panics != nil {
				o.stack = debug.Stack()
			}
			done <- o
		}()
		o.value, o.err = do()
	}()
	select {
	case o := <-done:
		if o.panics != nil { // it belongs to the caller
			panic(fmt.Sprintf("%v\n\n%s", o.panics, o.stack))
		}
		return o.value, o.err
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

// carryProgram lowers, proves, times and computes a program.
func (r *runner) carryProgram(p *scenarios.ProgramPoint) (*ProgramResult, error) {
	s := r.s
	result := &ProgramResult{Point: p, Proof: Off, Numbers: Off}
	r.byItself = nil
	low, chosen, err := lowerOnce(r, p)
	if err == nil && !p.Unplaced {
		err = fits(p, &low.Memory)
	}
	if err != nil {
		return nil, s.located(err)
	}
	if err := r.enter(p.Point); err != nil {
		return nil, s.located(err)
	}
	result.Lowered, result.Network, result.chosen = low, r.network.String(), chosen
	result.Library = r.byItself
	if alike := low.Schedule.Alike; alike != nil {
		result.Classes = len(alike.Reps)
	}
	data, err := readData(r, result)
	if err != nil {
		return nil, s.located(err)
	}
	if err := r.proveAndTime(result); err != nil {
		return nil, s.located(err)
	}
	r.options.staged(p.Point, checkStage, func(Progress) { err = r.computeProgram(result, data) })
	if err != nil {
		return nil, s.located(err)
	}
	return result, nil
}

// lower makes the schedule of a program, and says what its calls are done by, by names. What has
// been decided for it at other sizes, if there is a result, is not decided anew.
func (r *runner) lower(p *scenarios.ProgramPoint, before *ProgramResult) (*program.Lowered,
	map[string]scenarios.Algorithm, error) {
	return lowerBy(r, p, before, programOf(p, r.s.Name), nil)
}

// lowerBy does what lower does, on one rank of each class of a symmetry unless that is nil. The
// program is that of the point.
func lowerBy(r *runner, p *scenarios.ProgramPoint, before *ProgramResult, of *program.Program,
	alike *symmetry.Subgroup) (*program.Lowered, map[string]scenarios.Algorithm, error) {
	chosen := map[string]scenarios.Algorithm{}
	guide := program.Guide{Choose: r.chooser(p, chosen), Time: r.taking(p), Alike: alike}
	if before != nil {
		guide.Decided = &before.Lowered.Decided
		maps.Copy(chosen, before.chosen)
	}
	low, err := program.LowerBy(of, p.Lowering, guide)
	var wrong *program.Error
	var unfolded *schedule.NotFolded
	if errors.As(err, &unfolded) {
		return nil, nil, err
	}
	if errors.As(err, &wrong) {
		key := "program"
		switch {
		case wrong.Op >= 0 && p.Ops[wrong.Op].At < 0, wrong.Tensor >= 0 && p.Tensors[wrong.Tensor].At < 0:
			key = "program.file"
		case wrong.Op >= 0:
			key = fmt.Sprintf("program.op[%d].%s", p.Ops[wrong.Op].At, wrong.Key)
		case wrong.Op < 0 && wrong.Tensor < 0 && wrong.Key != "op":
			key = "program." + wrong.Key
		case wrong.Tensor >= 0:
			key = fmt.Sprintf("program.tensor[%d].%s", p.Tensors[wrong.Tensor].At, wrong.Key)
		}
		return nil, nil, p.Refuse(key, wrong.Text, "")
	}
	if err != nil {
		return nil, nil, p.Refuse("program", err.Error(), "")
	}
	return low, chosen, nil
}

// taking returns a function that simulates how long a schedule takes on the network of a program.
func (r *runner) taking(p *scenarios.ProgramPoint) func(*schedule.Schedule) (unit.Time, error) {
	return func(s *schedule.Schedule) (unit.Time, error) {
		if err := r.enter(p.Point); err != nil {
			return 0, err
		}
		env := r.env(p.Point, s)
		if err := sim.FoldedEnv(&env, s.Alike); err != nil {
			return 0, err
		}
		ran, err := sim.Run(s, env, sim.Options{})
		if err != nil {
			return 0, err
		}
		return ran.Time, nil
	}
}

// fits refuses a program that takes more memory than the device has, if that is known.
func fits(p *scenarios.ProgramPoint, m *program.Usage) error {
	has := p.Device.GPU.Capacity
	if has == 0 || m.Bytes <= has {
		return nil
	}
	alive := make([]string, 0, mostAlive)
	for i, t := range m.Alive {
		if i == mostAlive {
			alive = append(alive, fmt.Sprintf("%d more", len(m.Alive)-i))
			break
		}
		alive = append(alive, fmt.Sprintf("%s of %v", t.Name, t.Bytes))
	}
	return p.Refuse("program", fmt.Sprintf("a rank takes %v of memory; %s has %v", m.Bytes,
		p.Device.Name, has), fmt.Sprintf("at most %v are in use at once, at %s: %s", m.Peak,
		strings.Join(m.At, "+"), strings.Join(alive, ", ")))
}

// mostAlive bounds the tensors that an error about memory lists.
const mostAlive = 8

// simulateProgram simulates a program, with its faults. The result is nil of a run that comes to no
// end for them.
func (r *runner) simulateProgram(result *ProgramResult, o sim.Options) (*sim.Result, error) {
	p, s := result.Point.Point, result.Lowered.Schedule
	env := r.env(p, s)
	if err := sim.FoldedEnv(&env, s.Alike); err != nil {
		return nil, err
	}
	if r.sound {
		return sim.Run(s, env, o)
	}
	faults, err := faultsOf(p, result.partsOn)
	if err != nil {
		return nil, err
	}
	if result.Arrived, err = arrived(p, s, env, sim.Best); err != nil {
		return nil, err
	}
	if faults == nil {
		return sim.Run(s, env, o)
	}
	env.Faults = faults
	ran, f, err := simulateFaults(p, s, env, o)
	if result.Faulted = f; f != nil && f.Hangs {
		f.leave(s.Spec.Ranks, callsOfProgram(result))
	}
	return ran, err
}

// partsOn lists the parts of an op that a rank takes part in; nil if there is none.
func (result *ProgramResult) partsOn(op string, rank int) (list []int32) {
	parts := result.Lowered.Schedule.Parts()
	for i := range result.Lowered.Ops {
		if !slices.Contains(result.Lowered.Ops[i].Names, op) {
			continue
		}
		for _, n := range result.Lowered.Ops[i].Parts {
			if parts[n].Ranks == nil || slices.Contains(parts[n].Ranks, rank) {
				list = append(list, int32(n))
			}
		}
	}
	return list
}

// timeProgram simulates what a program is carried out as.
func (r *runner) timeProgram(result *ProgramResult) error {
	ran, err := r.simulateProgram(result, sim.Options{Parts: true, Trace: r.options.Trace,
		Critical: r.options.Trace})
	if err != nil || ran == nil {
		return err
	}
	result.Timed, result.Time, result.Engine = true, ran.Time, ran.Engine
	result.BytesSent = ran.BytesSent
	result.account(ran.Parts)
	if r.options.Links {
		result.Links = r.network.uses(ran)
	}
	if r.options.Trace {
		result.Trace, result.Devices, result.Critical = ran.Trace, r.network.devices(), ran.Critical
		result.annotate(ran.Trace, result.Lowered.Schedule, ran.Parts)
	}
	return nil
}
