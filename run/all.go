package run

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"collsim/scenarios"
	"collsim/schedule"
)

// RunOptions holds the options of running points; the zero value is the usual choice.
type RunOptions struct {
	Trace bool // keep every result's timeline
	Links bool // keep what every link did
	// Numerics checks numbers on normal data where the scenario has exact ones, and finds out what
	// the order of additions depends on.
	Numerics bool
	// Done is called for every result as soon as those before it are done, in the order of the
	// points, never by two goroutines at once; nil is not called. A backward pass is a result of
	// its own (Result.Gradient), behind the forward one.
	Done func(*Result)
	// Drop has the report count results instead of keeping them: Done has had each. A run then needs
	// no memory for results that are done.
	Drop bool
	// Program is the same for the programs of the scenario, which follow its points.
	Program func(*ProgramResult)
	// Phase is called when a phase of a point begins, and ended when that phase ends, by several
	// goroutines at once; nil is not called.
	Phase func(id string, phase Phase) (progress Progress, ended func())
}

// Phase is a part of carrying out a point. Phases follow one another or go on side by side.
type Phase struct {
	Name    string // such as "proof"
	Cheaper string // what would take less
}

// The phases that may go on for long.
var (
	proofStage = Phase{"proof", "check.proof = false does without"}
	simStage   = Phase{"simulation", `sim.sharing = "fifo", or fewer ranks or chunks, take less`}
	checkStage = Phase{"check of numbers", "check.numbers = false does without"}
)

// Progress is called now and then, by several goroutines at once, with how much of a phase is done.
// A phase may begin anew: then less is done than before. nil: nobody asks.
type Progress func(done, total int64)

// staged reports a phase of a point while it is carried out.
func (o *RunOptions) staged(p *scenarios.Point, phase Phase, carryOut func(Progress)) {
	if o.Phase == nil {
		carryOut(nil)
		return
	}
	progress, ended := o.Phase(p.ID, phase)
	defer ended()
	carryOut(progress)
}

// of returns a function that reports how many steps of a schedule are done; nil if nobody asks. It
// counts the schedule's steps when it is called first.
func (p Progress) of(s *schedule.Schedule) func(steps int64) {
	if p == nil {
		return nil
	}
	total := sync.OnceValue(func() int64 { return Steps(s) })
	return func(steps int64) { p(min(steps, total()), total()) }
}

// stages returns the stages that a run carries out: with a trace it also logs and draws.
func (o *RunOptions) stages() stages {
	if o.Trace {
		return runs | logs | draws
	}
	return runs
}

// Report holds the results of a scenario.
type Report struct {
	Scenario *Scenario
	Results  []*Result // in the order of the points; fewer if the run was interrupted
	Programs []*ProgramResult
	Dropped  int    // results that are not kept (RunOptions.Drop)
	Skipped  []Skip // of the algorithms that "all" stands for, those that cannot do it
	Warnings []string
	Misses   []string // of a validation: what is outside of the scenario's tolerance

	droppedBad      bool     // a check of a dropped result has failed
	droppedWarnings []string // of dropped results
}

// Good reports whether no check has failed.
func (r *Report) Good() bool {
	if r.droppedBad {
		return false
	}
	for _, result := range r.Results {
		if !result.Good() {
			return false
		}
	}
	for _, result := range r.Programs {
		if !result.Good() {
			return false
		}
	}
	return len(r.Misses) == 0
}

// Run carries out all points with as many workers as there are processors, and checks numbers of
// one point at a time. Where each worker has two processors, a point's proof runs beside its
// simulation. When the context ends, Run returns its error at once, with the finished results; it
// drops the points under way. Where a point cannot be run, the error comes with the report of the
// points before it. Done has then been called for just these, whichever worker was faster. The
// report is nil if there is no result.
func (s *Scenario) Run(ctx context.Context, o RunOptions) (report *Report, err error) {
	defer func() { err = s.located(err) }()
	report = &Report{Scenario: s}
	c := &pool{s: s, options: o, report: report, done: make(chan outcome, ahead),
		gone: make(chan struct{}), shared: newShared()}
	workers := 0
	c.known, workers, c.spare, err = s.workers(o.stages(), runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	c.working.Store(int32(workers))
	for range workers {
		go c.work(ctx)
	}
	err = c.collect(ctx)
	none := len(report.Results)+report.Dropped == 0
	if err == nil && none && len(report.Skipped) > 0 && s.partOf == 0 {
		return nil, report.nothing()
	}
	if err == nil {
		report.Programs, err = s.runPrograms(ctx, o, c.known)
	}
	if err != nil && !errors.Is(err, ctx.Err()) && none && len(report.Programs) == 0 {
		return nil, err
	}
	report.warn()
	return report, err
}

// workers returns how many points to carry out at once on so many processors. known holds what
// was built to find out the memory that points take. spare reports whether each worker has two
// processors and the memory of two points: a point may then run two stages at once.
func (s *Scenario) workers(do stages, processors int) (known asked, workers int, spare bool,
	err error) {
	known, together, err := s.affordable(do, processors)
	workers = max(1, min(together, len(s.Points)))
	return known, workers, together >= 2*workers, err
}

// nothing returns the error of a scenario that skips every point.
func (r *Report) nothing() error {
	var list []Candidate
	for _, s := range r.Skipped {
		list = append(list, Candidate{Algorithm: s.Point.Algorithm, Why: s.Why})
	}
	return r.Skipped[0].Point.Refuse("collective.algorithm", noneOf(list), "")
}

// pool is a number of workers that share the points of a scenario.
type pool struct {
	s       *Scenario
	options RunOptions
	report  *Report
	next    atomic.Int64 // point to take
	stop    atomic.Bool  // take no more
	working atomic.Int32
	known   asked
	spare   bool // a point may use two processors
	numbers sync.Mutex
	shared  *shared
	done    chan outcome
	gone    chan struct{} // closed when nobody takes outcomes any longer
}

// ahead limits the results that wait to be taken: each takes memory.
const ahead = 16

type outcome struct {
	point  int
	result *Result
	err    error
	panics any // what a worker has panicked with, and where
	stack  []byte
}

// work takes points until there are none.
func (c *pool) work(ctx context.Context) {
	r := &runner{s: c.s, options: c.options, shared: c.shared, do: c.options.stages(),
		known: c.known, spare: c.spare}
	r.numbers = func(check func()) {
		c.numbers.Lock()
		defer c.numbers.Unlock()
		check()
	}
	defer func() {
		if c.working.Add(-1) == 0 {
			close(c.done)
		}
	}()
	for !c.stop.Load() && ctx.Err() == nil {
		i := int(c.next.Add(1) - 1)
		if i >= len(c.s.Points) {
			return
		}
		o := attempt(r, c.s.Points[i])
		o.point = i
		if o.err != nil || o.panics != nil {
			c.stop.Store(true)
		}
		select {
		case c.done <- o:
		case <-c.gone:
			return
		}
	}
}

// attempt runs a point and catches a panic, which belongs to the caller of Run.
func attempt(r *runner, p *scenarios.Point) (o outcome) {
	defer func() {
		if o.panics = recover(); o.panics != nil {
			o.stack = debug.Stack()
		}
	}()
	o.result, o.err = r.run(p)
	return o
}

// collect gathers what the workers have done in the report. Points are taken in order, so the first
// that fails is the same in every run.
func (c *pool) collect(ctx context.Context) error {
	defer close(c.gone)
	results := make([]*Result, len(c.s.Points)) // that are done and wait for those before them
	failed := outcome{point: len(results)}
	told := 0
	for {
		select {
		case o, more := <-c.done:
			switch {
			case !more && failed.panics != nil:
				panic(fmt.Sprintf("%v\n\n%s", failed.panics, failed.stack))
			case !more && failed.err == nil && ctx.Err() != nil:
				c.deliverAll(results)
				return ctx.Err()
			case !more:
				return failed.err
			case o.result == nil && o.point < failed.point:
				failed = o
			}
			results[o.point] = o.result
		case <-ctx.Done():
			c.deliverAll(results)
			return ctx.Err()
		}
		for told < len(results) && results[told] != nil {
			c.deliver(results[told])
			results[told] = nil
			told++
		}
	}
}

// deliver takes in a result, and that of its backward pass.
func (c *pool) deliver(r *Result) {
	for _, row := range r.rows() {
		if row.skipped != "" {
			c.report.Skipped = append(c.report.Skipped, Skip{Point: row.Point, Why: row.skipped})
			continue
		}
		if c.options.Done != nil {
			c.options.Done(row)
		}
		c.report.take(row, c.options.Drop)
	}
}

// deliverAll takes in the results that exist, in the order of the points.
func (c *pool) deliverAll(results []*Result) {
	for _, r := range results {
		if r != nil {
			c.deliver(r)
		}
	}
}

// take keeps a result, or counts it.
func (r *Report) take(row *Result, drop bool) {
	if !drop {
		r.Results = append(r.Results, row)
		return
	}
	r.Dropped++
	r.droppedBad = r.droppedBad || !row.Good()
	for _, w := range row.Warnings {
		r.droppedWarnings = append(r.droppedWarnings, row.Point.ID+": "+w)
	}
}

// RunPoint carries out one point of the scenario.
func (s *Scenario) RunPoint(p *scenarios.Point, o RunOptions) (result *Result, err error) {
	defer func() { err = s.located(err) }()
	r := &runner{s: s, options: o, do: o.stages(), numbers: func(check func()) { check() }}
	result, err = r.run(p)
	if err == nil && result.skipped != "" {
		return nil, p.Refuse("collective.algorithm", result.skipped, "")
	}
	return result, err
}

// warn gathers the notes on the scenario and the warnings of all results.
func (r *Report) warn() {
	r.Warnings = append(append(r.Warnings, r.Scenario.Notes...), r.droppedWarnings...)
	for _, result := range r.Results {
		for _, w := range result.Warnings {
			r.Warnings = append(r.Warnings, result.Point.ID+": "+w)
		}
	}
}
