package run

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/collective/calls"
	"collsim/formats/dumps"
	"collsim/schedule"
)

// A run that hangs leaves its calls as a job that hangs does: which rank has made which, and how
// far it is. What is said of dumps of such jobs can be said of it.

// jobCall is a collective that some ranks do together.
type jobCall struct {
	spec  collective.Spec
	group string
	ranks []int // in the order of the collective
	part  int
	op    string // of the program; empty for a collective
}

// leave makes the dump of a run that hangs, and what the watchdog writes. A rank that has stopped
// in several calls at once waits in none of them: where that makes a circle, it counts as missing.
func (f *Faulted) leave(ranks int, list []jobCall) {
	f.Dump = f.dumpOf(ranks, list, true)
	f.Watchdog = dumps.Watchdog(&f.Dump.Log)
	if found := f.Dump.Judge().Findings; len(found) > 0 && found[0].Fault == calls.Crossed {
		f.Dump = f.dumpOf(ranks, list, false)
	}
}

// dumpOf makes the dump of a run that hangs, with or without the calls that ranks have begun before
// they stopped.
func (f *Faulted) dumpOf(ranks int, list []jobCall, begun bool) *dumps.Dump {
	d := &dumps.Dump{Form: "simulated"}
	for rank := range ranks {
		d.Ranks = append(d.Ranks, calls.Rank{Number: rank})
	}
	made := map[int]int64{} // by group, so far
	for i := range list {
		c := &list[i]
		g := groupIn(d, c)
		made[g]++
		for place, rank := range c.ranks {
			one := callOf(c, place)
			one.Group, one.Seq, one.State = g, made[g], f.state(rank, c.part)
			if one.State == calls.Unstated ||
				!begun && one.State == calls.Started && f.Stopped(rank) {
				continue
			}
			d.Ranks[rank].Calls = append(d.Ranks[rank].Calls, one)
		}
	}
	for g := range d.Groups {
		for _, rank := range d.Groups[g].Ranks {
			if f.Dead(rank) {
				d.Groups[g].Silent = append(d.Groups[g].Silent, rank)
			}
		}
	}
	return d
}

// groupIn returns the group of a call, which is added where it is new.
func groupIn(d *dumps.Dump, c *jobCall) int {
	g := slices.IndexFunc(d.Groups, func(g calls.Group) bool { return slices.Equal(g.Ranks, c.ranks) })
	if g >= 0 {
		return g
	}
	d.Groups = append(d.Groups, calls.Group{Name: fmt.Sprint(len(d.Groups)), About: c.group,
		Ranks: c.ranks})
	return len(d.Groups) - 1
}

// callOf returns the call of the rank at a place of a collective.
func callOf(c *jobCall, place int) calls.Call {
	s := &c.spec
	one := calls.Call{Kind: s.Kind, Name: s.Kind.String(), Type: s.Type.String(), In: s.In(place),
		Out: s.Out(place), Root: -1, Uneven: s.Kind == collective.AllToAllV}
	if s.Kind == collective.Broadcast { // all ranks pass the same count
		one.In = one.Out
	}
	if s.Op != 0 {
		one.Op = s.Op.String()
	}
	if s.Kind.Rooted() {
		one.Root = c.ranks[s.Root]
	}
	if c.op != "" {
		one.Frame = "op " + c.op
	}
	return one
}

// state says how far a rank is with a part, −1 for all that it does; Unstated where it never comes
// to it.
func (f *Faulted) state(rank, part int) calls.State {
	state := calls.Completed
	for i := range f.lanes {
		l := &f.lanes[i]
		if l.Rank != rank || part >= 0 && l.Part != part || l.IsOver {
			continue
		}
		switch comes := l.Waits.For; {
		case l.Begun > 0 || comes == "a message" || comes == "a slot" || comes == "a receive":
			return calls.Started
		case l.Stopped && comes != "places":
			state = calls.Unstated
		case state == calls.Completed:
			state = calls.Scheduled
		}
	}
	return state
}

// callsOfTeams lists the collective of a point, of each team.
func callsOfTeams(m *made, result *Result) (list []jobCall) {
	for _, team := range result.Point.Members() {
		list = append(list, jobCall{spec: m.of(len(team)).Spec, group: "all", ranks: team, part: -1})
	}
	if len(list) > 1 {
		for i := range list {
			list[i].group = fmt.Sprintf("team %d", i)
		}
	}
	return list
}

// callsOfProgram lists the calls of a program, in its order.
func callsOfProgram(result *ProgramResult) (list []jobCall) {
	parts := result.Lowered.Schedule.Parts()
	for i := range result.Lowered.Ops {
		op := &result.Lowered.Ops[i]
		for _, n := range op.Parts {
			spec := parts[n].Schedule.Spec
			if spec.Kind == collective.Custom || spec.Ranks < 2 {
				continue
			}
			ranks := parts[n].Ranks
			if ranks == nil {
				ranks = allRanks(result.Lowered.Schedule)
			}
			list = append(list, jobCall{spec: spec, group: result.groupOf(op.Names[0]), ranks: ranks,
				part: n, op: nameOf(op)})
		}
	}
	return list
}

// allRanks lists the ranks of a schedule.
func allRanks(s *schedule.Schedule) (ranks []int) {
	for rank := range s.Spec.Ranks {
		ranks = append(ranks, rank)
	}
	return ranks
}

// groupOf returns the name of the group of an op.
func (result *ProgramResult) groupOf(name string) string {
	for _, o := range result.Point.Ops {
		if o.Name == name && o.Group != "" {
			return o.Group
		}
	}
	return "all"
}
