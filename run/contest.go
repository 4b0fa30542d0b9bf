package run

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"collsim/algos"
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

// compare finds which of a list takes the least time for a point: the first of the fastest is best,
// nil if none can do it. It begins with what may be the fastest, and simulates no candidate further
// than is needed to know that it is slower than another; of such a candidate it says so.
func (r *runner) compare(p *scenarios.Point, list []scenarios.Algorithm) (best *made,
	candidates []Candidate, err error) {
	if p.Algorithm.Name == fastestName {
		list = r.s.fewerChannels(p, list)
	}
	c := &contest{runner: r, point: p, least: unit.Forever, candidates: make([]Candidate, len(list))}
	order := make([]int, len(list))
	for i, a := range list {
		c.candidates[i] = Candidate{Algorithm: r.s.withChannels(p, a), Time: -1}
		order[i] = i
	}
	least := c.atLeast()
	slices.SortStableFunc(order, func(i, j int) int { // unknown ones last
		return cmp.Compare(uint64(least[i]-1), uint64(least[j]-1))
	})
	for _, i := range order {
		if err := c.enter(i, least[i]); err != nil {
			return nil, nil, err
		}
	}
	return c.best, c.candidates, nil
}

// enter makes and simulates the candidate at a place, unless it is certain to be slower than the
// best so far. It returns errors that do not leave the candidate out.
func (c *contest) enter(i int, least unit.Time) error {
	x := &c.candidates[i]
	if c.isSlower(x, least) {
		return nil
	}
	m, err := c.s.make(c.point, x.Algorithm)
	if err == nil {
		x.Algorithm = m.algorithm
		err = c.fits(m)
	}
	if err == nil && c.best != nil && c.isSlower(x, c.leastTime(m.whole)) {
		return nil
	}
	if err == nil {
		x.Time, err = c.measure(m, c.point, c.least)
	}
	var late *sim.TooLate
	switch {
	case errors.As(err, &late):
		x.Time, x.AtLeast = -1, c.least+1
		x.Why = fmt.Sprintf("it takes more than %v, as %v does", c.least, c.best.algorithm)
		return nil
	case err != nil && !leavesOut(err):
		return err
	case err != nil:
		x.Time, x.Why = -1, reason(err)
		return nil
	}
	if c.best == nil || x.Time < c.least || x.Time == c.least && i < c.place {
		c.best, c.place, c.least = m, i, x.Time
	}
	return nil
}

// isSlower reports whether a candidate that takes at least so long is slower than the best so far,
// and notes why it is left out. A millionth is allowed for the rounding of rates.
func (c *contest) isSlower(x *Candidate, least unit.Time) bool {
	if least-least/1e6 <= c.least {
		return false
	}
	x.AtLeast = least - least/1e6
	x.Why = fmt.Sprintf("it takes at least %v, more than %v", least, c.best.algorithm)
	return true
}

// measure returns the simulated time of a schedule, and keeps the result. A run that takes longer
// than a limit may end with a *sim.TooLate.
func (r *runner) measure(m *made, p *scenarios.Point, limit unit.Time) (unit.Time, error) {
	o := sim.Options{Engine: engineOf(p), Folded: !r.options.Links}
	if o.Engine == sim.Fold || o.Engine == sim.Sweep { // of what is chosen
		o.Engine = sim.Best
	}
	env := r.env(p, m.whole)
	env.Until = limit
	ran, err := sim.Run(m.whole, env, o)
	if err != nil {
		return -1, err
	}
	m.ran, m.ranBy = ran, o
	return ran.Time, nil
}

// atLeast returns a time for each candidate in which it does not end, found without its schedule; 0
// where none is known.
func (c *contest) atLeast() []unit.Time {
	p, least := c.point, make([]unit.Time, len(c.candidates))
	if p.Teams != nil || p.Topology.Slowdowns != nil || len(least) < 2 {
		return least
	}
	env := c.env(p, &schedule.Schedule{Spec: p.Spec}) // of any that is no library's
	m := algos.Machine{Launch: env.Device.Launch, Latency: leastLatency(env.Graph),
		Step: env.Device.Overhead, Rate: min(fastestLink(env.Graph), env.Device.LaneRate)}
	for i := range least {
		a := c.candidates[i].Algorithm
		found, err := find(p.Spec.Kind, a.Name)
		if err != nil || ofLibrary(a.Name) {
			continue
		}
		least[i] = found.AtLeast(p.Spec, inNodes(p, a), m)
	}
	return least
}

// leastLatency returns a time in which no message comes from one rank to another: the least latency
// of a link, twice where no link joins two ranks.
func leastLatency(g *topology.Graph) unit.Time {
	isRank := make([]bool, g.NumNodes())
	for _, node := range g.Ranks {
		isRank[node] = true
	}
	links, least := unit.Time(2), unit.Forever
	for _, i := range g.Samples() {
		l := g.Link(i)
		least = min(least, l.Latency)
		if isRank[l.From] && isRank[l.To] {
			links = 1
		}
	}
	if least == unit.Forever {
		return 0
	}
	return links * least
}

// fastestLink returns the highest bandwidth of a link.
func fastestLink(g *topology.Graph) (most unit.Rate) {
	for _, i := range g.Samples() {
		most = max(most, g.Link(i).Bandwidth)
	}
	return most
}

// fits says what of a candidate is too large for the memory that there is. Values of parameters
// that are tried besides the usual one make few segments (algos.Variants), and are as small as it.
func (c *contest) fits(m *made) error {
	usual := m.algorithm
	usual.Params = c.point.Algorithm.Params
	if c.s.small(c.point, usual, 1) {
		return nil
	}
	return c.s.fits(c.point, m, simulates)
}

// ofLibrary reports whether an algorithm is a library's.
func ofLibrary(name string) bool { return strings.Contains(name, ":") }

// mostSummed bounds the links that are added up for what leaves a rank, or comes to it.
const mostSummed = 1 << 20

// manyRanks is a number of ranks below which looking at each takes as long as simulating them.
const manyRanks = 64

// leastTime returns a time in which no run of a schedule ends: some rank needs as long to send what
// it sends over all links that leave it, or to get what it gets. It is 0 if that is not known.
func (c *contest) leastTime(s *schedule.Schedule) (least unit.Time) {
	g := c.network.graph
	if g.NumLinks() > mostSummed || schedule.Composed(s) || s.Teams() != nil || s.OneSided() {
		return 0
	}
	ranks := representatives(s)
	if len(ranks) == s.Spec.Ranks && len(ranks) < manyRanks {
		return 0
	}
	out, in := portsOf(g)
	for _, rank := range ranks {
		w := counter{s: s, known: map[schedule.Peer]struct{}{}}
		w.walk(rank)
		node := g.Ranks[rank]
		least = max(least, over(w.bytes, out[node]), over(w.received, in[node]))
	}
	return least
}

// over returns the time of bytes at a rate.
func over(bytes int64, rate unit.Rate) unit.Time {
	if rate == unit.Unlimited {
		return 0
	}
	return unit.Bytes(bytes).Over(rate)
}

// portsOf returns what the links out of each node carry together, and those into it.
func portsOf(g *topology.Graph) (out, in []unit.Rate) {
	out, in = make([]unit.Rate, g.NumNodes()), make([]unit.Rate, g.NumNodes())
	for i := range int32(g.NumLinks()) { // not in a list: a network with one is not known alike
		l := g.Link(i)
		for _, at := range []*unit.Rate{&out[l.From], &in[l.To]} {
			*at = min(*at, unit.Unlimited-l.Bandwidth) + l.Bandwidth
		}
	}
	return out, in
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
