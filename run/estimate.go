package run

import (
	"errors"

	"collsim/collective"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/sim"
	"collsim/unit"
)

// Estimate is what a point will cost, worked out from its schedule without running it.
type Estimate struct {
	Point           *scenarios.Point
	Skipped         string  // why the point will be skipped; empty if it will be run
	Parts           int     // of a program; 0 of a collective
	Algorithms      int     // that will be simulated: several for "fastest", else 1
	Steps, Messages int64   // of all of them; slices one by one
	Seconds         float64 // on one core of a shared server at 2.5 GHz
	Within          float64 // what is taken is at most so many times more or less, most likely
	NumberSeconds   float64 // of them those that the check of numbers takes
	Takes           Takes   // stage by stage, the most of all of them
	Played          int64   // ranks that stand for all in a simulation of the last; 0: all are played
	Refused         string  // why a run will be refused, by what rates of flows take
	folded          int     // algorithms of which a network knows that few ranks stand for all
	Memory          unit.Bytes
	MemoryWithin    float64 // what is taken is at most so many times more or less, most likely

	checks []checkCost // of NumberSeconds
	rough  float64     // of Seconds, those that are only known to RoughlyKnown,
	hard   float64     // and those that are HardlyForeseen
	once   float64     // of Seconds, those of bounds and of a look at the network: once for all
	walks  bool        // a proof walks all ranks of some schedule,
	plays  bool        // a simulation plays them by events, or a schedule of programs of their own
	scaled int64       // numbers of a program are checked on sizes that are one of so many parts
}

// Estimate builds the schedule of a point, or of every algorithm that may turn out the fastest, and
// counts its steps.
func (s *Scenario) Estimate(p *scenarios.Point) (_ *Estimate, err error) {
	defer func() { err = s.located(err) }()
	e := &Estimate{Point: p}
	algorithms := standsFor(p)
	if p.Algorithm.Name == fastestName {
		algorithms = s.fewerChannels(p, algorithms)
	}
	var why error
	for _, a := range algorithms {
		m, err := s.make(p, a)
		var cannot *illegal
		if errors.As(err, &cannot) && (s.mayLeaveOut(p) || len(algorithms) > 1) {
			why = err
			continue
		}
		if err != nil {
			return nil, p.Refuse("collective.algorithm", reason(err), "")
		}
		e.add(m)
	}
	if e.Algorithms == 0 {
		e.Skipped = reason(why)
		return e, nil
	}
	if e.Seconds += e.once; isCluster(p) {
		e.rough += e.once
	}
	e.Within = e.known()
	e.slow()
	g, err := p.Topology.Graph()
	if err != nil {
		return nil, p.Refuse("topology", err.Error(), "")
	}
	_, isQuotient := g.Quotient()
	isSearched := !g.Alike() && !isQuotient || p.Spec.Kind == collective.SendRecv
	if e.folded < e.Algorithms || isSearched { // else bounds do not look at all of them
		e.Takes.Schedule += unit.Bytes(linkBytes * g.NumLinks())
	}
	e.Memory = commandBytes + e.Takes.peak()
	e.MemoryWithin = e.memoryKnown()
	return e, nil
}

// SharedCore is how much longer a core of a shared server at 2.5 GHz takes than the figures of
// costs, which are one's in a good hour: in the middle of the 1 to 2.3 times that were measured.
const SharedCore = 1.5

// slow has time be that of such a core.
func (e *Estimate) slow() {
	e.Seconds *= SharedCore
	e.NumberSeconds *= SharedCore
	for i := range e.checks {
		e.checks[i].seconds *= SharedCore
	}
}

// known is how well its time is known, by how well its parts are.
func (e *Estimate) known() float64 {
	most := e.Seconds + float64((RoughlyKnown-1)*e.rough) + float64((HardlyForeseen-1)*e.hard)
	switch {
	case most <= float64(WellKnown*e.Seconds):
		return WellKnown
	case most <= float64(RoughlyKnown*e.Seconds):
		return RoughlyKnown
	}
	return HardlyForeseen
}

// add counts one algorithm. Checks are made of one alone.
func (e *Estimate) add(m *made) {
	e.Algorithms++
	var all cost
	var takes Takes
	hardToProve := 0.0
	for _, member := range m.members {
		s, p := member.schedule, e.Point
		w := workOf(s)
		var isUneven bool
		e.Played, isUneven = playedOf(s, p, w)
		w.look(s, p, e.Played)
		c := costOf(s, p, w, member.teams)
		u := takesOf(s, p, w, member.teams, 1)
		fresh := float64(1e-9 * freshTime * float64(u.Numbers))
		c.rough, c.numbers = c.rough+fresh, c.numbers+fresh
		n := classesOf(s, p, w)
		if n > 0 || isUneven && !isListed(p) {
			e.folded++
		}
		if n = max(n, e.Played); n > 0 && !isLong(s, p, w, n) {
			u.Simulation = folded(s, w, n)
		}
		if e.Played == 0 && p.Sim.Sharing == scenarios.Fluid && p.Sim.Engine != scenarios.SweepEngine {
			err := sim.Unaffordable(w.places, w.ends(), w.messages, unit.Bytes(w.largest))
			if err != nil && e.Refused == "" {
				e.Refused = err.Error()
			}
		}
		c.simulate = playing(s, p, w.times(int64(member.teams)), e.Played)
		if isUneven {
			c.simulate = unevenly(s, p, w, e.Played)
			u.Simulation += bytesOf(unevenLaneBytes * float64(w.lanes))
		}
		c.inRow(s, p, w)
		e.once = max(e.once, onceFor(s, p, w))
		e.walks = e.walks || stoodFor(s) == 1
		e.plays = e.plays || hasOwn(s) || e.Played == 0 && !(sweeps(s, p, w) && w.meet == 0)
		switch {
		case isHard(s, p, w, e.Played):
			e.hard += c.build + c.simulate
			hardToProve += c.prove
		case isRough(s, p, w, e.Played, isUneven):
			e.rough += c.simulate
		}
		all = all.plus(c)
		e.expect(m, s, &c)
		takes = takes.plus(u)
		teams := int64(member.teams)
		e.Steps, e.Messages = e.Steps+teams*w.steps, e.Messages+teams*w.messages
	}
	e.Seconds += all.build + all.simulate
	if e.Algorithms == 1 {
		e.NumberSeconds = all.numbers
		e.Seconds, e.hard = e.Seconds+all.prove+all.numbers, e.hard+hardToProve
		e.rough += all.rough
	} else {
		takes.Proof, takes.Numbers = 0, 0
	}
	e.Takes = e.Takes.larger(takes)
}

// playedOf is how many ranks of a schedule are played for all, and whether with a time for each of
// these; 0 where all are played: what teams do side by side is not folded.
func playedOf(s *schedule.Schedule, p *scenarios.Point, w work) (ranks int64, isUneven bool) {
	e := p.Sim.Engine
	if e == scenarios.EventEngine || e == scenarios.SweepEngine || p.Teams != nil ||
		tooManyTiles(s, w) {
		return 0, false
	}
	g, err := p.Topology.Graph()
	if err != nil {
		return 0, false
	}
	env := envOf(p, g)
	played := sim.Simulated
	if e == scenarios.FoldEngine || s.Spec.Ranks >= sim.SweptFrom {
		played = sim.SimulatedEither
	}
	n, isUneven := played(s, &env)
	switch {
	case n == 0:
		return branchClasses(s, env, w), false
	case !isUneven && isLong(s, p, w, int64(n)):
		return 0, false
	}
	return int64(n), isUneven
}

// isListed reports whether a network lists its links, as where many are changed.
func isListed(p *scenarios.Point) bool {
	g, err := p.Topology.Graph()
	return err != nil || g.IsListed()
}

// expect counts a check of numbers, so that Together knows it. Which algorithm will be checked of
// several, nobody knows.
func (e *Estimate) expect(m *made, s *schedule.Schedule, c *cost) {
	p := e.Point
	if e.Algorithms > 1 || !p.Check.Numbers || p.Data.Any() {
		e.checks = nil
		return
	}
	name := nameOfCheck(s, m, checkOptions(p, dataOf(p, false), c.amount(s, p)))
	e.checks = append(e.checks, checkCost{name, c.numbers})
}

// blocksOf is how many blocks a step names, and in how many runs.
func blocksOf(step *schedule.Step) (n, runs int64) {
	add := func(r *schedule.Region) {
		if r.List != nil {
			n, runs = n+int64(len(r.List)), runs+int64(len(r.List))
			return
		}
		n, runs = n+int64(r.Run)*int64(r.Times), runs+int64(r.Times)
	}
	for i := range step.From {
		if f := &step.From[i]; f.Kind != schedule.Message {
			add(&f.Region)
		}
	}
	for i := range step.To {
		add(&step.To[i])
	}
	return n, runs
}

// listedIn is how many blocks a step names one by one.
func listedIn(step *schedule.Step) (n int64) {
	for i := range step.From {
		n += int64(len(step.From[i].Region.List))
	}
	for i := range step.To {
		n += int64(len(step.To[i].List))
	}
	return n
}

// held is what the buffers take that a check of numbers holds: inputs are made when they are read,
// unless outputs lie in them.
func held(s *schedule.Schedule) unit.Bytes {
	elements := int64(0)
	for rank := range s.Spec.Ranks {
		for b := schedule.Input; b <= schedule.Scratch; b++ {
			if b != schedule.Input || s.Spec.InPlace {
				elements += s.Len(b, rank)
			}
		}
	}
	return unit.Bytes(elements * int64(s.Spec.Type.Width()))
}

// flying is what messages hold at most at once in a check of numbers, where a rank goes on until it
// waits for another: one of each lane, if not all. Where each hears from the one before, that has
// sent; where two exchange, the second finds the message of the first.
func flying(s *schedule.Schedule, w work) float64 { // it may be more than fits an integer
	all := min(float64(w.places)*float64(w.largest), float64(w.bytes))
	switch {
	case s.Spec.Kind == collective.SendRecv:
		return 0
	case s.Group != nil && w.lanes == int64(s.Spec.Ranks):
		return all / 2
	}
	return all
}

// perPlace is what a check of numbers holds for each place of a window of all parts, in bytes.
func perPlace(s *schedule.Schedule, w work) float64 {
	return float64(float64(w.held)*float64(s.Spec.Type.Width())) +
		flying(s, w)/float64(max(w.longest, 1))
}

// Steps counts those of all ranks.
func Steps(s *schedule.Schedule) int64 { return workOf(s).steps }
