package collsim

import (
	"errors"
	"fmt"
	"math"

	"collsim/algos"
	"collsim/collective"
	"collsim/reference"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/sim"
	"collsim/unit"
)

// Build makes the schedule of a point.
func (s *Scenario) Build(p *scenarios.Point) (*schedule.Schedule, error) {
	return s.build(p, p.Spec)
}

// build is Build for another size of the same collective.
func (s *Scenario) build(p *scenarios.Point, spec collective.Spec) (*schedule.Schedule, error) {
	if p.Algorithm.Name == "file" {
		return fit(s.files[p.Algorithm.File], spec)
	}
	a, err := algos.Find(spec.Kind, p.Algorithm.Name)
	if err != nil {
		return nil, err
	}
	return a.Build(spec, options(p.Algorithm))
}

// fit is a schedule from a file for another count, type or operator. What it says of the ranks
// must hold as it is.
func fit(s *schedule.Schedule, spec collective.Spec) (*schedule.Schedule, error) {
	own := s.Spec
	for _, fact := range []struct{ what, has, wants string }{
		{"the collective", own.Kind.String(), spec.Kind.String()},
		{"ranks", fmt.Sprint(own.Ranks), fmt.Sprint(spec.Ranks)},
		{"root", fmt.Sprint(own.Root), fmt.Sprint(spec.Root)},
		{"in place", fmt.Sprint(own.InPlace), fmt.Sprint(spec.InPlace)},
		{"splits", fmt.Sprint(own.Splits), fmt.Sprint(spec.Splits)},
	} {
		if fact.has != fact.wants {
			return nil, fmt.Errorf("the schedule is for %s %s, not %s", fact.what, fact.has, fact.wants)
		}
	}
	if own.Count != spec.Count && s.Memory > 0 {
		return nil, fmt.Errorf("the schedule has a scratch buffer for count %d, not %d", own.Count,
			spec.Count)
	}
	fitted := *s
	fitted.Spec = spec
	return schedule.Parse(fitted.String()) // which checks the cuts of the new size
}

// runner runs points one after the other, and remembers the network of the last.
type runner struct {
	s       *Scenario
	options RunOptions
	topo    *scenarios.Topology
	network network
	numbers func(check func()) // runs a check of numbers when the memory for one is free
}

// run carries a point out. The error is a *scenarios.Error where the scenario can be changed to
// avoid it.
func (r *runner) run(p *scenarios.Point) (*Result, error) {
	s, err := r.s.Build(p)
	if err != nil {
		return nil, p.Error("collective.algorithm", unprefixed(err), "")
	}
	if r.topo != p.Topology {
		g, err := p.Topology.Graph()
		if err != nil {
			return nil, p.Error("topology", unprefixed(err), "")
		}
		r.topo, r.network = p.Topology, newNetwork(g)
	}
	result := &Result{Point: p, Proof: Off, Numbers: Off, Rounds: -1, MinSlots: -1, ClosedForm: -1,
		network: r.network.String()}
	result.prove(s)
	if err := r.time(s, result); err != nil {
		return nil, err
	}
	if err := r.compute(s, result); err != nil {
		return nil, err
	}
	result.closedForm(&r.network)
	result.warn(&r.network)
	return result, nil
}

// prove verifies the schedule. Without a proof its rounds are counted all the same.
func (r *Result) prove(s *schedule.Schedule) {
	slots := r.Point.Sim.Slots
	if s.Slots > 0 {
		slots = s.Slots
	}
	r.Slots = slots
	if !r.Point.Check.Proof {
		counts, err := schedule.Execute(s, schedule.Limits{Slots: slots}, schedule.Hooks{})
		if err == nil {
			r.Rounds = counts.Rounds
		}
		return
	}
	proof, found := schedule.Verify(s, schedule.VerifyOptions{Slots: r.Point.Sim.Slots})
	r.Proof = Proved
	if len(found) > 0 {
		r.Proof = Failed
		r.Violations = violations(found)
		return
	}
	r.Rounds, r.MinSlots = proof.Rounds, proof.MinSlots
}

// time simulates the schedule.
func (r *runner) time(s *schedule.Schedule, result *Result) error {
	env := r.env(result.Point)
	ran, err := sim.Run(s, env, sim.Options{Trace: r.options.Trace})
	var cost *sim.CostError
	switch {
	case errors.As(err, &cost):
		return result.Point.Error("sim.sharing", unprefixed(err), "")
	case err != nil && !result.refuted(err):
		return result.Point.Error("collective.algorithm", unprefixed(err), "")
	case err != nil:
		return nil
	}
	result.Timed, result.Time, result.Engine = true, ran.Time, ran.Engine
	result.Steps, result.Messages = ran.Steps, ran.Messages
	result.BytesSent, result.LinkBytes = ran.BytesSent, ran.LinkBytes
	result.Trace = ran.Trace
	result.Limit = r.network.limit(ran)
	return nil
}

// env is where a point runs.
func (r *runner) env(p *scenarios.Point) sim.Env {
	env := sim.Env{Graph: r.network.graph, Device: p.Device, Segment: p.Sim.Segment,
		Slots: p.Sim.Slots, Start: p.Topology.Starts}
	if p.Sim.Sharing == sim.FIFO.String() {
		env.Sharing = sim.FIFO
	}
	if p.Sim.Switching == sim.StoreForward.String() {
		env.Switching = sim.StoreForward
	}
	for _, factor := range p.Topology.Slowdowns {
		env.Slowdown = append(env.Slowdown, unit.Share(math.Round(factor*1e6)))
	}
	return env
}

// compute runs the schedule on numbers and compares them with the definition. A schedule that
// cannot be carried out has none.
func (r *runner) compute(s *schedule.Schedule, result *Result) error {
	p := result.Point
	if !p.Check.Numbers {
		return nil
	}
	data, err := reference.ParseData(p.Check.Data)
	if err != nil {
		return p.Error("check.data", unprefixed(err), "")
	}
	var report reference.Report
	r.numbers(func() {
		report, err = reference.Check(s, reference.CheckOptions{
			Seed:   uint64(p.Seed),
			Data:   data,
			Memory: int64(p.Check.Memory),
			Slots:  p.Sim.Slots,
			Rebuild: func(count int64) (*schedule.Schedule, error) {
				spec := p.Spec
				spec.Count = count
				return r.s.build(p, spec)
			},
		})
	})
	if err != nil {
		if result.refuted(err) {
			return nil
		}
		return p.Error("check.memory", unprefixed(err), "")
	}
	result.Numbers, result.Checked, result.Wrong = string(report.Numbers), report.Checked, report.Wrong
	result.MaxULP, result.RanksAgree = report.MaxULP, report.RanksAgree
	result.Mismatch = report.First
	return nil
}
