package run

import (
	"cmp"
	"fmt"
	"slices"

	"collsim/algos"
	"collsim/algos/nccl"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// Explanation divides up the time of a point: the critical path, and the time if one thing were
// different, each by another simulation.
type Explanation struct {
	Result  *Result // without proof and numbers
	Formula string  // of Result.ClosedForm; empty where that is −1
	Shares  []Share // of the critical path, the largest first; their times sum up to the time
	// Unlimited is without the resource that takes the largest share, NoLatency with links and
	// messages that have no latency. They are nil where no resource takes any time, or where the run
	// came to no end.
	Unlimited, NoLatency *WhatIf
	NCCL                 *nccl.Costs // its own table of the call; nil where NCCL has no choice
}

// Share holds the part of the critical path that one thing takes. Links are grouped by their
// kind: the pattern of their ends' names (gpu*, switch), in either direction, with their
// bandwidth and latency.
type Share struct {
	What sim.What
	Link string // of the kind the first, by index, on the path; empty where it is no link
	Like int    // links of its kind in the network, itself included
	Time unit.Time
	Busy unit.Time // of the busiest link of the kind

	links linkKind
}

// WhatIf is a simulation in which one thing costs nothing.
type WhatIf struct {
	Changed Share // that which costs nothing; Like counts the links that are changed
	Time    unit.Time
	Then    *Share // the largest share then; nil where no time is left
}

// linkKind names links that are alike; the zero value is no link.
type linkKind struct {
	ends      [2]string // in order, so that both directions of a wire are one kind
	bandwidth unit.Rate
	latency   unit.Time
}

// Explain simulates a point and says what decides its time. What the schedule computes is not
// looked at. It is nil where the algorithm is one that "all" stands for and cannot do it. Of the
// options Trace and Links are heeded. Errors are as those of RunPoint.
func (s *Scenario) Explain(p *scenarios.Point, o RunOptions) (_ *Explanation, err error) {
	defer func() { err = s.located(err) }()
	r := &runner{s: s, critical: true, do: simulates | logs, options: o}
	result, m, err := r.begin(p)
	if err != nil || result.skipped != "" {
		return nil, err
	}
	ran, err := r.simulatePasses(m, result, nil)
	if err := r.time(result, ran, err); err != nil {
		return nil, err
	}
	if err := r.bound(m, result); err != nil {
		return nil, err
	}
	result.closedForm(&r.network)
	result.doubt()
	e := &Explanation{Result: result}
	if result.ClosedForm >= 0 {
		if a, err := find(p.Spec.Kind, result.Algorithm.Name); err == nil {
			e.Formula = a.Formula
			if r.network.meets() == algos.PerRank {
				e.Formula = cmp.Or(a.Ports, a.Formula)
			}
		}
	}
	e.NCCL = ncclCosts(p, m)
	if !result.Timed {
		return e, nil
	}
	e.Shares = shares(r.network.graph, result.ran)
	if top := limiting(e.Shares); top != nil {
		if e.Unlimited, err = r.without(*top, m.whole, p); err != nil {
			return nil, err
		}
	}
	if result.Time > 0 {
		latency := Share{What: sim.Latency, Like: r.network.graph.NumLinks()}
		e.NoLatency, err = r.without(latency, m.whole, p)
	}
	return e, err
}

// shares sums up the pieces of a critical path.
func shares(g *topology.Graph, ran *sim.Result) []Share {
	type key struct {
		what  sim.What
		links linkKind
	}
	kinds, count, busy := kindsOf(g), map[linkKind]int{}, map[linkKind]unit.Time{}
	for i, kind := range kinds {
		count[kind]++
		busy[kind] = max(busy[kind], ran.LinkBusy[i])
	}
	var list []Share
	first := []int32{} // by share: the first link
	place := map[key]int{}
	for _, piece := range ran.Critical {
		k := key{what: piece.What}
		if piece.Link >= 0 {
			k.links = kinds[piece.Link]
		}
		at, ok := place[k]
		if !ok {
			at = len(list)
			place[k] = at
			list = append(list, Share{What: piece.What, links: k.links, Like: count[k.links],
				Busy: busy[k.links]})
			first = append(first, piece.Link)
		}
		list[at].Time += piece.To - piece.From
		if first[at] = min(first[at], piece.Link); piece.Link >= 0 {
			list[at].Link = g.Links()[first[at]].Name
		}
	}
	slices.SortStableFunc(list, func(a, b Share) int {
		switch {
		case a.Time != b.Time:
			return int(max(min(b.Time-a.Time, 1), -1))
		default:
			return int(a.What) - int(b.What)
		}
	})
	return list
}

// kindsOf returns the kind of every link, by index.
func kindsOf(g *topology.Graph) []linkKind {
	patterns := make([]string, len(g.Nodes()))
	for i, n := range g.Nodes() {
		patterns[i] = kindName(n.Name)
	}
	kinds := make([]linkKind, len(g.Links()))
	for i, l := range g.Links() {
		from, to := patterns[l.From], patterns[l.To]
		kinds[i] = linkKind{[2]string{min(from, to), max(from, to)}, l.Bandwidth, l.Latency}
	}
	return kinds
}

// limiting returns the resource that takes the most of the time: a kind of links, with the time
// lost by sharing them, or a figure of the device. It is nil if all time is latency and waiting
// for ranks.
func limiting(list []Share) *Share {
	var sums []Share
	for _, s := range list {
		switch s.What {
		case sim.Start, sim.Latency, sim.MessageLatency, sim.SlotLatency, sim.EventLatency:
			continue
		case sim.Contention, sim.SendBuffer:
			s.What = sim.Transfer
		}
		at := slices.IndexFunc(sums, func(t Share) bool {
			return t.What == s.What && t.links == s.links
		})
		if at < 0 {
			sums = append(sums, s)
			continue
		}
		sums[at].Time += s.Time
	}
	var top *Share
	for i := range sums {
		if top == nil || sums[i].Time > top.Time {
			top = &sums[i]
		}
	}
	return top
}

// without simulates with one thing for free.
func (r *runner) without(what Share, s *schedule.Schedule, p *scenarios.Point) (*WhatIf, error) {
	env := r.fresh(p, s)
	g := env.Graph
	switch what.What {
	case sim.Latency:
		for i := range g.Links() {
			g.Links()[i].Latency = 0
		}
		env.Device = env.Device.FreeMessages()
	case sim.Launch:
		env.Device.Launch = 0
		gpu := &env.Device.GPU
		gpu.LaunchLatency, gpu.GraphLaunch, gpu.GraphNode = 0, 0, 0
	case sim.Overhead:
		env.Device.Overhead = 0
	case sim.Reduction:
		env.Device.ReduceRate = unit.Unlimited
	case sim.Copy:
		env.Device.CopyRate, env.Device.GPU.CopyEngineRate = unit.Unlimited, unit.Unlimited
	case sim.Compute:
		env.FreeCompute = true
	case sim.Memory:
		env.Device.GPU.HBM = unit.Unlimited
	case sim.Rendezvous:
		env.Device.EagerLimit = 0
	case sim.Transfer:
		if what.Link == "" {
			env.Device.LaneRate, env.Device.GPU.CopyEngineRate = unit.Unlimited, unit.Unlimited
			break
		}
		for i, kind := range kindsOf(g) {
			if kind == what.links {
				g.Links()[i].Bandwidth = unit.Unlimited
			}
		}
	default:
		panic(fmt.Sprintf("collsim: without %v", what.What))
	}
	ran, err := sim.Run(s, env, sim.Options{Critical: true})
	if err != nil {
		return nil, p.Refuse("collective", err.Error(), "")
	}
	w := &WhatIf{Changed: what, Time: ran.Time}
	if then := shares(g, ran); len(then) > 0 {
		w.Then = &then[0]
	}
	return w, nil
}
