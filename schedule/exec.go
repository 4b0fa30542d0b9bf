package schedule

import (
	"collsim/collective"
)

// Limits bound an execution.
type Limits struct {
	// Slots is what a connection of class FIFO holds if the schedule does not say; 0 is any number.
	Slots int
	// Iterations is how often every rank runs its program; 0 is once. A rank begins again when
	// all its lanes have come to their end, whatever other ranks do.
	Iterations int
	// Rendezvous has a step that sends on a connection of class FIFO end, and its lane go on, when
	// the last of its messages is received.
	Rendezvous bool
}

// Visit is one sub-step as it is carried out. It is reused: copy what is to be kept.
type Visit struct {
	Rank, Lane, Channel int32
	Number, Slice       int32 // of the step in its lane, and of the sub-step in the step
	Step                *Step
	// In and Out are the handles of the messages, as in Step.From and Step.Send, −1 where there is
	// no message (local regions, silent puts, multimem). A handle is a small number, of one message
	// from the visit that sends it to the end of the visit that receives it.
	In, Out []int32
	Last    bool // the sub-step is the last of its step

	Index int32 // of the lane among all lanes of all ranks, in order of ranks and lanes
}

// Spot is where the sub-step takes place.
func (v *Visit) Spot() Spot {
	return Spot{Rank: int(v.Rank), Channel: int(v.Channel), Slice: int(v.Slice)}
}

// Hooks are called during an execution; nil ones are not. An error ends it.
type Hooks struct {
	Step     func(v *Visit) error            // every sub-step, in an order that respects all waits
	Finished func(rank, iteration int) error // a rank has come to the end of an iteration
}

// Counts is what an execution has seen.
type Counts struct {
	Steps, Messages int64 // sub-steps, and messages with signals among them
	Rounds          int   // 1 + the highest round of a step that sends or gets data
	InFlight        int   // the most messages that a connection ever held
}

// Execute carries a schedule out, without time: every wait is respected, each sub-step happens at
// once. Since every wait names what it waits for, all interleavings stall alike and move the same
// messages; the order of visits is a function of the schedule alone. A deadlock is a *StallError, a
// message that nobody receives, or a sum without an operator, a *Violation. Memory is that of the
// lanes and the messages in flight.
func Execute(s *Schedule, limits Limits, hooks Hooks) (Counts, error) {
	x := newExecutor(s, limits, hooks)
	if err := x.run(); err != nil {
		return x.counts, err
	}
	return x.counts, x.unreceived()
}

// waiting is what a lane that cannot go on waits for.
type waiting uint8

const (
	forNothing waiting = iota
	forMessage         // of a connection
	forSlot            // of a connection
	forEvent           // of a lane
	forReceive         // of what it has sent on a connection, in rendezvous
	forRank            // the other lanes of its rank, to begin again
)

// laneState is what the executor keeps of a lane.
type laneState struct {
	cursor     Cursor
	rank, lane int32
	channel    int32
	posts      int32 // in all iterations
	base       int32 // posts when this iteration began
	waits      waiting
	on         int32 // the connection or lane that it waits for
	value      int32 // posts that it waits for
	out, in    int32 // the connection last used each way, −1 for none
	queued     bool
	performed  bool  // the present step, which has not ended: rendezvous
	unreceived int32 // messages of that step
}

type executor struct {
	s        *Schedule
	hooks    Hooks
	slots    int32
	times    int32
	meet     bool // rendezvous
	programs []*Program
	first    []int32 // lane of each rank among all, and their number
	lanes    []laneState
	left     []int32 // lanes of each rank that have not finished this iteration
	round    []int32 // iterations that each rank has finished
	conns    []connection
	byKey    map[connectionKey]int32
	next     []int32 // message handle → the next in its FIFO, or in the free list
	free     int32
	queue    []int32
	visit    Visit
	step     Step
	counts   Counts
}

func newExecutor(s *Schedule, limits Limits, hooks Hooks) *executor {
	x := &executor{s: s, hooks: hooks, slots: int32(s.Slots), times: int32(max(1, limits.Iterations)),
		meet: limits.Rendezvous, byKey: map[connectionKey]int32{}, free: -1}
	if s.Slots == 0 {
		x.slots = int32(limits.Slots)
	}
	ranks := s.Spec.Ranks
	x.left, x.round = make([]int32, ranks), make([]int32, ranks)
	for rank := range ranks {
		p := s.Program(rank)
		x.programs = append(x.programs, p)
		x.first = append(x.first, int32(len(x.lanes)))
		x.left[rank] = int32(p.Lanes())
		for lane := range p.Lanes() {
			x.lanes = append(x.lanes, laneState{cursor: p.Walk(lane), rank: int32(rank),
				lane: int32(lane), channel: int32(p.Channel(lane)), out: -1, in: -1})
			x.wake(int32(len(x.lanes)) - 1)
		}
	}
	x.first = append(x.first, int32(len(x.lanes)))
	return x
}

func (x *executor) wake(lane int32) {
	if l := &x.lanes[lane]; !l.queued {
		l.queued, l.waits = true, forNothing
		x.queue = append(x.queue, lane)
	}
}

// run lets each lane go as far as it can, first come first served, until none can.
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

// advance carries out the steps of a lane until it must wait.
func (x *executor) advance(lane int32) error {
	l := &x.lanes[lane]
	p := x.programs[l.rank]
	for {
		if l.cursor.Done() {
			l.waits = forRank
			x.left[l.rank]--
			if x.left[l.rank] == 0 {
				return x.finished(l.rank)
			}
			return nil
		}
		p.Load(&l.cursor, &x.step)
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
		x.end(lane, l)
	}
}

// end ends the sub-step in x.step.
func (x *executor) end(lane int32, l *laneState) {
	if x.step.Post && l.cursor.Last(int32(x.s.Slices)) {
		l.posts++
		for other := x.first[l.rank]; other < x.first[l.rank+1]; other++ {
			if o := &x.lanes[other]; o.waits == forEvent && o.on == lane {
				x.wake(other)
			}
		}
	}
	l.performed = false
	l.cursor.Next(int32(x.s.Slices))
}

// ready reports whether the step in x.step can be carried out; if not, the lane waits for the
// first thing that is missing.
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
		if limit := x.limit(x.conns[c].class); limit > 0 && x.conns[c].held >= limit {
			l.waits, l.on = forSlot, c
			return false
		}
	}
	if l.cursor.Slice() == 0 {
		for _, e := range s.Await {
			on := x.first[l.rank] + e.Lane
			if x.lanes[on].posts-x.lanes[on].base < e.Value {
				l.waits, l.on, l.value = forEvent, on, e.Value
				return false
			}
		}
	}
	return true
}

// limit is the slots of a class; 0 is any number.
func (x *executor) limit(c Class) int32 {
	switch c {
	case Pad:
		return 1
	case Free:
		return 0
	}
	return x.slots
}

// perform carries out the step in x.step, which is ready: v.In and v.Out are its connections.
func (x *executor) perform(lane int32, l *laneState) error {
	v := &x.visit
	v.Rank, v.Lane, v.Channel, v.Index = l.rank, l.lane, l.channel, lane
	v.Number, v.Slice, v.Step = l.cursor.Step, l.cursor.Slice(), &x.step
	v.Last = l.cursor.Last(int32(x.s.Slices))
	if err := x.s.computes(v.Step); err != nil {
		return &Violation{Kind: Malformed, Rank: int(l.rank), Lane: int(l.lane), Step: int(v.Number),
			Chunk: -1, Text: v.Step.Name() + " " + err.Error()}
	}
	for i, c := range v.Out { // the slots are taken before any is freed
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
	if x.sends() {
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

// sends reports whether the step in x.step sends data or fetches it; a barrier has none.
func (x *executor) sends() bool {
	if !x.step.Moves() && x.s.Spec.Kind != collective.Barrier {
		return false
	}
	for i := range x.step.From {
		if k := x.step.From[i].Kind; k == Get || k == Multimem {
			return true
		}
	}
	return len(x.step.Send) > 0
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

// unreceived reports a message that nobody has received.
func (x *executor) unreceived() error {
	for i := range x.conns {
		if c := &x.conns[i]; c.held > 0 {
			from, to := &x.lanes[c.src], &x.lanes[c.dst]
			v := &Violation{Kind: Unmatched, Rank: int(from.rank), Lane: int(from.lane), Step: -1, Chunk: -1}
			return v.Say("%d messages to %v are never received", c.held,
				At{int(to.rank), int(to.lane), -1})
		}
	}
	return nil
}
