package fold

import (
	"collsim/schedule"
	"collsim/sim/internal/ramp"
	"collsim/sim/model"
	"collsim/symmetry"
	"collsim/unit"
)

// uneven simulates schedules in which one rank or link, or a few, are slow: ranks still do the
// same, but not at the same time. A class is simulated with a time for each of its ranks, in order.
// Ranks that a slow one has not affected yet have one time. Those behind it are late by as much as
// their neighbour, or each by the same amount more. So a few linear ramps describe all times
// (sim/internal/ramp). Ranks are taken to each other by one digit of the group, modulo its size. So
// what a rank receives from another is what the class has sent, turned by the distance between the
// two.
//
//	class, lane     end 5 5 5 5 9 8 7 6 5 5 5      one lane of all ranks of the class
//	its message     arrives 4 4 4 4 8 7 6 5 4 4 4, at the next ranks: 4 4 4 4 4 8 7 6 5 4 4
//
// As in package sweep, lanes advance in step, and the engine assumes that links are asked in this
// order: requests of one row come before those of the next. It then verifies every link of an
// orbit: the rank that asks is the one that asked last, or it asks later, in time, than that one
// did. Requests at the same time by another route are left to other engines, so that waves and
// ports do not matter. The lanes of a rank are an exception: they have an order of their own, where
// everything takes time. Under fluid sharing a flow begins on no link before the last one has left.
// Every effect is later than its cause. So only one run satisfies the rules with links served in
// order, and this is it.
type uneven struct {
	rules   model.Rules
	isFluid bool
	sym     *symmetry.Subgroup
	net     *links
	size    int32 // ranks of a class
	slices  int32
	totals  model.Totals // of a rank of each class
	why     string

	programs   []*schedule.Program // by class
	perRank    int32
	lanes      []unevenLane
	unfinished int
	waiting    int64 // messages that have not been received
	ready      []int32
	later      []int32 // awake, but not before the next row
	serving    bool

	conns   []unevenConn
	connBy  map[connectionKey]int32
	packets []*parcel // of this row, that ask for their next link
	batch   []*parcel // that cross it now
	parcels []*parcel // that nobody uses
	links   []unevenLink
	changed map[[2]int32]model.Link // links that are not as those of their orbit: by it and number
	cuts    [][]int32               // by class: where a rank is slower than the one before, or faster
	edges   [][]int32               // by orbit: the numbers of the changed links

	isInstant bool // something takes no time, so that there are waves
	isTied    bool // two have asked at one time

	slotLatency ramp.Profile

	spare []ramp.Profile
	most  int // ramps of a profile
}

// unevenLane is a lane of all ranks of a class.
type unevenLane struct {
	cursor  schedule.Cursor
	end     ramp.Profile // of the step before
	until   ramp.Profile // of the present step
	class   int32
	index   int32 // on its rank
	channel int32
	action  *unevenAction // of the present step, nil as long as nobody has looked
	steady  map[int32]*unevenAction
	pending int
	froms   []int32 // connections that the present step has received from
	isReady bool
	isOver  bool
	waits   waiting
	on      int32 // the connection that it waits for
}

// unevenConn is the connections from one lane to another, of all ranks of the classes, as they are
// seen by those that receive.
type unevenConn struct {
	src, dst int32 // lanes
	turn     int32 // what sends is so many numbers on
	bounded  bool
	unused   int32
	freed    []ramp.Profile // as seen by those that send
	came     []cargo
	sent     int // messages that have not come
}

// cargo is a message that has come.
type cargo struct {
	at    ramp.Profile
	bytes unit.Bytes
}

// unevenLink is the links of an orbit.
type unevenLink struct {
	base   model.Link
	turn   int32        // what follows is of the links so many numbers on
	last   ramp.Profile // when they were asked last
	free   ramp.Profile
	by     int64 // who did
	loads  []carriedSize
	isUsed bool
}

// carriedSize is messages of one size.
type carriedSize struct {
	bytes unit.Bytes
	times int64
}

// parcel is a message on its way, as seen by who sends.
type parcel struct {
	lane  int32
	conn  int32
	hop   int
	bytes unit.Bytes
	way   *figures
	at    ramp.Profile // it asks for the next link
	tail  ramp.Profile
}

// mostUnevenRamps returns the number of ramps from which on another engine is as quick, for classes
// of this size.
func mostUnevenRamps(size int32) int { return int(min(max(size/16, 32), 512)) }

// RunUneven simulates a schedule in which ranks do the same at different times, because a rank or a
// link is slow. Errors are *NotFolded.
func RunUneven(s *schedule.Schedule, env *model.Env) (*model.Totals, error) {
	q, why := startUneven(s, env)
	if q == nil {
		return nil, &NotFolded{Why: why}
	}
	switch q.run(); {
	case q.why != "":
	case q.unfinished > 0:
		q.why = "it stalls"
	case q.waiting > 0:
		q.why = neverReceived
	default:
		return q.finished(), nil
	}
	return nil, &NotFolded{Why: q.why}
}

// startUneven makes the engine before its first row. If it cannot begin, it returns nil and the
// reason.
func startUneven(s *schedule.Schedule, env *model.Env) (*uneven, string) {
	if why := unsupportedUnevenly(s, env); why != "" {
		return nil, why
	}
	for _, mods := range cyclic(schedule.AllOf(s.Group)) {
		sym := symmetry.NewSubgroup(s.Group, mods)
		net := newLinks(sym, env.Graph, isMoved(env.Graph, sym, env.Graph.MovesBut))
		if !net.visit(s) {
			continue
		}
		q := newUneven(s, env, sym, net)
		if q.why != "" {
			return nil, q.why
		}
		return q, ""
	}
	return nil, "no ranks do the same"
}

// unsupportedUnevenly explains why RunUneven cannot simulate a schedule; empty if it can.
func unsupportedUnevenly(s *schedule.Schedule, env *model.Env) string {
	switch why := unsupported(s, env); {
	case why != "":
		return why
	case s.Group == nil:
		return "the schedule declares no group"
	case env.Start == nil && env.Slowdown == nil && !env.Graph.IsListed() &&
		len(env.Graph.Changes()) == 0:
		return "all ranks and links are alike"
	case env.Segment > 0:
		return "messages are cut into segments"
	case s.AnyStep(func(step *schedule.Step) bool { return len(step.Await) > 0 }):
		return "a step waits for another lane"
	}
	return ""
}

// In large groups a class has at least leastUneven ranks: smaller ones are as quick to simulate
// rank by rank.
const (
	largeUneven = 1 << 10
	leastUneven = 1 << 8
)

// cyclic lists the subgroups that are of one digit alone, those with the least classes first.
func cyclic(t *schedule.Translations) [][]int32 {
	var list [][]int32
	least := int32(2)
	if t.Group.Order() >= largeUneven {
		least = leastUneven
	}
	for _, mods := range Subgroups(t) {
		digits, size := 0, int32(1)
		for d, m := range mods {
			if m < t.Group[d] {
				digits++
				size = t.Group[d] / m
			}
		}
		if digits == 1 && size >= least {
			list = append(list, mods)
		}
	}
	return list
}

func newUneven(s *schedule.Schedule, env *model.Env, sym *symmetry.Subgroup, net *links) *uneven {
	size := int32(len(sym.Elements))
	q := &uneven{rules: model.NewRules(s, env), isFluid: env.Sharing == model.Fluid, sym: sym,
		net: net, size: size, slices: int32(s.Slices), connBy: map[connectionKey]int32{},
		most: mostUnevenRamps(size), slotLatency: ramp.Profile(nil).Set(env.Device.SlotLatency)}
	q.findChanges()
	for class, rank := range sym.Reps {
		p := s.Program(int(rank))
		q.programs, q.perRank = append(q.programs, p), int32(p.Lanes())
		q.cuts = append(q.cuts, q.slowAt(int32(class)))
		for i := range p.Lanes() {
			c := p.Walk(i)
			q.lanes = append(q.lanes, unevenLane{cursor: c, class: int32(class), index: int32(i),
				channel: int32(p.Channel(i)), steady: map[int32]*unevenAction{},
				end: q.begin(int32(class), !c.Done())})
		}
	}
	for i := range q.lanes {
		q.wake(int32(i))
	}
	q.unfinished = len(q.lanes)
	return q
}

// begin returns the times at which a lane can start, rank by rank of a class. Push joins equally
// spaced times into one ramp. A profile of more than q.most ramps is refused.
func (q *uneven) begin(class int32, hasSteps bool) ramp.Profile {
	var p ramp.Profile
	for n := range q.size {
		at := q.rules.Begin(q.sym.Rank(class, n), hasSteps).T
		const oneRank = 1
		if p = p.Push(ramp.Ramp{From: n, At: at}, oneRank); len(p) > q.most {
			q.refuse("too many ranks differ")
			break
		}
	}
	return p
}

// slowAt lists the numbers in a class at which the slowdown differs from that of the rank before.
func (q *uneven) slowAt(class int32) (cuts []int32) {
	if q.rules.Slowdown == nil {
		return nil
	}
	was := q.rules.Slowdown[q.sym.Rank(class, 0)]
	for n := int32(1); n < q.size; n++ {
		if now := q.rules.Slowdown[q.sym.Rank(class, n)]; now != was {
			if cuts, was = append(cuts, n), now; len(cuts) > q.most {
				q.refuse("too many ranks differ")
				return nil
			}
		}
	}
	return cuts
}

// findChanges finds the links that are not as those of their orbit.
func (q *uneven) findChanges() {
	net := q.net
	q.changed, q.edges = map[[2]int32]model.Link{}, make([][]int32, net.orbits)
	for i := range net.network.Links {
		q.links = append(q.links, unevenLink{base: net.network.Links[i]})
	}
	if !net.moves {
		return // all links of an orbit are alike
	}
	changes := net.graph.Changes()
	if len(changes) > q.most {
		q.refuse("too many links differ")
		return
	}
	for _, link := range changes {
		s, number := model.AlikenessOf(net.graph, net.sym, link)
		orbit, isUsed := net.byAnchor[s]
		if !isUsed {
			continue
		}
		l := net.graph.Link(link)
		q.changed[[2]int32{orbit, number}] = model.Link{Bandwidth: l.Bandwidth, Latency: l.Latency}
		q.edges[orbit] = append(q.edges[orbit], number)
	}
}

// refuse notes why the run cannot be simulated; the first reason counts.
func (q *uneven) refuse(why string) {
	if q.why == "" {
		q.why = why
	}
}

// get returns an empty profile, which it takes from the spare ones if there are any.
func (q *uneven) get() ramp.Profile {
	if n := len(q.spare); n > 0 {
		p := q.spare[n-1]
		q.spare = q.spare[:n-1]
		return p[:0]
	}
	return make(ramp.Profile, 0, 8)
}

// put gives back a profile that nobody uses any more.
func (q *uneven) put(p ramp.Profile) {
	if cap(p) > 0 {
		q.spare = append(q.spare, p)
	}
}

// laterOf returns the later time of two profiles for each rank. It recycles the first.
func (q *uneven) laterOf(a, b ramp.Profile) ramp.Profile {
	p := q.get().Later(a, b, q.size)
	q.put(a)
	return q.watch(p)
}

// plus returns the sum of two profiles for each rank. It recycles the first.
func (q *uneven) plus(a, b ramp.Profile) ramp.Profile {
	p := q.get().Plus(a, b, q.size)
	q.put(a)
	return q.watch(p)
}

// watch notes that a profile has too many ramps.
func (q *uneven) watch(p ramp.Profile) ramp.Profile {
	if len(p) > q.most {
		q.refuse("too many ranks do what no other does")
	}
	return p
}
