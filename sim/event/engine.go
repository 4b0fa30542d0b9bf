package event

import (
	"errors"
	"fmt"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// Run simulates a schedule in an environment that has been found valid for it. It writes what
// happens to the log, unless that is nil; the log can then be opened or read. Errors are: a
// *schedule.StallError; a *schedule.Violation, for a message that nobody receives; multimem without
// a switch that does it; a time beyond unit.Forever; and a *model.TooLate.
func Run(s *schedule.Schedule, env *model.Env, log *model.Log) (*model.Totals, error) {
	e := newEngine(s, env)
	if e.findUncontended(); log != nil && !e.watchParts(log) {
		e.startLog(log)
	}
	err := e.run()
	var late *model.TooLate
	isFound := err != nil && !errors.As(err, &late)
	if isFound && e.links.isAhead() { // it names what is found first: of all there is, the earliest
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
	log.Later(func() model.Records { return newReader(e, log) })
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
	if log != nil && !e.watchParts(log) {
		e.startLog(log)
	}
	if err := e.run(); err != nil {
		return nil, nil, err
	}
	if err := e.writeLog(log); err != nil {
		return nil, nil, err
	}
	rest := &Rest{Ends: make([]model.Moment, s.Spec.Ranks), Hosts: e.gpu.hosts(), At: e.now}
	for rank := range rest.Ends {
		rest.Ends[rank] = e.rules.Begin(int32(rank), false)
	}
	for i := range e.lanes.len() {
		l := e.lanes.at(i)
		rest.Ends[l.rank] = model.Later(rest.Ends[l.rank], l.end)
	}
	for i := range e.links.len() {
		rest.At = max(rest.At, e.links.at(i).free)
	}
	return e.finished(), rest, nil
}

// job describes what a run simulates. Nothing of it changes but the routes that the network has
// found.
type job struct {
	rules    model.Rules
	network  model.Network
	programs []*schedule.Program
	first    []int32 // lane of each rank among all, and their number
	isFluid  bool
}

func newJob(s *schedule.Schedule, env *model.Env) job {
	j := job{rules: model.NewRules(s, env), isFluid: env.Sharing == model.Fluid}
	if env.Orbits != nil {
		j.network = model.NewFoldedNetwork(env.Graph, env.Orbits)
	} else {
		j.network = model.NewNetwork(env.Graph)
	}
	if j.rules.HasMemory() {
		j.network.AddMemory(s.Spec.Ranks, env.Device.GPU.Memory(), j.isFluid)
	}
	lanes := int32(0)
	for rank := range s.Spec.Ranks {
		j.programs, j.first = append(j.programs, s.Program(rank)), append(j.first, lanes)
		lanes += int32(j.programs[rank].Lanes())
	}
	j.first = append(j.first, lanes)
	return j
}

// engine has the lanes of all ranks carry their steps out. Below it are layers, each with a state
// of its own; they hold flat arrays, whose elements are named by their indices and used again when
// they are over.
type engine struct {
	job
	totals   model.Totals
	observer func(what happening, i, j int32, at unit.Time) // who watches; nil: nobody
	err      error                                          // found where no error can be returned
	now      unit.Time                                      // the present instant
	turns    int                                            // since Env.Progress was called

	lanes   lanes
	step    schedule.Step // that a lane is at
	moved   unit.Bytes    // n of e.step
	isSized bool          // whether its regions say so
	plain   bool          // all that e.step sends are messages and no more

	conns connections
	links links // packets, under FIFO
	flows flows // under fluid sharing, and over memories
	log   writer

	faults     faults     // on ranks
	repeats    repeater   // of steps that loops carry out again
	ahead      ahead      // what lanes have sent that has not left
	rendezvous rendezvous // of messages that are asked for
	branches   branches   // of messages of multimem
	gpu        *gpus      // nil: the device has no GPU model
	row        *row       // nil: every rank carries the schedule out once
	period     period
}

func newEngine(s *schedule.Schedule, env *model.Env) *engine {
	e := &engine{job: newJob(s, env)}
	e.lanes = newLanes(&e.job)
	e.faults = newFaults(e)
	e.links = newLinks(&e.network, e.isFluid)
	e.conns = newConnections(&e.rules, int(e.lanes.len()))
	e.ahead, e.rendezvous, e.branches = newAhead(e), newRendezvous(e), branches{e: e}
	if e.rules.HasGPU() {
		e.gpu = newGPUs(e)
	}
	if e.isFluid || e.rules.HasMemory() {
		e.flows = flows{Drain: model.NewDrain(&e.network), least: int(e.lanes.len())}
	}
	e.repeats, e.period = newRepeater(e), period{e: e}
	return e
}

// isEmpty reports whether a lane at whose beginning a cursor is has no step of its own.
func isEmpty(c schedule.Cursor) bool {
	if !c.Edge() {
		return c.Done()
	}
	c.Next(1)
	return c.Edge()
}

// finished sums up a run that has come to its end.
func (e *engine) finished() *model.Totals {
	r := &e.totals
	r.LaneEnd = make([]unit.Time, e.lanes.len())
	for i := range e.lanes.len() {
		r.LaneEnd[i] = e.lanes.at(i).end.T
		r.Time = max(r.Time, r.LaneEnd[i])
	}
	wires := e.network.Wires
	r.LinkBusy, r.LinkLoad = make([]unit.Time, wires), make([]unit.Bytes, wires)
	for i := range wires {
		l := e.links.at(i)
		if e.isFluid {
			l.busy = l.load.Over(l.Bandwidth)
		}
		r.LinkBusy[i], r.LinkLoad[i] = l.busy, l.load
		r.LinkBytes += l.load
	}
	r.Struck = e.faults.hit()
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
	l := e.lanes.at(i)
	return fmt.Sprintf("rank %d lane %d step %d", l.rank, i-e.first[l.rank], l.cursor.Step)
}

// unreceived reports messages that nobody has received, of the connection that the untimed executor
// names: the first that has any, by lanes, class and tag.
func (e *engine) unreceived() error {
	var held *connection
	for i := range e.conns.len() {
		if c := e.conns.at(i); c.queue.First >= 0 && (held == nil || c.before(held)) {
			held = c
		}
	}
	if held == nil {
		return nil
	}
	n := 0
	for m := held.queue.First; m >= 0; m = e.conns.next(m) {
		n++
	}
	src, dst := e.lanes.at(held.src), e.lanes.at(held.dst)
	v := &schedule.Violation{Kind: schedule.Unmatched, Rank: int(src.rank),
		Lane: int(held.src - e.first[src.rank]), Step: -1, Chunk: -1}
	return v.Say("%d messages to %v are never received", n, schedule.At{
		Rank: int(dst.rank), Lane: int(held.dst - e.first[dst.rank]), Step: -1})
}
