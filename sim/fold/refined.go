package fold

import (
	"math/bits"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// finished sums up the run for all ranks, by class.
func (q *refinement) finished() *model.Totals {
	g := q.rules.Graph
	var orbits []spokeOf
	members := func(orbit int, visit func(link int)) {
		for _, rank := range q.Members(orbits[orbit].class) {
			link, below := g.Spokes(rank)
			if orbits[orbit].way == down {
				link = below
			}
			visit(int(link))
		}
	}
	r := &model.Totals{Folded: model.NewFolded(len(q.Of), g.NumLinks(),
		func(rank int) int { return int(q.Of[rank]) }, members)}
	f := r.Folded
	f.Lanes = len(q.scripts[0].lanes)
	for class := range q.classes {
		c, size := &q.classes[class], int64(q.Size(int32(class)))
		for lane := range c.lanes {
			f.Ends = append(f.Ends, c.lanes[lane].end.T)
			r.Time = max(r.Time, c.lanes[lane].end.T)
			for i := range q.scripts[c.script].lanes[lane] {
				a := &q.scripts[c.script].lanes[lane][i]
				n := size * int64(len(a.sends))
				r.Steps += size
				r.Messages += n
				r.BytesSent += a.bytes * unit.Bytes(n)
			}
		}
		for way := range int32(2) {
			s := spokeOf{int32(class), way}
			load, busy := q.spoke(s).load, q.spoke(s).busy
			if load == 0 {
				continue
			}
			if q.rules.Sharing == model.Fluid {
				busy = load.Over(q.spoke(s).bandwidth)
			}
			o := model.Orbit{First: -1, Load: load, Busy: busy}
			orbits = append(orbits, s)
			members(len(orbits)-1, func(link int) {
				if o.Links++; o.First < 0 || int32(link) < o.First {
					o.First = int32(link)
				}
			})
			r.LinkBytes += load * unit.Bytes(o.Links)
			f.Orbits = append(f.Orbits, o)
		}
	}
	return r
}

// unsupportedClasses explains why a schedule with roles cannot be simulated by classes; empty if it
// can.
func unsupportedClasses(s *schedule.Schedule, env *model.Env) string {
	if !s.AlikeInRoles() {
		return "the schedule declares no group, and ranks of a role move more than others"
	}
	if !env.Graph.IsStar() {
		return "the schedule declares no group, and the network is no switch"
	}
	if env.Device.HasMessage() {
		return "the device is none that it knows"
	}
	return unsupportedLinks(env)
}

// unsupportedLinks explains why links cannot be simulated by classes; empty if they can.
func unsupportedLinks(env *model.Env) string {
	links := 1 // like all others
	if len(env.Graph.Changes()) > 0 {
		links = env.Graph.NumLinks()
	}
	isLimited := env.Graph.Link(0).Bandwidth != unit.Unlimited
	for i := range int32(links) {
		switch l := env.Graph.Link(i); {
		case env.Sharing == model.FIFO && l.Latency == 0:
			return "the schedule declares no group, and links take no time"
		case isLimited != (l.Bandwidth != unit.Unlimited):
			return "the schedule declares no group, and some links have no limit"
		}
	}
	return ""
}

// rolesClasses estimates the number of classes that a run of a schedule with roles ends with, at
// most. The bounds come from runs of double trees. Under fluid sharing these had 40 to 350 classes.
// Under FIFO with a step or two a lane they had 800 if the number of ranks is a power of two, and
// 8000 otherwise. Each of a few ranks or links that differ from the others adds up to 40. Under
// FIFO with more steps most ranks come to differ: the number is then 0, for not known before the
// run.
func rolesClasses(s *schedule.Schedule, env *model.Env) int {
	if unsupportedClasses(s, env) != "" {
		return 0
	}
	ranks := s.Spec.Ranks
	most := 32 * bits.Len(uint(ranks))
	if env.Sharing == model.FIFO {
		if most = 2 * most; ranks&(ranks-1) != 0 {
			most = 8 * most
		}
		p := s.Program(0)
		for lane := range p.Lanes() {
			if c := p.Walk(lane); !c.Done() {
				for c.Next(int32(s.Slices)); !c.Done(); c.Next(int32(s.Slices)) {
					if c.Step > 1 {
						return 0
					}
				}
			}
		}
	}
	return min(most+2*bits.Len(uint(ranks))*unusual(env, ranks), ranks)
}

// unusual counts ranks that are not as slow, or do not start when, most do, and changed links.
func unusual(env *model.Env, ranks int) int {
	changed := len(env.Graph.Changes())
	if env.Start == nil && env.Slowdown == nil {
		return changed
	}
	usual, of := 0, map[kind]int{}
	for rank := range int32(ranks) {
		k := kind{start: at(env.Start, rank), slowdown: at(env.Slowdown, rank)}
		of[k]++
		usual = max(usual, of[k])
	}
	return ranks - usual + changed
}

// mostRefined bounds how many classes there are before another engine is as quick.
const mostRefined = 1 << 14
