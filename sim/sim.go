package sim

import (
	"fmt"
	"math"

	"collsim/schedule"
	"collsim/trace"
	"collsim/unit"
)

// Options are what the caller wants besides the numbers.
type Options struct {
	Trace bool // record every interval and message, and what each link carries
	// Critical asks for the critical path. The run then remembers every sub-step and message:
	// about 80 bytes for each message and the sub-step that sends it.
	Critical bool
}

// Result is what a run tells. Times are counted from 0, not from the ranks' Start.
type Result struct {
	Engine   string      // "event"
	Time     unit.Time   // when the last lane ends
	LaneEnd  []unit.Time // when each lane ends, by rank, then lane; its Start if it has no steps
	Steps    int64       // sub-steps: a step that moves data counts once a slice
	Messages int64       // sent, signals and puts among them; gets, silent puts and multimem are none
	// BytesSent counts what the schedule sends: every message, put, get and multimem operation once.
	// LinkBytes counts what the links carry: each of those once a link, of a packet the flags too.
	BytesSent, LinkBytes unit.Bytes
	// LinkBusy is how long each link would have been at work at its full bandwidth, by index. Under
	// FIFO each message is rounded up on its own.
	LinkBusy []unit.Time
	LinkLoad []unit.Bytes // by index
	Trace    *trace.Trace // nil unless asked for
	// Critical, unless not asked for, is what the last lane's end waited for, from 0 to Time without
	// a gap: the To of each piece is the From of the next. What is waited for without an own cost (a
	// message, an event, a slot) is no piece; the path goes on with what brought it about. Where
	// several things come at the same time, the lane's own step before goes first, then messages,
	// slots, events.
	Critical []Piece
}

// StallError is a schedule that cannot go on though lanes are unfinished: who waits for whom.
type StallError = schedule.StallError

// Run plays a schedule. Errors are: a wrong Env; a *StallError; a *schedule.Violation, for a step
// that cannot be carried out or a message that nobody receives; a *CostError, for fluid sharing
// that would take more than a minute; and a time beyond unit.Forever.
func Run(s *schedule.Schedule, env Env, o Options) (*Result, error) {
	if err := env.validate(s); err != nil {
		return nil, err
	}
	e := newEngine(s, &env, o)
	loop := e.runFIFO
	if env.Sharing == Fluid {
		loop = e.runFluid
	}
	if err := loop(); err != nil {
		return nil, err
	}
	if e.unfinished > 0 {
		return nil, e.stall()
	}
	if err := e.unreceived(); err != nil {
		return nil, err
	}
	return e.finished(), nil
}

// engine is the state of a run. Everything lies in flat arrays and is named by its index; what is
// over is used again, so that memory is that of the lanes, the connections and what is in flight.
type engine struct {
	s      *schedule.Schedule
	env    *Env
	width  int64 // bytes of an element
	slots  int32
	result *Result
	trace  *trace.Trace // nil: not recorded
	why    *causes      // nil: not remembered
	err    error        // found where no error can be returned

	programs   []*schedule.Program
	first      []int32 // lane of each rank among all, and their number
	lanes      []lane
	unfinished int     // lanes that have not come to their end
	ready      []int32 // lanes that may be able to go on
	step       schedule.Step
	named      []int32 // the connections that e.step names
	receives   int     // how many of them it receives on; those come first
	plain      bool    // and whether all that it sends are messages and no more
	stamp      int64

	conns         []connection
	connBy, tagBy table

	messages    []message
	freeMessage int32
	marks       []mark
	freeMark    int32

	links   []link
	routes  []route
	routeBy table
	hops    []int32 // the links of all routes
	fans    []fan   // what is more to say of those of multimem
	fanBy   table
	joins   []join // of the messages of multimem, under FIFO
	quiet   []line // of the lanes, where they go on before what they send has left; else nil

	streams  []stream // of the connections, and of silent puts; nil where no lane runs ahead
	streamBy table    // of silent puts, by lane and rank
	places   []place  // of messages, in streams
	rendezvous

	protocol

	queue      queue
	packets    []packet
	freePacket int32

	fluid
	recorder
}

func newEngine(s *schedule.Schedule, env *Env, o Options) *engine {
	slots := env.Slots
	if s.Slots > 0 {
		slots = s.Slots
	}
	e := &engine{s: s, env: env, width: int64(s.Spec.Type.Width()),
		slots:  int32(min(slots, math.MaxInt32)),
		result: &Result{Engine: "event"}, connBy: newTable(), tagBy: newTable(),
		routeBy: newTable(), fanBy: newTable(),
		freeMessage: -1, freeMark: -1, freePacket: -1, rendezvous: rendezvous{freePost: -1}}
	e.newLinks()
	lanes := 0
	for rank := range s.Spec.Ranks {
		e.programs = append(e.programs, s.Program(rank))
		lanes += e.programs[rank].Lanes()
	}
	e.lanes, e.ready = make([]lane, 0, lanes), make([]int32, 0, lanes)
	for rank, p := range e.programs {
		e.first = append(e.first, int32(len(e.lanes)))
		begin := moment{}
		if env.Start != nil {
			begin.t = env.Start[rank]
		}
		launched := begin.plus(e.slowed(int32(rank), env.Device.Launch))
		for i := range p.Lanes() {
			cursor, end := p.Walk(i), launched
			if cursor.Done() {
				end = begin // there is nothing to be launched
			}
			e.lanes = append(e.lanes, lane{cursor: cursor, end: end, rank: int32(rank),
				channel: int32(p.Channel(i)), in: -1, out: -1, got: -1, sends: -1, awaited: -1,
				line: uint64(i) << lineBits})
		}
	}
	e.first = append(e.first, int32(len(e.lanes)))
	e.unfinished = len(e.lanes)
	if env.Device.HasMessage() {
		e.late, e.lag = []unit.Time{}, make([]unit.Time, len(e.lanes))
	}
	e.startStreams()
	if o.Trace {
		e.startRecord()
	}
	if o.Critical {
		e.why = newCauses(e)
	}
	for i := len(e.lanes) - 1; i >= 0; i-- {
		e.wake(int32(i))
	}
	return e
}

// runFIFO serves requests in order until there are none.
func (e *engine) runFIFO() error {
	for {
		if err := e.settle(); err != nil {
			return err
		}
		if e.err != nil || len(e.queue) == 0 {
			return e.err
		}
		e.serve(e.queue.pop())
	}
}

// finished is the result of a run that has come to its end.
func (e *engine) finished() *Result {
	r := e.result
	r.LaneEnd = make([]unit.Time, len(e.lanes))
	for i := range e.lanes {
		r.LaneEnd[i] = e.lanes[i].end.t
		r.Time = max(r.Time, r.LaneEnd[i])
	}
	r.LinkBusy, r.LinkLoad = make([]unit.Time, len(e.links)), make([]unit.Bytes, len(e.links))
	for i := range e.links {
		l := &e.links[i]
		if e.env.Sharing == Fluid {
			l.busy = l.load.Over(l.bandwidth)
		}
		r.LinkBusy[i], r.LinkLoad[i] = l.busy, l.load
		r.LinkBytes += l.load
	}
	if e.trace != nil {
		e.endRecord(r.Time)
		r.Trace = e.trace
	}
	if e.why != nil {
		r.Critical = e.critical(r.Time)
	}
	return r
}

// tooLate is a step that ends beyond the end of time.
func (e *engine) tooLate(i int32) {
	l := &e.lanes[i]
	if e.err == nil {
		e.err = fmt.Errorf("sim: rank %d lane %d step %d does not end within %d days; time is counted "+
			"no further", l.rank, i-e.first[l.rank], l.cursor.Step, unit.Forever/(86400*unit.Second))
	}
}

// unreceived reports a message that nobody has received.
func (e *engine) unreceived() error {
	for i := range e.conns {
		c, held := &e.conns[i], 0
		for m := c.head; m >= 0; m = e.messages[m].next {
			held++
		}
		if held > 0 {
			src, dst := &e.lanes[c.src], &e.lanes[c.dst]
			return &schedule.Violation{Kind: schedule.Unmatched, Rank: int(src.rank),
				Lane: int(c.src - e.first[src.rank]), Step: -1, Chunk: -1,
				Text: fmt.Sprintf("%d messages to rank %d lane %d are never received", held, dst.rank,
					c.dst-e.first[dst.rank])}
		}
	}
	return nil
}
