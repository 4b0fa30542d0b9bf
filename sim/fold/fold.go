package fold

import (
	"math"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/symmetry"
	"collsim/unit"
)

// NotFolded reports why this engine does not simulate a schedule. The caller then uses another
// engine.
type NotFolded struct {
	Why    string
	IsLong bool // RunBriefly could have gone on
}

// Error says what was not proven.
func (e *NotFolded) Error() string { return "not folded: " + e.Why }

// Run simulates a schedule in an environment that has been found valid for it, if it can prove that
// ranks do the same. Its errors are *NotFolded, and *schedule.StallError, as from sim/event.
// Whatever else is wrong with a run is *NotFolded too: sim/event then reports it.
func Run(s *schedule.Schedule, env *model.Env) (*model.Totals, error) {
	if s.HasRoles() {
		if why := unsupported(s, env); why != "" {
			return nil, &NotFolded{Why: why}
		}
		return simulateClasses(s, env, min(max(128, s.Spec.Ranks/2), mostRefined))
	}
	return simulateAtMost(s, env, math.MaxInt64)
}

func simulateAtMost(s *schedule.Schedule, env *model.Env, most int64) (*model.Totals, error) {
	e, err := simulate(s, env, nil, most)
	if err != nil {
		return nil, err
	}
	return e.finished(), nil
}

// simulate simulates up to most sub-steps and returns the engine after them. It writes a log unless
// log is nil.
func simulate(s *schedule.Schedule, env *model.Env, log *model.Log, most int64) (*engine, error) {
	if why := unsupported(s, env); why != "" {
		return nil, &NotFolded{Why: why}
	}
	why := "no two ranks are alike"
	timing := schedule.TimingOf(s)
	for _, mods := range Subgroups(timing) {
		sym := symmetry.NewSubgroup(timing.Group, mods)
		if !isAlike(sym, env) {
			continue
		}
		net := newLinks(sym, env.Graph, isMoved(env.Graph, sym, env.Graph.Moves))
		if !net.visit(s) {
			why = "routes of ranks differ"
			continue
		}
		e := newEngine(s, env, sym, net)
		e.most = most
		if log != nil {
			e.watch(log)
		}
		e.run()
		if e.steps > most {
			return nil, &NotFolded{Why: e.why, IsLong: true}
		}
		if e.why != "" {
			why = e.why
			continue
		}
		if e.unfinished > 0 {
			return nil, e.stall(s)
		}
		for i := range e.conns {
			if e.conns[i].queue.First >= 0 {
				return nil, &NotFolded{Why: neverReceived}
			}
		}
		return e, nil
	}
	return nil, &NotFolded{Why: why}
}

// Classes returns the number of representatives that a run simulates, if the network itself knows
// of a symmetry; for a schedule with roles it is an upper estimate. It returns 0 if only a look at
// all routes could show a symmetry, or if the engine cannot simulate the schedule. A run may still
// find that the symmetry does not hold.
func Classes(s *schedule.Schedule, env *model.Env) int {
	if unsupported(s, env) != "" {
		return 0
	}
	if s.HasRoles() {
		return rolesClasses(s, env)
	}
	timing := schedule.TimingOf(s)
	for _, mods := range Subgroups(timing) {
		sym := symmetry.NewSubgroup(timing.Group, mods)
		if isMoved(env.Graph, sym, env.Graph.Moves) && isAlike(sym, env) {
			return len(sym.Reps)
		}
	}
	return 0
}

// unsupported explains why the engine cannot simulate a schedule in an environment; empty if it
// can.
func unsupported(s *schedule.Schedule, env *model.Env) string {
	d := &env.Device
	switch {
	case s.Spec.Ranks < 2 || s.Group == nil && !s.HasRoles() && schedule.TimingOf(s) == nil:
		return "the schedule declares no group"
	case s.Teams() != nil || schedule.Composed(s):
		return "the schedule is composed of others"
	case d.Offload || d.SendBuffer > 0 || d.EagerLimit > 0 || d.GPU.SMs > 0:
		return "the device is none that it knows"
	case s.Group != nil && !s.SameSizes():
		return "blocks are not of one size"
	case s.AnyStep(other):
		return "a step is none that it knows"
	}
	return ""
}

// other reports whether a step is more than messages and local work.
func other(step *schedule.Step) bool {
	for i := range step.From {
		if k := step.From[i].Kind; k != schedule.Local && k != schedule.Message {
			return true
		}
	}
	for i := range step.Send {
		if !step.Send[i].Message() {
			return true
		}
	}
	return step.Kernel != nil || step.Launch != nil || step.Flush
}

// visit finds the routes of all messages of the representatives, and reports whether the symmetry
// holds of them. In a loop whose steps are the same each time two iterations have them all.
func (l *links) visit(s *schedule.Schedule) bool {
	var step schedule.Step
	seen := map[int32]struct{}{} // ranks that a class sends to
	for class, rank := range l.sym.Reps {
		p := s.Program(int(rank))
		steady := map[int32]bool{}
		clear(seen)
		for lane := range p.Lanes() {
			for c := p.Walk(lane); !c.Done(); c.Next(1) {
				p.Load(&c, &step)
				for i := range step.Send {
					dst := step.Send[i].Peer.Rank
					if _, known := seen[dst]; !known && !l.holds(int32(class), dst) {
						return false
					}
					seen[dst] = struct{}{}
				}
				loop, follow := c.Around()
				if follow < 2 || c.Iteration() == 0 {
					continue
				}
				known, ok := steady[loop]
				if !ok {
					known = schedule.SamePeersLoop(p, &c)
					steady[loop] = known
				}
				if known {
					c.Skip(follow, 0)
				}
			}
		}
	}
	return true
}

// finished sums up a run that has ended, for all ranks: by classes.
func (e *engine) finished() *model.Totals {
	r, times := e.totals, len(e.sym.Elements)
	r.Steps *= int64(times)
	r.Messages *= int64(times)
	r.BytesSent *= unit.Bytes(times)
	sym, net := e.sym, e.net
	class := func(rank int) int {
		class, _ := sym.Place(int32(rank))
		return int(class)
	}
	members := func(orbit int, visit func(link int)) {
		for n := range times {
			visit(int(net.at(int32(orbit), int32(n))))
		}
	}
	r.Folded = model.NewFolded(sym.Group.Order(), net.graph.NumLinks(), class, members)
	f := r.Folded
	f.Lanes = int(e.perRank)
	for i := range e.lanes {
		f.Ends = append(f.Ends, e.lanes[i].end.T)
		r.Time = max(r.Time, e.lanes[i].end.T)
	}
	for i := range e.links {
		l := &e.links[i]
		if e.fair != nil {
			l.busy = l.load.Over(l.Bandwidth)
		}
		r.LinkBytes += l.load * unit.Bytes(times)
		f.Orbits = append(f.Orbits, model.Orbit{First: net.lowest(int32(i)), Links: times,
			Busy: l.busy, Load: l.load})
	}
	return &r
}
