package sweep

import (
	"collsim/schedule"
	"collsim/sim/internal/exchange"
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
	why     string // the reason why the schedule cannot be swept; empty: none so far

	programs   []*schedule.Program
	first      []int32 // by rank: its first lane; then the number of all lanes
	lanes      []lane
	unfinished int
	ready      []int32 // lanes that may be able to go on in this row
	later      []int32 // lanes that may be able to go on in the next row
	serving    bool    // links serve the row's messages: a lane that wakes up waits for the next row
	step       schedule.Step
	steadyAt   map[int32]bool // for a program common to all ranks: isSteady by place

	conns    []connection
	connBy   exchange.Index
	messages flat.Pool[message]
	waiting  int64          // messages that have not been received
	marks    exchange.Marks // of slots

	links    []link   // that routes cross
	linkOf   []int32  // by link of the network: its index in links plus 1; 0: none
	hops     []int32  // network.Hops as indices of links
	packets  []packet // of this row
	asked    []int32  // packets that ask for a link in the next batch
	batch    []int32  // packets that ask for a link in this batch
	touched  []int32  // links that are asked in this batch
	ordered  []int32  // packets that ask for one of them, in order
	batchNow int32    // the number of this batch

	isInstant bool // some link may take no time: waves count

	recorder
}

// lane is the state of a lane.
type lane struct {
	cursor  schedule.Cursor
	end     model.Moment // of its last sub-step
	until   model.Moment // of the present sub-step: the latest known of D and what its messages do
	rank    int32
	channel int32
	slices  int32
	key     uint64 // the rank of its requests among those of one time: model.LaneKey
	pending int32  // messages of the present step that must leave
	posts   []model.Moment
	isPost  bool // the present sub-step posts an event
	isReady bool // it is in engine.ready or engine.later
	waits   waiting
	on      int32 // the connection or lane that it waits for
	waiters int32 // the first lane that waits for its posts; −1: none
	next    int32 // the next lane that waits for the same lane's posts
	actor   int32 // its index in the recorder; −1: none

	// Its present step, resolved.
	place    int32 // of the step in its program; −1: not resolved
	isSteady bool  // the step is the same in all iterations of its loop
	in, out  int32 // the connection last used in each direction
	sources  int32
	receives []int32 // connections
	sends    []sending
	awaits   []schedule.Event
	posting  bool
	sizes    []size  // by slice
	received []int32 // messages of the present sub-step
}

// sending is a message that a step sends.
type sending struct {
	conn    int32
	framing schedule.Framing
}

// size holds the bytes that a sub-step moves, and its cost D − S. Both are unknown for a step whose
// size is that of the messages that it receives.
type size struct {
	bytes unit.Bytes
	cost  unit.Time
}

// unknown is size.bytes of such a step.
const unknown unit.Bytes = -1

// waiting names the kind of event that a lane waits for.
type waiting uint8

const (
	forNothing waiting = iota
	forMessage         // of connection on
	forSlot            // of connection on
	forEvent           // of lane on
	forStep            // for its own step to end
	forEver            // the lane has ended
)

// newEngine returns the state at the beginning of a run.
func newEngine(s *schedule.Schedule, env *model.Env) *engine {
	e := &engine{rules: model.NewRules(s, env), network: model.NewNetwork(env.Graph),
		isFluid: env.Sharing == model.Fluid, connBy: exchange.NewIndex()}
	e.linkOf = make([]int32, len(e.network.Links))
	if s.Group != nil {
		e.steadyAt = map[int32]bool{}
	}
	lanes := 0
	for rank := range s.Spec.Ranks {
		e.programs = append(e.programs, s.Program(rank))
		lanes += e.programs[rank].Lanes()
	}
	e.messages, e.marks = flat.NewPool[message](lanes), exchange.NewMarks(lanes)
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

// run simulates row by row. In a row each lane goes on as far as it can without a message that is
// sent in this row. Then all messages of the row cross their links.
func (e *engine) run() {
	due := int64(0) // steps to report: Env.Progress
	for len(e.ready) > 0 && e.why == "" {
		e.record()
		if e.rules.Progress != nil && e.totals.Steps >= due {
			due = e.totals.Steps + 1<<16
			e.rules.Progress(e.totals.Steps)
		}
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

// refuse sets the reason why the schedule cannot be swept.
func (e *engine) refuse(why string) {
	if e.why == "" {
		e.why = why
	}
}

// wake adds a lane to those that may be able to go on.
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

// runLanes lets every ready lane go on, up to its next step that sends. Their order does not
// matter: if the guess is right, each lane uses only times that are final.
func (e *engine) runLanes() {
	for n := 0; n < len(e.ready) && e.why == ""; n++ { // ready grows during the loop
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
