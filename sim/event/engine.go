package event

import (
	"fmt"

	"collsim/schedule"
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// Run simulates a schedule in an environment that has been found valid for it. It writes what
// happens to the log, unless that is nil; the log can then be opened or read. Errors are: a
// *schedule.StallError; a *schedule.Violation, for a message that nobody receives; a *CostError,
// for fluid sharing that would take more than a minute; multimem without a switch that does it; and
// a time beyond unit.Forever.
func Run(s *schedule.Schedule, env *model.Env, log *model.Log) (*model.Totals, error) {
	e := newEngine(s, env)
	if e.findSole(); log != nil {
		e.startLog(log)
	}
	err := e.run()
	if err != nil && e.isAhead { // it names what is found first: of all there is, the earliest
		e = newEngine(s, env)
		err = e.run()
	}
	if err != nil {
		return nil, err
	}
	if err := e.writeLog(log); err != nil {
		return nil, err
	}
	return e.finished(), nil
}

// writeLog fills the log, if there is one, from the compact log. It is an error if there is too
// much on it.
func (e *engine) writeLog(log *model.Log) error {
	if !e.log.isOn() {
		return nil
	}
	if e.totals.Steps > mostNumber { // also of those that are only counted
		return errTooLong
	}
	log.Later(func() model.Records { return e.newReader(log) })
	return nil
}

// Rest describes the machine after a run.
type Rest struct {
	Ends  []model.Moment // the latest of each rank's lanes
	Hosts []unit.Time    // when each rank's host had issued its last bracket; nil without a GPU
	At    unit.Time      // no link and no device has anything to do any more
}

// RunOn simulates as Run does, strictly in order of time, and also returns the state in which the
// run leaves the machine.
func RunOn(s *schedule.Schedule, env *model.Env, log *model.Log) (*model.Totals, *Rest, error) {
	e := newEngine(s, env)
	if log != nil {
		e.startLog(log)
	}
	if err := e.run(); err != nil {
		return nil, nil, err
	}
	if err := e.writeLog(log); err != nil {
		return nil, nil, err
	}
	rest := &Rest{Ends: make([]model.Moment, s.Spec.Ranks), At: e.now}
	for rank := range rest.Ends {
		rest.Ends[rank] = e.rules.Begin(int32(rank), false)
	}
	for i := range e.lanes {
		l := &e.lanes[i]
		rest.Ends[l.rank] = model.Later(rest.Ends[l.rank], l.end)
	}
	for i := range e.links {
		rest.At = max(rest.At, e.links[i].free)
	}
	for i := 0; e.gpu != nil && i < len(e.gpu.ranks); i++ {
		rest.Hosts = append(rest.Hosts, e.gpu.ranks[i].host)
	}
	return e.finished(), rest, nil
}

// engine holds the state of a run, in flat arrays whose elements are named by their indices.
// Elements that are over are used again, so that memory is that of the lanes, the connections and
// what is in flight.
type engine struct {
	rules    model.Rules
	network  model.Network
	totals   model.Totals
	observer func(what happening, i, j int32, at unit.Time) // who watches; nil: nobody
	log      writer
	gpu      *gpus // nil: the device has no GPU model
	row      *row  // nil: every rank carries the schedule out once
	isFluid  bool
	err      error // found where no error can be returned

	programs   []*schedule.Program
	first      []int32 // lane of each rank among all, and their number
	lanes      []lane
	unfinished int     // lanes that have not come to their end
	ready      []int32 // lanes that may be able to go on
	repeats    repeater
	step       schedule.Step
	moved      unit.Bytes // n of e.step
	isSized    bool       // whether its regions say so
	plain      bool       // all that e.step sends are messages and no more

	conns         []connection
	connBy, tagBy flat.Table

	messages    []message
	freeMessage int32
	marks       []mark
	freeMark    int32

	links     []link
	isAhead   bool // some links carry at once what asks for them
	hasPrompt bool // some of them whatever does
	mostAhead int  // messages for which they do
	behind    int  // requests for these in the queue
	branches  branches

	waysBack []int32 // of the routes; −1: not asked yet

	ahead      ahead
	rendezvous rendezvous
	figures

	queue      flat.Heap[unit.Time] // of messages to flow, under fluid sharing
	requests   requests             // of packets, under FIFO
	packets    []packet
	freePacket int32

	fluid
	period period
}

// link is the state of a link.
type link struct {
	model.Link
	busy unit.Time
	load unit.Bytes
	free unit.Time // when it can carry the next message, under FIFO

	isSole   bool  // it is asked in order
	isPrompt bool  // and carries at once whatever asks
	pending  int32 // requests that are in the queue nevertheless
}

func newEngine(s *schedule.Schedule, env *model.Env) *engine {
	e := &engine{rules: model.NewRules(s, env), network: model.NewNetwork(env.Graph),
		connBy: flat.NewTable(), tagBy: flat.NewTable(),
		freeMessage: -1, freeMark: -1, freePacket: -1}
	e.isFluid = env.Sharing == model.Fluid
	if e.rules.HasMemory() {
		e.network.AddMemory(s.Spec.Ranks, env.Device.GPU.Memory(), e.isFluid)
	}
	e.links = make([]link, len(e.network.Links))
	for i := range e.links {
		e.links[i].Link = e.network.Links[i]
	}
	e.requests = newRequests(len(e.links))
	e.newLanes()
	if env.Device.HasMessage() {
		e.late, e.putLatency = []unit.Time{}, make([]unit.Time, len(e.lanes))
	}
	e.ahead, e.rendezvous, e.branches = newAhead(e), newRendezvous(e), branches{e: e}
	e.period.e = e
	if e.rules.HasGPU() {
		e.gpu = newGPUs(e)
	}
	if e.isFluid || e.rules.HasMemory() {
		e.fair = model.NewDrain(&e.network)
	}
	e.repeats = repeater{e: e, isOn: e.keepsSteps()}
	for i := len(e.lanes) - 1; i >= 0; i-- {
		e.wake(int32(i))
	}
	return e
}

// newLanes makes the lanes of all ranks.
func (e *engine) newLanes() {
	s, lanes := e.rules.Schedule, 0
	for rank := range s.Spec.Ranks {
		e.programs = append(e.programs, s.Program(rank))
		lanes += e.programs[rank].Lanes()
	}
	e.lanes, e.ready = make([]lane, 0, lanes), make([]int32, 0, lanes)
	for rank, p := range e.programs {
		e.first = append(e.first, int32(len(e.lanes)))
		for i := range p.Lanes() {
			cursor := p.Walk(i)
			e.lanes = append(e.lanes, lane{cursor: cursor, rank: int32(rank),
				end: e.rules.Begin(int32(rank), !isEmpty(cursor)), channel: int32(p.Channel(i)),
				part: int32(p.Part(i)), slices: int32(p.Slices(i)), slots: e.rules.SlotsOf(p.Slots(i)),
				in: -1, out: -1, sends: -1, waiters: -1,
				step: resolved{place: -1}, key: model.LaneKey(i)})
		}
	}
	e.first = append(e.first, int32(len(e.lanes)))
	e.unfinished = len(e.lanes)
}

// isEmpty reports whether a lane at whose beginning a cursor is has no step of its own.
func isEmpty(c schedule.Cursor) bool {
	if !c.Edge() {
		return c.Done()
	}
	c.Next(1)
	return c.Edge()
}

// run simulates the schedule to its end.
func (e *engine) run() error {
	e.startPeriod()
	loop := e.runFIFO
	switch {
	case e.gpu != nil:
		loop = e.runGPU
	case e.isFluid:
		loop = e.runFluid
	}
	if err := loop(); err != nil {
		return err
	}
	if e.unfinished > 0 {
		return e.stall()
	}
	return e.unreceived()
}

// finished sums up a run that has come to its end.
func (e *engine) finished() *model.Totals {
	r := &e.totals
	r.LaneEnd = make([]unit.Time, len(e.lanes))
	for i := range e.lanes {
		r.LaneEnd[i] = e.lanes[i].end.T
		r.Time = max(r.Time, r.LaneEnd[i])
	}
	wires := e.network.Wires
	r.LinkBusy, r.LinkLoad = make([]unit.Time, wires), make([]unit.Bytes, wires)
	for i := range e.links[:wires] {
		l := &e.links[i]
		if e.isFluid {
			l.busy = l.load.Over(l.Bandwidth)
		}
		r.LinkBusy[i], r.LinkLoad[i] = l.busy, l.load
		r.LinkBytes += l.load
	}
	e.report(runEnds, 0, 0, r.Time)
	return r
}

// tooLate notes the error of a step that ends later than unit.Forever.
func (e *engine) tooLate(i int32) {
	if e.err == nil {
		e.err = fmt.Errorf("%s does not end within %d days; time is counted no further",
			e.place(i), unit.Forever/(86400*unit.Second))
	}
}

// place says where a lane is.
func (e *engine) place(i int32) string {
	l := &e.lanes[i]
	return fmt.Sprintf("rank %d lane %d step %d", l.rank, i-e.first[l.rank], l.cursor.Step)
}

// unreceived reports messages that nobody has received, of the connection that the untimed executor
// names: the first that has any, by lanes, class and tag.
func (e *engine) unreceived() error {
	var held *connection
	for i := range e.conns {
		if c := &e.conns[i]; c.head >= 0 && (held == nil || c.before(held)) {
			held = c
		}
	}
	if held == nil {
		return nil
	}
	n := 0
	for m := held.head; m >= 0; m = e.messages[m].next {
		n++
	}
	src, dst := &e.lanes[held.src], &e.lanes[held.dst]
	v := &schedule.Violation{Kind: schedule.Unmatched, Rank: int(src.rank),
		Lane: int(held.src - e.first[src.rank]), Step: -1, Chunk: -1}
	return v.Say("%d messages to %v are never received", n, schedule.At{
		Rank: int(dst.rank), Lane: int(held.dst - e.first[dst.rank]), Step: -1})
}
