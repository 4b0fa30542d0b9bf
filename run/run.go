package run

import (
	"errors"
	"math"
	"slices"

	"collsim/bounds"
	"collsim/reference"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// runner runs points one after the other, and remembers the network of the last.
type runner struct {
	s       *Scenario
	options RunOptions
	topo    *scenarios.Topology
	teams   [][]int
	network network
	asNew   *topology.Graph            // with no list of links: its ranks are known alike
	bounds  map[boundKey]bounds.Bounds // of this network and teams
	hops    map[hops]*topology.Graph   // this network with latencies of protocols
	// Calls are not simulated to choose, but counted here; nil: as they are run
	candidates *Estimate
	byItself   []LibraryCall      // calls of a program that name no algorithm
	sound      bool               // programs are simulated without their faults
	critical   bool               // keep what the simulation says of the critical path
	do         stages             // of what is begun
	known      asked              // points that have been made, and that fit
	numbers    func(check func()) // runs a check of numbers when the memory for one is free
	shared     *shared            // checks of numbers that were made; nil makes each anew
	spare      bool               // there is a second core for each point, and memory
}

// run carries a point out. The error is a *scenarios.Refusal where the scenario can be changed to
// avoid it. An algorithm of "all" that cannot do it makes a result that is skipped.
func (r *runner) run(p *scenarios.Point) (*Result, error) {
	result, m, err := r.begin(p)
	if err != nil || result.skipped != "" {
		return result, err
	}
	if err := r.carryOut(m, result); err != nil {
		return nil, err
	}
	if _, err := r.backward(m, result); err != nil {
		return nil, err
	}
	return result, nil
}

// carryOut proves, times, computes and bounds what has been made of a point. What a proof and a
// simulation find is the same side by side: neither reads what the other does.
func (r *runner) carryOut(m *made, result *Result) error {
	var ran *sim.Result
	var err error
	prove := func() {
		r.options.staged(result.Point, proofStage, func(p Progress) {
			r.prove(m, result, p.of(m.whole))
		})
	}
	simulate := func() {
		r.options.staged(result.Point, simStage, func(p Progress) {
			ran, err = r.simulateAll(m, result, p.of(m.whole))
		})
	}
	if r.spare {
		both(prove, simulate)
	} else {
		prove()
		simulate()
	}
	if err := r.time(result, ran, err); err != nil {
		return err
	}
	if result.Timed {
		result.Held = r.held(m.whole, result)
		r.timeCalls(m.whole, result, ran)
		r.s.compareLogged(result)
	}
	r.options.staged(result.Point, checkStage, func(p Progress) {
		err = r.compute(m, result, p)
	})
	if err != nil {
		return err
	}
	r.numerics(m, result)
	if err := r.bound(m, result); err != nil {
		return err
	}
	result.closedForm(&r.network)
	result.warn(&r.network)
	return nil
}

// begin makes what a point is carried out as, and its result, which may say that it is skipped.
func (r *runner) begin(p *scenarios.Point) (*Result, *made, error) {
	if err := r.enter(p); err != nil {
		return nil, nil, err
	}
	result := r.blank(p)
	m, err := r.choose(result)
	if err == nil && r.known[p] == nil {
		err = r.s.fits(p, m, r.do)
	}
	var cannot *illegal
	var large *tooLarge
	switch {
	case (errors.As(err, &cannot) || errors.As(err, &large)) && r.s.mayLeaveOut(p):
		result.skipped = reason(err)
		return result, nil, nil
	case large != nil:
		return nil, nil, r.s.refuseLarge(p, err)
	case err != nil:
		return nil, nil, p.Refuse("collective.algorithm", reason(err), "")
	}
	return result, m, nil
}

// blank returns a result in which nothing is known yet.
func (r *runner) blank(p *scenarios.Point) *Result {
	return &Result{Point: p, Proof: Off, Numbers: Off, Rounds: -1, MinSlots: -1, ClosedForm: -1,
		Teams: max(1, len(p.Teams)), Network: r.network.String()}
}

// enter makes the network of a point, unless the point before has had the same.
func (r *runner) enter(p *scenarios.Point) error {
	if r.topo == p.Topology && slices.EqualFunc(r.teams, p.Teams, slices.Equal) {
		return nil
	}
	g, err := p.Topology.Graph()
	if err != nil {
		return p.Refuse("topology", err.Error(), "")
	}
	r.asNew = g
	if !g.IsListed() {
		r.asNew = g.Clone()
	}
	r.topo, r.teams, r.network = p.Topology, p.Teams, newNetwork(g, p.Teams)
	r.network.nodes, r.network.machine = p.Topology.Nodes, p.Topology.Machine
	r.bounds, r.hops = map[boundKey]bounds.Bounds{}, map[hops]*topology.Graph{}
	return nil
}

// prove verifies the schedule. Without a proof its rounds are counted all the same.
func (r *runner) prove(m *made, result *Result, progress func(steps int64)) {
	s, p := m.whole, result.Point
	result.Slots = p.Sim.Slots
	if own := m.members[0].schedule.Slots; own > 0 {
		result.Slots = own
	}
	if !p.Check.Proof {
		if s.Teams() == nil && !schedule.Composed(s) { // time says whether it can be carried out
			result.Rounds = s.Rounds()
			return
		}
		counts, err := schedule.Execute(s, schedule.Limits{Slots: result.Slots}, schedule.Hooks{})
		if err == nil {
			result.Rounds = counts.Rounds
		}
		return
	}
	v := r.shared.proof(&r.s.kept, proofKey{s, p.Sim.Slots}, func() *Verification {
		return m.verify(r.s.nameOf(p), p, -1, progress)
	})
	result.Proof, result.Proven = Proved, Proven(&s.Spec, v.Causal)
	if !v.Good() {
		result.Proof, result.Violations = Failed, slices.Clip(v.Violations)
		return
	}
	result.Rounds, result.MinSlots = v.Proof.Rounds, v.Proof.MinSlots
	result.Walked = v.Proof.Walked
	if m.file != nil {
		result.Warnings = append(result.Warnings, v.Notes[len(m.file.Notes):]...)
	}
}

// simulatePasses simulates what was made of a point as often as the result says, unless that was
// done to choose it. It does not change the schedule.
func (r *runner) simulatePasses(m *made, result *Result, progress func(steps int64)) (*sim.Result,
	error) {
	s := m.whole
	env, o := r.env(result.Point, s), sim.Options{Trace: r.options.Trace,
		Critical: r.critical || r.options.Trace && engineOf(result.Point) != sim.Fold,
		Engine:   engineOf(result.Point),
		Folded:   !r.options.Links && result.passes() == 1}
	if m.ran != nil && m.ranBy == o && result.passes() == 1 {
		return m.ran, nil
	}
	env.Progress = progress
	if err := env.Graph.Listable(); err != nil && r.options.Links {
		return nil, result.Point.Refuse("topology.ranks", err.Error(), "")
	}
	ran, err := r.simulate(s, env, o, result)
	if err == nil && result.passes() == 2 {
		ran, err = again(s, env, o, ran)
	}
	return ran, err
}

// time takes in what became of a simulation.
func (r *runner) time(result *Result, ran *sim.Result, err error) error {
	var refused *scenarios.Refusal
	var unfolded *sim.NotFolded
	var unswept *sim.NotSwept
	var large *tooLarge
	switch {
	case errors.As(err, &refused):
		return err
	case errors.As(err, &large):
		return large.refusal(result.Point)
	case errors.As(err, &unfolded) || errors.As(err, &unswept):
		return result.Point.Refuse("sim.engine", err.Error(), "leave it out, or write "+
			`engine = "event"`)
	case err != nil && !result.refuted(err):
		return result.Point.Refuse("collective.algorithm", reason(err), "")
	case err != nil:
		if result.Proof == Off {
			result.Rounds = -1
		}
		return nil
	case ran == nil: // a fault keeps it from its end
		return nil
	}
	result.Timed, result.Time, result.Engine = true, ran.Time, ran.Engine
	result.Steps, result.Messages = ran.Steps, ran.Messages
	result.BytesSent, result.LinkBytes = ran.BytesSent, ran.LinkBytes
	result.Trace = ran.Trace
	if r.critical {
		result.ran = ran
	}
	result.Limit = r.network.limit(ran)
	if r.options.Trace {
		result.Devices, result.Critical = r.network.devices(), ran.Critical
	}
	if r.options.Links {
		result.Links = r.network.uses(ran)
	}
	return nil
}

// simulate simulates a schedule. A trace of too many steps shows one rank of each class of equal
// ranks. If ranks turn out to differ, it shows all of them, provided that there is memory for
// that.
func (r *runner) simulate(s *schedule.Schedule, env sim.Env, o sim.Options,
	result *Result) (*sim.Result, error) {
	w, p := work{}, result.Point
	if o.Trace && o.Engine == sim.Best && result.passes() == 1 {
		w = workOn(s, graphOf(p))
	}
	if !drawnByClasses(s, p, w) {
		return sim.Run(s, env, o)
	}
	byClasses := o
	byClasses.Engine, byClasses.Critical = sim.Fold, false
	ran, err := sim.Run(s, env, byClasses)
	var unfolded *sim.NotFolded
	if !errors.As(err, &unfolded) {
		return ran, err
	}
	all := Takes{Simulation: simulationTakes(s, p, w, 0),
		Log: of(w.steps+w.transfers, recordBytes)}
	if err := r.s.Free.lacks(all); err != nil {
		return nil, err
	}
	return sim.Run(s, env, o)
}

// envOf returns where a point runs whose schedule has no protocol, on the network of a graph.
func envOf(p *scenarios.Point, g *topology.Graph) sim.Env {
	env := sim.Env{Graph: g, Device: *p.Device, Segment: p.Sim.Segment,
		Slots: p.Sim.Slots, Start: p.Starts()}
	if p.Sim.Sharing == scenarios.FIFO {
		env.Sharing = sim.FIFO
	}
	if p.Sim.Switching == scenarios.StoreForward {
		env.Switching = sim.StoreForward
	}
	for _, factor := range p.Topology.Slowdowns {
		env.Slowdown = append(env.Slowdown, unit.Share(math.Round(factor*1e6)))
	}
	return env
}

// engineOf returns the engine that simulates a point's schedule.
func engineOf(p *scenarios.Point) sim.Engine {
	switch p.Sim.Engine {
	case scenarios.EventEngine:
		return sim.Event
	case scenarios.FoldEngine:
		return sim.Fold
	case scenarios.SweepEngine:
		return sim.Sweep
	}
	return sim.Best
}

// compute runs the schedules on numbers and compares them with the definition. What cannot be
// carried out has none.
func (r *runner) compute(m *made, result *Result, progress Progress) error {
	if !result.Point.Check.Numbers {
		return nil
	}
	if m.file != nil && r.s.files[m.algorithm.String()].format.Dataless {
		result.NumbersOff = "the file tells how many bytes move, not what they hold"
		return nil
	}
	if result.Point.Data.Any() {
		return r.carry(m, result)
	}
	result.Data = dataOf(result.Point, r.options.Numerics).String()
	for i, member := range m.members {
		amount := amountOf(member.schedule, result.Point, workOf(member.schedule))
		if amount.none != "" {
			result.Numbers, result.NumbersOff = Off, amount.none
			return nil
		}
		result.sampled = result.sampled || amount.count > 0
		report, err := r.check(member.schedule, m, result.Point, amount, progress)
		if err != nil && result.refuted(err) {
			result.Numbers = Off
			return nil
		}
		if err != nil {
			return result.Point.Refuse("check.memory", err.Error(), "")
		}
		if report.Numbers == reference.NumbersOff {
			result.Numbers, result.NumbersOff = Off, report.Why
			return nil
		}
		if i == 0 {
			result.Numbers, result.Checked = string(report.Numbers), report.Checked
			result.RanksAgree, result.checkedAll = true, true
		}
		result.add(report, member)
	}
	return nil
}

// check compares so much of one schedule's numbers with the definition; what other points have
// found out is not found out again.
func (r *runner) check(s *schedule.Schedule, m *made, p *scenarios.Point, a amount,
	progress Progress) (reference.Report, error) {
	o := checkOptions(p, dataOf(p, r.options.Numerics), a)
	return r.shared.once(nameOfCheck(s, m, o), func() (reference.Report, error) {
		o.Progress = progress
		return r.checkNow(s, m, p, o)
	})
}

// checkNow makes a check.
func (r *runner) checkNow(s *schedule.Schedule, m *made, p *scenarios.Point,
	o reference.CheckOptions) (report reference.Report, err error) {
	fits := true // a file can do the smaller count that a check is made on
	o.Rebuild = func(count int64) (*schedule.Schedule, error) {
		spec := s.Spec
		spec.Count = count
		other, err := r.rebuild(m, p, spec)
		fits = fits && err == nil
		return other, err
	}
	r.numbers(func() {
		report, err = reference.Check(s, o)
		if !fits && m.algorithm.FromFile() { // takes longer, but not more memory
			o.Rebuild = nil
			report, err = reference.Check(s, o)
		}
	})
	return report, err
}

// add takes in what became of the numbers of some teams: the worst of all counts.
func (r *Result) add(report reference.Report, m member) {
	if rank(report.Numbers) > rank(reference.Verdict(r.Numbers)) {
		r.Numbers = string(report.Numbers)
	}
	r.Wrong += report.Wrong * int64(m.teams)
	r.MaxULP, r.MeanULP = max(r.MaxULP, report.MaxULP), max(r.MeanULP, report.MeanULP)
	r.MaxRelative = max(r.MaxRelative, report.MaxRelative)
	r.Depth, r.Bound = max(r.Depth, report.Depth), max(r.Bound, report.Bound)
	r.RanksAgree = r.RanksAgree && report.RanksAgree
	r.Sampled += report.Sampled
	r.checkedAll = r.checkedAll && report.Sampled == 0 &&
		report.Checked >= CountOf(m.schedule.Spec)
	if r.Mismatch == nil {
		r.Mismatch = report.First
	}
}

// rank orders verdicts from the best to the worst.
func rank(v reference.Verdict) int {
	return slices.Index([]reference.Verdict{reference.NumbersExact, reference.NumbersBounded,
		reference.NumbersMismatch}, v)
}
