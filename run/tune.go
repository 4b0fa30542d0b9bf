package run

import (
	"cmp"
	"fmt"
	"slices"

	"collsim/algos"
	"collsim/algos/nccl"
	"collsim/collective"
	"collsim/fidelity"
	"collsim/scenarios"
	"collsim/topology"
	"collsim/unit"
)

// Tuning is the fastest of NCCL's algorithms, protocols and numbers of channels for one collective
// on one communicator, by size, beside what NCCL takes by itself. Times are those of a call of the
// benchmark's loop where the point has one (call_ps), else of one call alone (time_ps).
type Tuning struct {
	Point        *scenarios.Point // of whatever size
	Algorithm    scenarios.Algorithm
	Ranks, Nodes int // of the communicator
	Sizes        []Tuned
	Off          []nccl.Cost // what NCCL never takes here, and so ignores in a tuner's file

	run *runner
	out unit.Rate // what leaves a rank at most; 0: not known yet
	row algos.Algorithm
}

// Tuned is one size of a Tuning.
type Tuned struct {
	Bytes     unit.Bytes // as tables have the size
	Count     int64      // elements of the call, as collective.Spec has them
	Best, Own TunedChoice
	// Error is the share by which simulated times have been off at such sizes: in the median of all
	// public tables (fidelity.ClassError), or in that of those of the machine, where that is more.
	Error float64
	// Tried are the choices that were simulated, RuledOut those that a bound, or memory, rules out.
	Tried, RuledOut int

	known map[tunedKey]TunedChoice // that were simulated
}

// TunedChoice is a way of doing a call, and its time.
type TunedChoice struct {
	nccl.Way
	Channels int // that a call may take; 0: as many as NCCL gives it
	Used     int // that it takes
	Time     unit.Time
}

// tunedKey is a choice without what follows from it.
type tunedKey struct {
	nccl.Way
	channels int
}

// Gain returns the share of the time of NCCL's own choice that the best choice saves.
func (t *Tuned) Gain() float64 {
	if t.Own.Time == 0 {
		return 0
	}
	return 1 - float64(t.Best.Time)/float64(t.Own.Time)
}

// IsBeyond reports whether the gain is more than what simulations have been off by.
func (t *Tuned) IsBeyond() bool { return t.Gain() > t.Error }

// The sizes of a scenario that has one alone.
const (
	leastTuned = 8 * unit.KiB
	mostTuned  = unit.GiB
)

// Tunings plans what is to be simulated for the collectives of a scenario that NCCL chooses an
// algorithm for: the sizes given, or those of the scenario, or, where it has one alone, 8 KiB to 1
// GiB by powers of two. Errors say which kinds, devices and sizes cannot be.
func (s *Scenario) Tunings(sizes []unit.Bytes) (list []*Tuning, err error) {
	defer func() { err = s.located(err) }()
	calls, err := s.libraryCalls(func(p *scenarios.Point) scenarios.Algorithm { return tunable(p) })
	if err != nil {
		return nil, err
	}
	for _, c := range calls {
		p := c.points[0]
		if is, _ := hasNCCL(p.Device.Name); !is && !namesMachine(c.algorithm) {
			return nil, p.Refuse("device.preset", fmt.Sprintf("%s is no GPU of NVIDIA's, and NCCL's "+
				"machine is not known", p.Device.Name), `name one: topology.preset = "dgx-h100", or `+
				`algorithm = "nccl:auto(machine=dgx-h100)"`)
		}
		t := &Tuning{Point: p, Algorithm: c.algorithm, Ranks: c.spec.Ranks, row: c.row,
			run: &runner{s: s, do: simulates}}
		asked := sizes
		if asked == nil {
			for _, p := range c.points {
				asked = append(asked, p.Asked)
			}
		}
		if slices.Sort(asked); sizes == nil && len(slices.Compact(asked)) < 2 {
			asked = nil
			for n := leastTuned; n <= mostTuned; n *= 2 {
				asked = append(asked, n)
			}
		}
		if err := t.plan(asked); err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// tunable returns the algorithm whose choice is tuned at a point: NCCL's own, with the point's
// parameters except those that choose. Its name is empty where NCCL has none of the kind.
func tunable(p *scenarios.Point) (a scenarios.Algorithm) {
	a = ncclOn("auto")
	if ofNCCL(p.Algorithm.Name) {
		for _, q := range p.Algorithm.Params {
			if !slices.Contains([]string{"protocol", "tuner"}, q.Name) {
				a.Params = append(a.Params, q)
			}
		}
	}
	if _, err := find(p.Spec.Kind, a.Name); err != nil {
		return scenarios.Algorithm{}
	}
	return a
}

// namesMachine reports whether an algorithm says on which machine it runs.
func namesMachine(a scenarios.Algorithm) bool {
	return slices.ContainsFunc(a.Params, func(q scenarios.Param) bool { return q.Name == "machine" })
}

// plan finds out the sizes, and what NCCL never takes.
func (t *Tuning) plan(sizes []unit.Bytes) error {
	for _, size := range sizes {
		p := t.at(size)
		spec := specOf(p)
		same := len(t.Sizes) > 0 && t.Sizes[len(t.Sizes)-1].Count == spec.Count
		if spec.Count == 0 || same {
			continue
		}
		t.Sizes = append(t.Sizes, Tuned{Bytes: spec.Bytes(), Count: spec.Count})
	}
	if len(t.Sizes) == 0 {
		return t.Point.Refuse("collective.bytes", "no size has an element for every rank", "")
	}
	costs, err := t.costs(&t.Sizes[0])
	if err != nil {
		return err
	}
	for _, c := range costs.Ways {
		if c.Off != "" {
			t.Off = append(t.Off, c)
		}
	}
	t.Nodes = costs.Nodes
	for i := range t.Sizes {
		n := t.Sizes[i].Bytes
		known := fidelity.KnownError(t.Point.Topology.Machine, t.Nodes > 1, n)
		t.Sizes[i].Error = max(known.Median, fidelity.ClassError(t.Nodes > 1, n))
		t.Sizes[i].known = map[tunedKey]TunedChoice{}
	}
	return nil
}

// at returns the point at a size, without a tuner's file.
func (t *Tuning) at(size unit.Bytes) *scenarios.Point {
	p := *t.Point
	p.Algorithm, p.Asked, p.ByBytes, p.Tensor = t.Algorithm, size, true, nil
	p.Spec = p.Spec.WithBytes(size)
	p.TunerFile, p.Tuner = "", ""
	return &p
}

// specOf returns the collective of a point's first team.
func specOf(p *scenarios.Point) collective.Spec {
	if p.Teams != nil {
		return p.TeamSpec(len(p.Teams[0]))
	}
	return p.Spec
}

// costs returns NCCL's table of costs at a size.
func (t *Tuning) costs(size *Tuned) (*nccl.Costs, error) {
	return t.costsAt(t.at(size.Bytes))
}

// costsAt returns NCCL's table of costs at a point, which may have a tuner's file.
func (t *Tuning) costsAt(p *scenarios.Point) (*nccl.Costs, error) {
	costs, err := nccl.CostsOf(t.row, specOf(p), optionsOn(p, t.Algorithm, t.row))
	if err != nil {
		return nil, p.Refuse("collective.algorithm", reason(err), "")
	}
	return costs, nil
}

// Simulate finds the best at one of the sizes. What cannot be the best is not simulated: one of its
// lanes sends for longer than what has been found takes.
func (t *Tuning) Simulate(i int) (err error) {
	defer func() { err = t.run.s.located(err) }()
	size := &t.Sizes[i]
	costs, err := t.costs(size)
	if err != nil {
		return err
	}
	own, err := t.simulate(size, tunedKey{costs.Taken, 0}, unit.Forever)
	if err != nil {
		return err
	}
	size.Own, size.Best = own, own
	for _, key := range candidates(costs) {
		c, err := t.simulate(size, key, size.Best.Time)
		switch {
		case err != nil && leavesOut(err):
			size.RuledOut++
		case err != nil:
			return err
		case c.Time < size.Best.Time:
			size.Best = c
		}
	}
	return nil
}

// candidates lists what there is beside NCCL's own choice: first each way with as many channels as
// NCCL gives it, the fastest by NCCL's model first, then with 1, 2, 4 and so on, and with all.
func candidates(costs *nccl.Costs) (list []tunedKey) {
	var ways []nccl.Cost
	for _, c := range costs.Ways {
		if c.Off == "" {
			ways = append(ways, c)
		}
	}
	slices.SortStableFunc(ways, func(a, b nccl.Cost) int { return cmp.Compare(a.Time, b.Time) })
	for _, w := range ways {
		if w.Way != costs.Taken {
			list = append(list, tunedKey{w.Way, 0})
		}
	}
	for _, w := range ways {
		for n := 1; n < w.Channels; n *= 2 {
			if n != w.Own {
				list = append(list, tunedKey{w.Way, n})
			}
		}
		if w.Own != w.Channels {
			list = append(list, tunedKey{w.Way, w.Channels})
		}
	}
	return list
}

// simulate returns a choice with its simulated time, unit.Forever if it takes longer than most.
func (t *Tuning) simulate(size *Tuned, key tunedKey, most unit.Time) (TunedChoice, error) {
	if c, ok := size.known[key]; ok {
		return c, nil
	}
	p, r := t.at(size.Bytes), t.run
	p.Tuner = lineOf(p.Spec.Kind, key) + "\n"
	c := TunedChoice{Way: key.Way, Channels: key.channels, Time: unit.Forever}
	costs, err := t.costsAt(p)
	if err != nil {
		return c, err
	}
	c.Used = costs.Used
	if err := r.enter(p); err != nil {
		return c, err
	}
	if t.least(p, costs) > most {
		size.RuledOut++
		return c, nil
	}
	m, err := r.s.make(p, t.Algorithm)
	if err == nil {
		err = r.s.fits(p, m, simulates)
	}
	switch {
	case err != nil && leavesOut(err):
		return c, err
	case err != nil:
		return c, p.Refuse("collective.algorithm", reason(err), "")
	}
	size.Tried++
	if c.Time, err = r.timeTuned(p, m); err == nil {
		size.known[key] = c
	}
	return c, err
}

// lineOf returns the line of a tuner's file that makes all calls of a kind use one choice.
func lineOf(kind collective.Kind, key tunedKey) string {
	return nccl.TunerLine{Kind: kind, To: nccl.MostTuned, Way: key.Way, Channels: key.channels,
		Nodes: nccl.AnyTuned, Ranks: nccl.AnyTuned, PipeOps: nccl.AnyTuned,
		RegBuff: nccl.AnyTuned}.String()
}

// least returns a lower bound on the time of any run of a choice, also of one call among several
// in a row. A lane sends its messages one after the other. The bytes that a rank sends to others
// of its node leave it over its links.
func (t *Tuning) least(p *scenarios.Point, costs *nccl.Costs) unit.Time {
	for _, factor := range p.Topology.Slowdowns {
		if factor < 1 {
			return 0
		}
	}
	if p.Device.Offload {
		return 0
	}
	if p.Teams != nil { // whose ranks may be anywhere
		t.out = unit.Unlimited
	} else if t.out == 0 {
		t.out = mostOut(t.run.network.graph, costs.PerNode)
	}
	return max(unit.Bytes(costs.LaneSends).Over(p.Device.LaneRate),
		unit.Bytes(costs.RankSends).Over(t.out))
}

// mostRanked bounds the ranks whose links are looked at.
const mostRanked = 1024

// mostOut returns the largest rate at which a rank can send to the others of its node: the sum
// over the links by which it reaches them.
func mostOut(g *topology.Graph, perNode int) (most unit.Rate) {
	if len(g.Ranks) > mostRanked {
		return unit.Unlimited
	}
	var route []int32
	for rank := range g.Ranks {
		out, first := unit.Rate(0), []int32{}
		node := rank / perNode * perNode
		for peer := node; peer < min(node+perNode, len(g.Ranks)); peer++ {
			if peer == rank {
				continue
			}
			switch route = g.Route(rank, peer, route[:0]); {
			case len(route) == 0:
				return unit.Unlimited
			case slices.Contains(first, route[0]):
				continue
			}
			first = append(first, route[0])
			out += min(g.Link(route[0]).Bandwidth, unit.Unlimited-out)
		}
		most = max(most, out)
	}
	return most
}

// timeTuned simulates what was made of a point.
func (r *runner) timeTuned(p *scenarios.Point, m *made) (unit.Time, error) {
	result := r.blank(p)
	ran, err := r.simulatePasses(m, result, nil)
	if err := r.time(result, ran, err); err != nil {
		return 0, err
	}
	if !result.Timed {
		return 0, p.Refuse("collective.algorithm", m.whole.Name+" comes to no end", "")
	}
	if r.timeCalls(m.whole, result, ran); result.Calls != nil && result.Calls.Off != "" {
		return 0, p.Refuse("benchmark", "the time of a call in a row is not known: "+result.Calls.Off,
			"leave out [benchmark]")
	}
	return result.PerCall(), nil
}
