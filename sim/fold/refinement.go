package fold

import (
	"slices"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/symmetry"
	"collsim/unit"
)

// refinement simulates a schedule in which no group takes ranks to each other, as in a tree. It
// finds the ranks that do the same during the run. It begins with a class for each kind of rank,
// and simulates one member for all. What a class does to others (a flow begins or ends, a message
// has come, a slot is free) it does to all peers of its members. If these are all members of
// another class, that class goes on as one. If they are only some of its members, the class is
// divided, and both parts go on from their common state. So two ranks end in one class if the same
// happened to both at the same times, even if their peers are different ranks. That makes far fewer
// classes than to distinguish ranks by their places in the schedule: in a double tree, half as many
// pairs of places exist as ranks.
//
// Effects on parts of a class may come from several classes at one instant. So a class is divided
// only when nothing else happens at that instant (under FIFO: in that wave).
//
// All ranks are around one switch, each with a link up to it and a link down from it. A rank whose
// links differ from the others is of a kind of its own.
type refinement struct {
	rules   model.Rules
	scripts []script
	*symmetry.Partition
	classes []alike
	slots   int32

	effects []effect // of this instant, that have not come everywhere
	held    []effect // room for those that deliver leaves
	awake   []int32  // classes whose lanes may be able to go on
	why     string

	flowing
	queues
}

// alike is the state of a rank of a class.
type alike struct {
	script  int32 // what it does
	lanes   []ownLane
	ins     []inEnd
	outs    []outEnd
	up      spoke // to the switch
	down    spoke
	isAwake bool

	waiting []int32    // FIFO: its requests,
	went    []int32    // how many packets have gone to the peers at each place,
	inOrder [][2]int32 // pairs of places, in this order at all members
}

// ownLane is the state of a lane.
type ownLane struct {
	next    int // of its actions
	end     model.Moment
	until   model.Moment // of the present one
	leaving int32        // its messages that have not left; −1: it has not begun
	sent    uint64       // messages
	posts   []model.Moment
}

// inEnd holds the receiving end of a connection.
type inEnd struct {
	came       []model.Moment // messages that are not yet received
	handedBack int32          // slots that it has freed
	level
}

// outEnd holds the sending end of a connection.
type outEnd struct {
	freed []model.Moment // slots that are free again
	used  int32          // slots that have been used before
	sent  int32          // messages that it has sent
	lane  int32
	bytes unit.Bytes // of the last of them
	flow             // which that is
	level
}

// spoke holds the state of a link between a rank and the switch.
type spoke struct {
	line
	capacity  uint64 // fluid: 0 where it has no limit
	load      unit.Bytes
	free      unit.Time // FIFO: since when,
	busy      unit.Time // and how long it was not
	flows     []int32   // ends of connections
	isChanged bool      // since the last solution
	seen      int64     // by that solution
	index     int32     // in it
}

// simulateClasses simulates a schedule whose ranks have roles, in at most this many classes.
func simulateClasses(s *schedule.Schedule, env *model.Env, most int) (*model.Totals, error) {
	if why := unsupportedClasses(s, env); why != "" {
		return nil, &NotFolded{Why: why}
	}
	q := &refinement{rules: model.NewRules(s, env)}
	var kinds []kind
	if q.Partition, kinds = newPartition(s, env, most); len(kinds) > most {
		return nil, &NotFolded{Why: tooMany}
	}
	if q.scripts, q.why = scripts(s, &q.rules, kinds); q.why != "" {
		return nil, &NotFolded{Why: q.why}
	}
	for i := range q.scripts {
		if len(q.scripts[i].lanes) != len(q.scripts[0].lanes) {
			return nil, &NotFolded{Why: "ranks have different numbers of lanes"}
		}
	}
	q.slots = q.rules.Slots(schedule.FIFO)
	q.begin()
	q.alignLeads()
	q.run(most)
	if q.why == "" && !q.isOver() {
		q.why = "a step waits for ever, or a message is never received" // sim/event names the rank
	}
	if q.why != "" {
		return nil, &NotFolded{Why: q.why}
	}
	return q.finished(), nil
}

// Looks that solutions may take: so many for each message that they take a quarter of the time of
// sim/event, so that no more is wasted where classes are too many; and some for small runs.
const (
	looksPerMessage = 4
	looksAnyway     = 1 << 20
)

const tooMany = "too many ranks do what no other does"

// begin has a class for each kind of rank.
func (q *refinement) begin() {
	q.looks = looksAnyway
	for class := range q.scripts {
		x := &q.scripts[class]
		c := alike{script: int32(class), went: make([]int32, len(q.Edges[class])),
			lanes: make([]ownLane, len(x.lanes)),
			ins:   make([]inEnd, len(x.ins)), outs: make([]outEnd, len(x.outs)),
			up: newSpoke(x.up), down: newSpoke(x.down)}
		for i := range c.lanes {
			c.lanes[i] = ownLane{leaving: -1, end: q.rules.Begin(x.rank, len(x.lanes[i]) > 0)}
		}
		for i := range c.outs {
			c.outs[i].flow, c.outs[i].lane = flow{begins: never, ends: never}, x.outs[i].near
		}
		q.classes = append(q.classes, c)
		for _, actions := range x.lanes {
			for i := range actions {
				q.looks += looksPerMessage * int64(len(actions[i].sends)*int(q.Size(int32(class))))
			}
		}
		q.wake(int32(class))
	}
}

func newSpoke(l line) spoke {
	s := spoke{line: l}
	if l.bandwidth != unit.Unlimited {
		s.capacity = model.FluidRate(l.bandwidth)
	}
	return s
}

func (q *refinement) wake(class int32) {
	if c := &q.classes[class]; !c.isAwake {
		c.isAwake = true
		q.awake = append(q.awake, class)
	}
}

// run simulates the classes to their end, or until there are more than most of them.
func (q *refinement) run(most int) {
	now := unit.Time(0)
	for q.why == "" {
		q.runLanes()
		switch {
		case q.deliver() || q.carryOn(now):
		case len(q.effects) > 0:
			q.part(&q.effects[0])
		default:
			isOver := false
			if now, isOver = q.next(now); isOver {
				return
			}
		}
		if len(q.classes) > most {
			q.why = tooMany
		}
	}
}

// carryOn does what is left to do at an instant, of FIFO in a wave, if there is anything.
func (q *refinement) carryOn(now unit.Time) bool {
	if q.rules.Sharing == model.FIFO {
		return q.serve()
	}
	return q.flowAt(now)
}

// next goes on to the next instant, or wave. In the one that is over all has come that comes.
func (q *refinement) next(now unit.Time) (then unit.Time, isOver bool) {
	if q.rules.Sharing == model.FIFO {
		return 0, !q.nextWave()
	}
	if !q.solve(now) {
		return now, false
	}
	then = q.nextTime()
	return then, then == never
}

// runLanes has all lanes that are awake go on as far as they can.
func (q *refinement) runLanes() {
	for len(q.awake) > 0 && q.why == "" {
		class := q.awake[len(q.awake)-1]
		q.awake = q.awake[:len(q.awake)-1]
		q.classes[class].isAwake = false
		q.goOn(class)
	}
}

// goOn has the lanes of a class go on as far as they can.
func (q *refinement) goOn(class int32) {
	for moved := true; moved; {
		moved = false
		for lane := range q.classes[class].lanes {
			for q.step(class, lane) {
				moved = true
			}
		}
	}
}

// step carries out the next action of a lane, if all is known that it waits for.
func (q *refinement) step(class int32, lane int) bool {
	c := &q.classes[class]
	l, x := &c.lanes[lane], &q.scripts[c.script]
	if l.leaving >= 0 || l.next == len(x.lanes[lane]) {
		return false
	}
	a := &x.lanes[lane][l.next]
	at := l.end
	for _, i := range a.receives {
		if len(c.ins[i].came) == 0 {
			return false
		}
		at = model.Later(at, c.ins[i].came[0])
	}
	for _, i := range a.sends {
		if o := &c.outs[i]; q.slots > 0 && o.used == q.slots {
			if len(o.freed) == 0 {
				return false
			}
			at = model.Later(at, o.freed[0])
		}
	}
	for _, e := range a.awaits {
		if e.Value <= 0 {
			continue
		}
		posts := c.lanes[e.Lane].posts
		if int(e.Value) > len(posts) {
			return false
		}
		at = model.Later(at, posts[e.Value-1])
	}
	for _, i := range a.receives {
		c.ins[i].came = c.ins[i].came[1:]
	}
	at = at.Plus(a.cost)
	l.until = at
	l.leaving = 1 // nobody but us ends it meanwhile
	for _, i := range a.sends {
		o := &c.outs[i]
		switch {
		case q.slots == 0:
		case o.used < q.slots:
			o.used++
		default:
			o.freed = o.freed[1:]
		}
		l.leaving++
		q.send(class, i, at, a)
	}
	q.left(class, int32(lane), l.until)
	return true
}

// left notes that one of the things that a lane's action waits for is over. With the last one the
// action ends.
func (q *refinement) left(class, lane int32, at model.Moment) {
	c := &q.classes[class]
	l, x := &c.lanes[lane], &q.scripts[c.script]
	l.until = model.Later(l.until, at)
	if l.leaving--; l.leaving > 0 {
		return
	}
	if l.until.T >= unit.Forever {
		q.why = "time is counted no further"
	}
	a := &x.lanes[lane][l.next]
	l.end, l.leaving = l.until, -1
	l.next++
	if a.isPost {
		l.posts = append(l.posts, l.end)
	}
	if q.slots > 0 {
		freed := q.rules.Freed(l.end)
		for _, i := range a.receives {
			q.emit(class, x.ins[i], effect{kind: slotFree, number: c.ins[i].handedBack, at: freed})
			c.ins[i].handedBack++
		}
	}
	q.wake(class)
}

// clone copies the state for another class.
func (c *alike) clone() alike {
	x := *c
	x.inOrder = slices.Clone(c.inOrder)
	x.lanes, x.ins, x.outs = slices.Clone(c.lanes), slices.Clone(c.ins), slices.Clone(c.outs)
	for i := range x.lanes {
		x.lanes[i].posts = slices.Clone(x.lanes[i].posts)
	}
	for i := range x.ins {
		x.ins[i].came = slices.Clone(x.ins[i].came)
	}
	for i := range x.outs {
		x.outs[i].freed = slices.Clone(x.outs[i].freed)
	}
	x.waiting, x.went = slices.Clone(c.waiting), slices.Clone(c.went)
	x.up.flows, x.down.flows = slices.Clone(c.up.flows), slices.Clone(c.down.flows)
	return x
}

// without removes an element from a list.
func without(list []int32, x int32) []int32 {
	i := slices.Index(list, x)
	return slices.Delete(list, i, i+1)
}

// isOver reports whether all lanes have come to their ends, and all messages were received.
func (q *refinement) isOver() bool {
	for i := range q.classes {
		c := &q.classes[i]
		for lane := range c.lanes {
			if c.lanes[lane].next < len(q.scripts[c.script].lanes[lane]) {
				return false
			}
		}
		for j := range c.ins {
			if len(c.ins[j].came) > 0 {
				return false
			}
		}
	}
	return true
}
