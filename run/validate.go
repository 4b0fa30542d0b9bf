package run

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"collsim/collective"
	"collsim/fidelity"
	"collsim/formats/arrays"
	"collsim/hw"
	"collsim/reference"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/topology"
	"collsim/unit"
)

// ValidateOptions holds the options of executing points on hardware.
type ValidateOptions struct {
	RunOptions // Trace asks the hardware for timelines, too
	// Open returns an executor for points with this hardware. A lab is wired as the graph, the
	// point's network. OpenWith makes such a function from a table. Validate closes the executor.
	Open func(context.Context, *scenarios.Hardware, *topology.Graph) (hw.Executor, error)
	// Memory returns the memory there is now, and whose it is: a schedule that takes more is not
	// executed. Nothing bounds it where the function is nil, or known is false.
	Memory func() (bytes int64, of string, known bool)
}

// Validate carries out all points, one after the other, and executes their schedules on hardware.
// The bits must be those of the interpreter; times are compared with the simulation. Where the
// scenario checks exact data, Validate takes normal data: any order of additions gets exact data
// right. When the context ends, it returns the error with the finished results, and likewise
// where a point cannot be carried out; the report is nil if there is no result. An error that is
// neither the scenario's nor the context's says what the hardware lacks.
func (s *Scenario) Validate(ctx context.Context, o ValidateOptions) (report *Report, err error) {
	defer func() { err = s.located(err) }()
	v := &validator{options: o, runner: runner{s: s, options: o.RunOptions, do: o.stages(),
		numbers: func(check func()) { check() }}}
	if v.known, _, err = s.affordable(v.do, 1); err != nil {
		return nil, err
	}
	defer func() {
		if closing := v.close(); err == nil && closing != nil {
			report, err = nil, closing
		}
	}()
	report = &Report{Scenario: s}
	for _, p := range s.Points {
		result, err := v.point(ctx, p)
		switch {
		case ctx.Err() != nil:
			report.warn()
			return report, ctx.Err()
		case err != nil && len(report.Results) == 0:
			return nil, err
		case err != nil:
			report.warn()
			return report, err
		}
		for _, row := range result.rows() {
			if row.skipped != "" {
				report.Skipped = append(report.Skipped, Skip{Point: row.Point, Why: row.skipped})
				continue
			}
			report.Results = append(report.Results, row)
			if o.Done != nil {
				o.Done(row)
			}
		}
	}
	for _, p := range s.Programs {
		result, err := v.program(ctx, p)
		if err != nil {
			return report, err
		}
		report.Programs = append(report.Programs, result)
		if o.Program != nil {
			o.Program(result)
		}
	}
	if len(report.Results) == 0 && len(report.Skipped) > 0 {
		return nil, report.nothing()
	}
	report.judge()
	report.uncalibrated()
	report.warn()
	return report, nil
}

// validator carries points out and executes them on hardware.
type validator struct {
	runner
	options ValidateOptions
	device  hw.Executor // opened with setting; nil if there is none
	setting setting
}

func (v *validator) close() error {
	if v.device == nil {
		return nil
	}
	d := v.device
	v.device = nil
	return d.Close()
}

// open makes the device of a point, unless the point before has had the same.
func (v *validator) open(ctx context.Context, p *scenarios.Point) error {
	s := settingOf(p)
	if v.device != nil && v.setting == s {
		return nil
	}
	if err := v.close(); err != nil {
		return err
	}
	d, err := v.options.Open(ctx, &p.Hardware, v.network.graph)
	if err != nil {
		return err
	}
	v.device, v.setting = d, s
	return nil
}

// point carries out a point and its backward pass, and executes on hardware those without an
// error.
func (v *validator) point(ctx context.Context, p *scenarios.Point) (*Result, error) {
	result, m, err := v.begin(p)
	if err != nil || result.skipped != "" {
		return result, err
	}
	if err := v.carryOut(m, result); err != nil {
		return nil, err
	}
	if err := v.execute(ctx, m, result); err != nil {
		return nil, err
	}
	back, err := v.backward(m, result)
	switch {
	case err != nil:
		return nil, err
	case back != nil:
		err = v.execute(ctx, back, result.Backward)
	case result.Backward != nil: // a local one, or one that is skipped
		result.Backward.Measured = &Measured{Executor: p.Hardware.Executor,
			Bits: fidelity.NotComparable, Skipped: "a local gradient moves nothing"}
	}
	return result, err
}

// execute executes on hardware the schedules that were carried out, if that went well.
func (v *validator) execute(ctx context.Context, m *made, result *Result) error {
	p := result.Point
	result.Measured = &Measured{Executor: p.Hardware.Executor, Bits: fidelity.NotComparable}
	if result.Measured.Skipped = unfit(m, result); result.Measured.Skipped != "" {
		return nil
	}
	if err := v.open(ctx, p); err != nil {
		return err
	}
	err := v.measure(ctx, m, result)
	result.Warnings = append(result.Warnings, caveats(p, result.Measured)...)
	return err
}

// caveats say what of a point hardware does not do.
func caveats(p *scenarios.Point, m *Measured) (list []string) {
	if p.Starts() != nil || p.Topology.Slowdowns != nil {
		list = append(list, "ranks that start late or run slowly do so in the simulation alone")
	}
	if p.Accumulate != scenarios.Native && p.Spec.Op != 0 && m.Executed() && !m.Float32 {
		list = append(list, string(m.Executor)+" adds in the type itself: its bits are held against "+
			"that")
	}
	return list
}

// unfit returns why no executor can take a point, or "".
func unfit(m *made, r *Result) string {
	p := r.Point
	switch {
	case r.Faulted != nil && !suffers(p.Hardware.Executor):
		return fmt.Sprintf("%v injects no faults: host and callbacks do", p.Hardware.Executor)
	case r.Faulted != nil && r.Faulted.Hangs && r.sound():
	case !r.Good() || !r.Timed:
		return "its schedule is wrong, or its numbers are"
	case p.Hardware.Ranks > 0 && p.Topology.Ranks > p.Hardware.Ranks:
		return fmt.Sprintf("%d ranks: the hardware has %d", p.Topology.Ranks, p.Hardware.Ranks)
	case p.Hardware.Library && (len(m.members) != 1 || m.members[0].teams != 1):
		return "several teams: the library is asked for one collective at a time"
	}
	return ""
}

// tooLarge returns why the memory there is does not suffice to execute a schedule, or "".
func (v *validator) tooLarge(s *schedule.Schedule, p *scenarios.Point) string {
	sizer, sized := v.device.(hw.Sizer)
	if !sized || v.options.Memory == nil {
		return ""
	}
	need := executingTakes(s, p, sizer.Needs(s))
	there, of, known := v.options.Memory()
	if !known || need <= unit.Bytes(there) {
		return ""
	}
	return fmt.Sprintf("it takes %v of memory to execute it: %s has %v left", need, of,
		unit.Bytes(there))
}

// measure executes a schedule on hardware and compares the outcome with the prediction.
func (v *validator) measure(ctx context.Context, m *made, result *Result) error {
	p, to := result.Point, result.Measured
	if to.Skipped = v.tooLarge(m.whole, p); to.Skipped != "" {
		return nil
	}
	teams, err := v.teams(m, result)
	if err != nil {
		return err
	}
	job := &hw.Job{Schedule: m.whole, Inputs: inputsOf(m.whole, teams), Env: hw.Env{
		Warmup: p.Hardware.Warmup, Repetitions: p.Hardware.Repetitions, Slots: result.Slots,
		Iterations: result.passes() * result.callsInRow(), Timeout: p.Hardware.Timeout,
		Trace: v.options.Trace, Float32: p.Accumulate == scenarios.Float32}}
	runtime.GC() // so that none is due in the middle
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
	if done.Executed != nil {
		if err := v.instead(m, done.Executed, result); err != nil {
			return err
		}
		for _, t := range teams {
			t.schedule = done.Executed
		}
	}
	to.take(done, result.callsInRow(), result.measurable())
	return v.bits(done, teams, result)
}

// instead replaces the result by that of the schedule that the library executed in place of the
// point's.
func (v *validator) instead(m *made, executed *schedule.Schedule, result *Result) error {
	other := v.blank(result.Point)
	other.Algorithm, other.Picked = result.Algorithm, result.Picked
	other.Measured = result.Measured
	other.Gradient, other.Backward = result.Gradient, result.Backward
	other.Measured.Algorithm = executed.Name
	*result = *other
	return v.carryOut(&made{algorithm: m.algorithm, whole: executed,
		members: []member{{executed, 1}},
		another: func(spec collective.Spec) (*schedule.Schedule, error) {
			return nil, errors.New("the library's algorithm is known for what was executed alone")
		}}, result)
}

// teams returns the teams of a point with the inputs of their ranks.
func (v *validator) teams(m *made, result *Result) (list []*teamRun, err error) {
	p := *result.Point
	var inputs []arrays.Array
	if p.Data.Input != "" {
		if inputs, err = v.s.arrays.of(p.Data.Input, inputWant(&p)); err != nil {
			return nil, p.Refuse("collective.input", err.Error(), "")
		}
	}
	for _, team := range p.Members() {
		t := &teamRun{point: &p, team: team, schedule: m.of(len(team)),
			number: numberOf(p.Spec.Type)}
		if err := v.fill(t, inputs); err != nil {
			return nil, p.Refuse("check.data", err.Error(), "")
		}
		list = append(list, t)
	}
	return list, nil
}

// fill makes a team's inputs, or takes them from a file.
func (v *validator) fill(t *teamRun, inputs []arrays.Array) (err error) {
	x := v.calculationOf(t, inputs)
	t.calculated = &calculated{in: x.in}
	if x.in == nil {
		if x.data == reference.Exact {
			x.data = reference.Normal // any order gets exact data right
		}
		t.calculated.in, err = t.number.inputs(x)
	}
	return err
}

// inputsOf returns the inputs of all ranks of a network.
func inputsOf(s *schedule.Schedule, teams []*teamRun) [][]byte {
	all := make([][]byte, s.Spec.Ranks)
	for _, t := range teams {
		for place, rank := range t.team {
			all[rank] = t.calculated.in[place]
		}
	}
	return all
}

// bits holds outputs against the interpreter's, which adds as the executor has done.
func (v *validator) bits(done *hw.Result, teams []*teamRun, result *Result) error {
	to := result.Measured
	if need := needed(teams); need > int64(result.Point.Check.Memory) {
		to.Why = fmt.Sprintf("that takes %v of memory; check.memory = %v", unit.Bytes(need),
			result.Point.Check.Memory)
		return nil
	}
	to.Comparison = &Comparison{}
	for _, t := range teams {
		p := t.point.Flat() // compares elements in the order of memory
		t.point = p
		if t.sums = reference.Native; done.Float32 {
			t.sums = reference.InFloat32
		}
		x := &calculation{schedule: t.schedule, in: t.calculated.in, accumulate: t.sums}
		got, err := t.number.calculate(x)
		if err != nil {
			return p.Refuse("collective.algorithm", reason(err), "")
		}
		t.calculated = got
		theirs, ours := make([]arrays.Array, p.Topology.Ranks), make([]arrays.Array, p.Topology.Ranks)
		for place, rank := range t.team {
			theirs[rank].Data, ours[rank].Data = done.Outputs[rank], got.out[place]
		}
		if err := t.compare(theirs, ours, to.Comparison); err != nil {
			return p.Refuse("collective.algorithm", reason(err), "")
		}
	}
	if to.Bits = fidelity.Equal; !to.Comparison.Equal() {
		to.Bits = fidelity.Differ
	}
	return nil
}

// needed returns the memory for computing the expected outputs of teams: inputs and outputs, as
// bytes and as numbers.
func needed(teams []*teamRun) (n int64) {
	for _, t := range teams {
		spec := &t.schedule.Spec
		for place := range t.team {
			n += 2 * (spec.In(place) + spec.Out(place)) * int64(spec.Type.Width())
		}
	}
	return n
}
