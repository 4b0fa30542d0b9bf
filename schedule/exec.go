package schedule

import (
	"slices"

	"collsim/collective"
)

// Limits configure an execution.
type Limits struct {
	// Slots is the number of messages that a FIFO connection holds if the schedule does not say; 0
	// is unlimited.
	Slots int
	// Iterations counts the runs of every rank's program; 0 means one. A rank begins again when all
	// its lanes have ended, whatever other ranks do.
	Iterations int
	// Rendezvous makes a step that sends on a FIFO connection end when the last of its messages is
	// received. Its lane goes on only then.
	Rendezvous bool
	// Brief omits from a deadlock which lane waits for which, since finding it takes long with many
	// lanes.
	Brief bool
	// Folded executes rank 0 for all ranks of the schedule's group. What it receives from a rank is
	// what it has sent to the rank at the same distance in the other direction. Counts are rank
	// 0's. REQUIRES: Group is not nil, no parts, and only messages between ranks: no gets, puts or
	// multimem.
	Folded bool
}

// A Visit is one sub-step while it executes. It is reused: copy what is to be kept.
type Visit struct {
	Rank, Lane, Channel int32
	Part                int32 // of a composed schedule
	Number, Slice       int32 // number of the step in its lane, and of the sub-step in the step
	Step                *Step
	// In and Out are the handles of the messages, as in Step.From and Step.Send. They are −1 where
	// there is no message (local regions, silent puts, multimem). A handle is a small number. It
	// identifies one message from the visit that sends it to the end of the visit that receives it.
	In, Out []int32
	Last    bool // the sub-step is the last of its step

	Index int32 // index of the lane among all lanes of all ranks, in order of ranks and lanes
}

// Spot returns where the sub-step takes place.
func (v *Visit) Spot() Spot {
	return Spot{Rank: int(v.Rank), Channel: int(v.Channel), Slice: int(v.Slice), Part: int(v.Part)}
}

// Execute executes a schedule without time: it respects every wait, and each sub-step happens at
// once. Since every wait names what it waits for, all interleavings stall alike and move the same
// messages. The order of visits depends on the schedule alone. A deadlock is a *StallError. A
// message that is never received, or a sum without an operator, is a *Violation. The memory used is
// that of the lanes and the messages in flight.
func Execute(s *Schedule, limits Limits, hooks Hooks) (Counts, error) {
	x := newExecutor(s, limits, hooks)
	if err := x.run(); err != nil {
		return x.counts, err
	}
	return x.counts, x.unreceived()
}

// waiting is the kind of thing that a blocked lane waits for.
type waiting uint8

const (
	forNothing waiting = iota
	forMessage         // of a connection
	forSlot            // of a connection
	forEvent           // of a lane
	forReceive         // of its messages, in rendezvous
	forRank            // of its rank's other lanes, to begin again
)

// laneState is the executor's state of a lane.
type laneState struct {
	cursor     Cursor
	rank, lane int32
	channel    int32
	part       int32
	slices     int32
	slots      int32 // of FIFO connections from here
	posts      int32 // in all iterations
	base       int32 // posts when this iteration began
	waits      waiting
	on         int32 // connection or lane that it waits for
	value      int32 // posts that it waits for
	out, in    int32 // connection used last in each direction, −1 for none
	queued     bool
	performed  bool  // the present step has executed but not ended: rendezvous
	unreceived int32 // messages of that step that are not received
}

// executor is the state of Execute.
type executor struct {
	s        *Schedule
	hooks    Hooks
	slots    int32
	times    int32
	meet     bool // rendezvous
	folded   bool
	brief    bool
	programs []*Program
	first    []int32 // index of each rank's first lane; then the number of lanes
	lanes    []laneState
	left     []int32 // of each rank: lanes that have not ended this iteration
	round    []int32 // of each rank: iterations that have ended
	conns    []connection
	byKey    map[connectionKey]int32
	next     []int32 // of each message handle: the next in its FIFO, or in the free list
	free     int32
	queue    []int32
	watch    [][]int32 // of each lane: lanes that wait for a post of it
	visit    Visit
	step     Step
	counts   Counts
}

// newExecutor returns an executor with all lanes at their beginning.
func newExecutor(s *Schedule, limits Limits, hooks Hooks) *executor {
	x := &executor{s: s, hooks: hooks, slots: int32(s.Slots), times: int32(max(1, limits.Iterations)),
		meet: limits.Rendezvous, folded: limits.Folded, brief: limits.Brief,
		byKey: map[connectionKey]int32{}, free: -1}
	if s.Slots == 0 {
		x.slots = int32(limits.Slots)
	}
	ranks := s.Spec.Ranks
	if x.folded {
		ranks = 1
	}
	x.left, x.round = make([]int32, ranks), make([]int32, ranks)
	lanes := 0
	for rank := range ranks {
		x.programs = append(x.programs, s.Program(rank))
		lanes += x.programs[rank].Lanes()
	}
	x.lanes = make([]laneState, 0, lanes)
	for rank, p := range x.programs {
		x.first = append(x.first, int32(len(x.lanes)))
		x.left[rank] = int32(p.Lanes())
		for lane := range p.Lanes() {
			x.lanes = append(x.lanes, laneState{cursor: p.Walk(lane), rank: int32(rank),
				lane: int32(lane), channel: int32(p.Channel(lane)), part: int32(p.Part(lane)),
				slices: int32(p.Slices(lane)), slots: x.slotsOf(p, lane), out: -1, in: -1})
			x.wake(int32(len(x.lanes)) - 1)
		}
	}
	x.first = append(x.first, int32(len(x.lanes)))
	x.watch = make([][]int32, len(x.lanes))
	return x
}

// wake queues a lane to try again.
func (x *executor) wake(lane int32) {
	if l := &x.lanes[lane]; !l.queued {
		l.queued, l.waits = true, forNothing
		x.queue = append(x.queue, lane)
	}
}

// run advances each lane as far as possible, first come first served, until none can advance.
func (x *executor) run() error {
	for rank := range x.left {
		if x.left[rank] == 0 {
			if err := x.finished(int32(rank)); err != nil {
				return err
			}
		}
	}
	for at := 0; at < len(x.queue); at++ {
		if at > len(x.queue)/2 && at > 1024 {
			x.queue = append(x.queue[:0], x.queue[at:]...)
			at = 0
		}
		lane := x.queue[at]
		x.lanes[lane].queued = false
		if err := x.advance(lane); err != nil {
			return err
		}
	}
	for i := range x.lanes {
		if w := x.lanes[i].waits; w != forNothing && w != forRank {
			return x.stall()
		}
	}
	return nil
}

// advance executes the steps of a lane until it must wait.
func (x *executor) advance(lane int32) error {
	l := &x.lanes[lane]
	p := x.programs[l.rank]
	var before Cursor
	for isFirst := true; ; isFirst = false {
		if l.cursor.Done() {
			l.waits = forRank
			x.left[l.rank]--
			if x.left[l.rank] == 0 {
				return x.finished(l.rank)
			}
			return nil
		}
		if isFirst {
			p.Load(&l.cursor, &x.step)
		} else {
			p.loadNext(&before, &l.cursor, &x.step)
		}
		if !l.performed {
			if !x.ready(lane, l) {
				return nil
			}
			if err := x.perform(lane, l); err != nil {
				return err
			}
		}
		if l.unreceived > 0 {
			l.performed, l.waits = true, forReceive
			return nil
		}
		before = l.cursor
		x.end(lane, l)
	}
}

// end ends the sub-step in x.step.
func (x *executor) end(lane int32, l *laneState) {
	if x.step.Post && l.cursor.Last(l.slices) {
		l.posts++
		slices.Sort(x.watch[lane])
		for _, other := range x.watch[lane] {
			x.wake(other)
		}
		x.watch[lane] = x.watch[lane][:0]
	}
	l.performed = false
	l.cursor.Next(l.slices)
}

// ready reports whether the step in x.step can execute. If not, the lane waits for the first thing
// that is missing.
func (x *executor) ready(lane int32, l *laneState) bool {
	s := &x.step
	v := &x.visit
	v.In, v.Out = v.In[:0], v.Out[:0]
	for i := range s.From {
		if s.From[i].Kind != Message {
			v.In = append(v.In, -1)
			continue
		}
		c := x.connect(lane, &s.From[i].Peer, &l.in, false)
		v.In = append(v.In, c)
		if x.conns[c].held == 0 {
			l.waits, l.on = forMessage, c
			return false
		}
	}
	for i := range s.Send {
		if !s.Send[i].Message() {
			v.Out = append(v.Out, -1)
			continue
		}
		c := x.connect(lane, &s.Send[i].Peer, &l.out, true)
		v.Out = append(v.Out, c)
		if limit := x.limit(x.conns[c].class, l.slots); limit > 0 && x.conns[c].held >= limit {
			l.waits, l.on = forSlot, c
			return false
		}
	}
	if l.cursor.Slice() == 0 {
		// Of several events it waits for the last missing one: the others have mostly happened by
		// then.
		for i := len(s.Await) - 1; i >= 0; i-- {
			if e := s.Await[i]; !x.happened(l, e) {
				l.waits, l.on, l.value = forEvent, x.first[l.rank]+e.Lane, e.Value
				x.watch[l.on] = append(x.watch[l.on], lane)
				return false
			}
		}
	}
	return true
}

// happened reports whether an event of a lane's rank has happened.
func (x *executor) happened(l *laneState, e Event) bool {
	on := &x.lanes[x.first[l.rank]+e.Lane]
	return on.posts-on.base >= e.Value
}

// limit returns the slots of a class; 0 is unlimited.
func (x *executor) limit(c Class, slots int32) int32 {
	switch c {
	case Pad:
		return 1
	case Free, Puts:
		return 0
	}
	return slots
}

// slotsOf returns the slots of FIFO connections from a lane.
func (x *executor) slotsOf(p *Program, lane int) int32 {
	if n := p.Slots(lane); n > 0 {
		return int32(n)
	}
	return x.slots
}

// perform executes the step in x.step, which is ready: v.In and v.Out are its connections.
func (x *executor) perform(lane int32, l *laneState) error {
	v := &x.visit
	v.Rank, v.Lane, v.Channel, v.Part, v.Index = l.rank, l.lane, l.channel, l.part, lane
	v.Number, v.Slice, v.Step = l.cursor.Step, l.cursor.Slice(), &x.step
	v.Last = l.cursor.Last(l.slices)
	if of, _ := x.s.partOf(v.Spot()); of.computes(v.Step) != nil {
		err := of.computes(v.Step)
		return &Violation{Kind: Malformed, Rank: int(l.rank), Lane: int(l.lane), Step: int(v.Number),
			Chunk: -1, Text: v.Step.Name() + " " + err.Error()}
	}
	for i, c := range v.Out { // slots are taken before any is freed
		if c >= 0 {
			v.Out[i] = x.push(c)
			x.counts.Messages++
			if x.meet && x.conns[c].class == FIFO {
				l.unreceived++
			}
		}
	}
	for i, c := range v.In {
		if c >= 0 {
			v.In[i] = x.pop(c)
		}
	}
	x.counts.Steps++
	if x.s.sends(&x.step) {
		x.counts.Rounds = max(x.counts.Rounds, int(x.step.Round)+1)
	}
	if x.hooks.Step != nil {
		if err := x.hooks.Step(v); err != nil {
			return err
		}
	}
	for _, handle := range v.In {
		if handle >= 0 {
			x.next[handle], x.free = x.free, handle
		}
	}
	return nil
}

// sends reports whether a step sends data or fetches it. In a barrier, signals count as data.
func (s *Schedule) sends(step *Step) bool {
	if !step.Moves() && s.Spec.Kind != collective.Barrier {
		return false
	}
	for i := range step.From {
		if k := step.From[i].Kind; k == Get || k == Multimem {
			return true
		}
	}
	return len(step.Send) > 0
}

// finished ends an iteration of a rank and begins the next.
func (x *executor) finished(rank int32) error {
	if x.hooks.Finished != nil {
		if err := x.hooks.Finished(int(rank), int(x.round[rank])); err != nil {
			return err
		}
	}
	if x.round[rank]++; x.round[rank] >= x.times || x.first[rank] == x.first[rank+1] {
		return nil
	}
	x.left[rank] = x.first[rank+1] - x.first[rank]
	for lane := x.first[rank]; lane < x.first[rank+1]; lane++ {
		l := &x.lanes[lane]
		l.cursor, l.base = x.programs[rank].Walk(int(l.lane)), l.posts
		x.wake(lane)
	}
	return nil
}

// unreceived returns a violation if a message is never received. It names the first such connection
// by lanes, class and tag, so that all executors of a schedule report the same.
func (x *executor) unreceived() error {
	var held *connection
	for i := range x.conns {
		if c := &x.conns[i]; c.held > 0 && (held == nil || c.before(held)) {
			held = c
		}
	}
	if held == nil {
		return nil
	}
	from, to := &x.lanes[held.src], &x.lanes[held.dst]
	v := &Violation{Kind: Unmatched, Rank: int(from.rank), Lane: int(from.lane), Step: -1, Chunk: -1}
	return v.Say("%d messages to %v are never received", held.held,
		At{int(to.rank + held.far), int(to.lane), -1})
}
