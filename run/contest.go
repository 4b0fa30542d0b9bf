package run

import (
	"fmt"
	"slices"

	"collsim/scenarios"
	"collsim/schedule"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// contest simulates what a point may be carried out by, one after the other.
type contest struct {
	*runner
	point      *scenarios.Point
	best       *made // the first of the fastest so far; nil: none can do it
	place      int   // of it
	least      unit.Time
	candidates []Candidate
}

// lateSteps bounds the steps, of all ranks, of a candidate that is simulated at its turn. One with
// more waits for the others: it may be slower than one of these anyway.
const lateSteps = 1 << 18

// compare simulates what a point may be carried out by. The first of the fastest is best; nil if
// none can do it.
func (r *runner) compare(p *scenarios.Point, list []scenarios.Algorithm) (best *made,
	candidates []Candidate, err error) {
	return compareUnless(r, p, list, func(*made) bool { return false })
}

// compareQuickly does what compare does, but does not simulate what takes long and is certain to be
// slower than another. Of such a candidate it says so.
func compareQuickly(r *runner, p *scenarios.Point, list []scenarios.Algorithm) (best *made,
	candidates []Candidate, err error) {
	return compareUnless(r, p, list, func(m *made) bool {
		return p.Teams == nil && workOf(m.whole).steps >= lateSteps &&
			schedule.TimingOf(m.whole) == nil
	})
}

// compareUnless simulates all of a list but those that wait, and then of these the ones that may be
// the fastest.
func compareUnless(r *runner, p *scenarios.Point, list []scenarios.Algorithm,
	waits func(*made) bool) (best *made, candidates []Candidate, err error) {
	if p.Algorithm.Name == fastestName {
		list = r.s.fewerChannels(p, list)
	}
	c := &contest{runner: r, point: p, least: unit.Forever, candidates: make([]Candidate, len(list))}
	late := map[int]*made{}
	for i, a := range list {
		c.candidates[i] = Candidate{Algorithm: a, Time: -1}
		m, err := r.s.make(p, a)
		if err == nil {
			err = r.s.fits(p, m, simulates)
		}
		if err == nil && waits(m) {
			c.candidates[i].Algorithm, late[i] = m.algorithm, m
			continue
		}
		if err := c.enter(i, m, err); err != nil {
			return nil, nil, err
		}
	}
	for i := range list {
		if m := late[i]; m != nil && !c.isSlower(i, m) {
			if err := c.enter(i, m, nil); err != nil {
				return nil, nil, err
			}
		}
	}
	return c.best, c.candidates, nil
}

// enter simulates the candidate at a place, unless an error is known of it. It returns errors that
// do not leave the candidate out.
func (c *contest) enter(i int, m *made, err error) error {
	x := &c.candidates[i]
	if err == nil {
		x.Time, err = c.measure(m, c.point)
	}
	switch {
	case err != nil && !leavesOut(err):
		return err
	case err != nil:
		x.Time, x.Why = -1, reason(err)
		return nil
	}
	x.Algorithm = m.algorithm
	if c.best == nil || x.Time < c.least || x.Time == c.least && i < c.place {
		c.best, c.place, c.least = m, i, x.Time
	}
	return nil
}

// isSlower reports whether the candidate at a place is certain to be slower than the best so far,
// and notes why it is left out. A millionth is allowed for the rounding of rates.
func (c *contest) isSlower(i int, m *made) bool {
	least := leastTime(m.whole, c.network.graph)
	if least-least/1e6 <= c.least {
		return false
	}
	x := &c.candidates[i]
	x.Why = fmt.Sprintf("it takes at least %v, more than %v", least, c.best.algorithm)
	return true
}

// measure returns the simulated time of a schedule, and keeps the result.
func (r *runner) measure(m *made, p *scenarios.Point) (unit.Time, error) {
	o := sim.Options{Engine: engineOf(p), Folded: !r.options.Links}
	if o.Engine == sim.Fold || o.Engine == sim.Sweep { // of what is chosen
		o.Engine = sim.Best
	}
	ran, err := sim.Run(m.whole, r.env(p, m.whole), o)
	if err != nil {
		return -1, err
	}
	m.ran, m.ranBy = ran, o
	return ran.Time, nil
}

// mostSummed bounds the links that are added up for what leaves a rank.
const mostSummed = 1 << 20

// leastTime returns a time in which no run of a schedule ends: some rank needs as long to send what
// it sends over all links that leave it. It is 0 if that is not known.
func leastTime(s *schedule.Schedule, g *topology.Graph) (least unit.Time) {
	if g.NumLinks() > mostSummed || schedule.Composed(s) || s.Teams() != nil || s.OneSided() {
		return 0
	}
	out := make([]unit.Rate, g.NumNodes())
	for i := range int32(g.NumLinks()) { // not in a list: a network with one is not known alike
		l := g.Link(i)
		if l.Bandwidth == unit.Unlimited || out[l.From] > unit.Unlimited-l.Bandwidth {
			out[l.From] = unit.Unlimited
			continue
		}
		out[l.From] += l.Bandwidth
	}
	for _, rank := range representatives(s) {
		c := counter{s: s, known: map[schedule.Peer]struct{}{}}
		c.walk(rank)
		if rate := out[g.Ranks[rank]]; rate != unit.Unlimited {
			least = max(least, unit.Bytes(c.bytes).Over(rate))
		}
	}
	return least
}

// representatives lists one rank for all where all do as much, one of each role, or all.
func representatives(s *schedule.Schedule) (ranks []int) {
	if s.AlikeInRoles() {
		for role := range s.Roles() {
			first, _ := s.Role(role)
			ranks = append(ranks, first)
		}
		return ranks
	}
	for rank := range s.RepresentativeRanks() {
		ranks = append(ranks, rank)
	}
	return slices.Clip(ranks)
}
