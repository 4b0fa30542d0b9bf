package sweep

import (
	"collsim/schedule"
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// engine is the state of a run, in flat arrays that name each other by index.
type engine struct {
	rules   model.Rules
	network model.Network
	totals  model.Totals
	isFluid bool
	why     string // it cannot be swept: why

	programs   []*schedule.Program
	first      []int32 // lane of each rank among all, and their number
	lanes      []lane
	unfinished int
	ready      []int32 // lanes that may be able to go on in this row
	later      []int32 // and in the next
	serving    bool    // this row's messages are under way: who wakes up waits for the next
	step       schedule.Step
	steadyAt   map[int32]bool // what is steady of a program that is every rank's, by place

	conns         []connection
	connBy, tagBy flat.Table
	messages      []message
	freeMessage   int32
	waiting       int64 // messages that have not been received
	marks         []mark
	freeMark      int32

	links    []link   // that routes cross
	linkOf   []int32  // of the network's, 1 more; 0: none
	hops     []int32  // of network.Hops, in links
	packets  []packet // of this row
	asked    []int32  // packets that ask for a link, of the next batch
	batch    []int32  // and of this one
	touched  []int32  // links that are asked in this batch
	batchNow int32    // its number

	isInstant bool // some link may take no time: waves count

	recorder
}

// lane is what is kept of a lane.
type lane struct {
	cursor  schedule.Cursor
	end     model.Moment // of the step before
	until   model.Moment // of the present step: the latest that is known of D and its messages
	rank    int32
	channel int32
	slices  int32
	key     uint64 // who it is, of those that ask a link at one time
	pending int32  // messages of the present step that must leave
	posts   []model.Moment
	isPost  bool
	isReady bool
	waits   waiting
	on      int32 // the connection or lane that it waits for
	waiters int32 // the lanes that wait for its posts, −1 for none
	next    int32 // lane that waits for the same lane's posts
	actor   int32 // in the recorder

	// Its present step, resolved.
	place    int32 // where it is written; −1: not looked at
	isSteady bool  // and is the same in all iterations of its loop
	in, out  int32 // connection last used each way
	sources  int32
	receives []int32 // connections
	sends    []sending
	awaits   []schedule.Event
	posting  bool
	sizes    []size  // by slice
	received []int32 // messages
}

// sending is a message that a step sends.
type sending struct {
	conn    int32
	framing schedule.Framing
}

// size is what a sub-step moves and costs; bytes are unknown where the messages tell.
type size struct {
	bytes unit.Bytes
	cost  unit.Time
}

const unknown unit.Bytes = -1

// waiting is what a lane that cannot go on waits for.
type waiting uint8

const (
	forNothing waiting = iota
	forMessage         // of connection on
	forSlot            // of connection on
	forEvent           // of lane on
	forStep            // its own, to end
	forEver            // it has come to its end
)

func newEngine(s *schedule.Schedule, env *model.Env) *engine {
	e := &engine{rules: model.NewRules(s, env), network: model.NewNetwork(env.Graph),
		isFluid: env.Sharing == model.Fluid, connBy: flat.NewTable(), tagBy: flat.NewTable(),
		freeMessage: -1, freeMark: -1}
	e.linkOf = make([]int32, len(e.network.Links))
	if s.Group != nil {
		e.steadyAt = map[int32]bool{}
	}
	lanes := 0
	for rank := range s.Spec.Ranks {
		e.programs = append(e.programs, s.Program(rank))
		lanes += e.programs[rank].Lanes()
	}
	e.lanes = make([]lane, 0, lanes)
	e.ready, e.later = make([]int32, 0, lanes), make([]int32, 0, lanes)
	for rank, p := range e.programs {
		e.first = append(e.first, int32(len(e.lanes)))
		for i := range p.Lanes() {
			c := p.Walk(i)
			e.lanes = append(e.lanes, lane{cursor: c, rank: int32(rank),
				end: e.rules.Begin(int32(rank), !c.Done()), channel: int32(p.Channel(i)),
				slices: int32(p.Slices(i)), key: model.LaneKey(i), place: -1, in: -1, out: -1,
				waiters: -1, actor: -1})
		}
	}
	e.first = append(e.first, int32(len(e.lanes)))
	e.unfinished = len(e.lanes)
	for i := range e.lanes {
		e.wake(int32(i))
	}
	return e
}

// run plays row by row: each lane goes on as far as it can without a message that is sent in this
// row; then all messages of the row cross their links.
func (e *engine) run() {
	for len(e.ready) > 0 && e.why == "" {
		e.record()
		e.runLanes()
		e.serving = true
		for len(e.asked) > 0 && e.why == "" {
			if e.isFluid {
				e.flow()
			} else {
				e.serve()
			}
		}
		e.serving = false
		e.packets = e.packets[:0]
		e.ready, e.later = e.later, e.ready[:0]
	}
}

// refuse notes why it cannot be swept.
func (e *engine) refuse(why string) {
	if e.why == "" {
		e.why = why
	}
}

// wake puts a lane among those that may be able to go on.
func (e *engine) wake(i int32) {
	l := &e.lanes[i]
	switch {
	case l.isReady:
		return
	case e.serving:
		e.later = append(e.later, i)
	default:
		e.ready = append(e.ready, i)
	}
	l.isReady, l.waits = true, forNothing
}

// runLanes lets every lane that is awake go on, up to its next step that sends. In what order does
// not matter: each finds only times that are final, if the guess is right.
func (e *engine) runLanes() {
	for n := 0; n < len(e.ready) && e.why == ""; n++ { // it grows meanwhile
		i := e.ready[n]
		l := &e.lanes[i]
		l.isReady = false
		for {
			if l.cursor.Done() {
				l.waits = forEver
				e.unfinished--
				break
			}
			e.resolve(i)
			at, known := e.start(i)
			if !known {
				break
			}
			if e.perform(i, at); len(l.sends) > 0 {
				break
			}
		}
	}
}
