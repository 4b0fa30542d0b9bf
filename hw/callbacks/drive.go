package callbacks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"collsim/hw"
	"collsim/schedule"
	"collsim/unit"
)

// A lane is a lane with its current callback.
type lane struct {
	program     *schedule.Program
	cursor      schedule.Cursor
	rank, index int
	slices      int32
	ran         int                   // number of callbacks run
	posts       int32                 // events of this iteration
	awaited     []*lane               // lanes that wait for the next of them
	last        unit.Time             // end of its last callback
	struck      map[int]bool          // faults that have passed
	sent, got   map[hw.Connection]int // messages so far

	stamps    []hw.Stamp
	outs, ins []hw.Messages
}

// A message is in flight.
type message struct {
	key  Key
	data []byte
	dest *landing
}

// A landing is the destination of a put's bytes. Puts of one lane to one peer land in order.
// Packets are ordered only among themselves: they are stores of the lane's own threads.
type landing struct {
	at     [][]byte
	packet bool
}

// drive runs callbacks and delivers messages until none is left.
func (r *run) drive() error {
	for number, one := range r.ranks {
		if len(one.lanes) == 0 {
			r.start[number], r.end[number] = r.now(), r.now()
			r.ends(number)
		}
	}
	for len(r.ready) > 0 || len(r.inFlight) > 0 || len(r.paused) > 0 {
		if err := context.Cause(r.ctx); err != nil {
			return err
		}
		switch {
		case len(r.ready) > 0:
			if err := r.advance(r.turn()); err != nil {
				return err
			}
		case len(r.inFlight) > 0:
			r.deliver()
		default:
			r.ready, r.paused = r.paused, nil
		}
	}
	if r.died != nil {
		return r.died
	}
	return r.stuck()
}

// turn takes a lane of those whose callback may run.
func (r *run) turn() *lane {
	i := 0
	if r.config.Turn != nil {
		i = r.config.Turn(len(r.ready))
	}
	l := r.ready[i]
	r.ready = slices.Delete(r.ready, i, i+1)
	return l
}

// struck reports whether a fault keeps a lane from its next callback: for ever, or until nothing
// else is left to do.
func (r *run) struck(l *lane) bool {
	for i := range r.env.Faults {
		f := &r.env.Faults[i]
		if !f.Strikes(l.rank, l.index, int32(l.ran)) {
			continue
		}
		switch {
		case f.Does == hw.Late && !l.struck[i]:
			l.struck[i] = true
			r.paused = append(r.paused, l)
			return true
		case f.Does == hw.Dies:
			if r.died == nil {
				r.died = f.Died(l.index, int(l.cursor.Step))
			}
			return true
		case f.Does == hw.Stops:
			return true
		}
	}
	return false
}

// stuck returns the error of a run that cannot go on, or that leaves messages unreceived. It
// returns nil if all lanes have ended.
func (r *run) stuck() error {
	var waits []schedule.Waiting
	for _, l := range r.lanes {
		if l.cursor.Done() {
			continue
		}
		l.program.Load(&l.cursor, &r.step)
		w := schedule.Waiting{Rank: l.rank, Lane: l.index, Step: int(l.cursor.Step),
			Name: r.step.Name(), Chunk: r.step.Chunk()}
		if w.For, w.OnRank, w.OnLane = r.lacks(l); w.For == nothing {
			w.For = hw.HasStopped
		}
		waits = append(waits, w)
	}
	if len(waits) > 0 {
		e := hw.Stalled(waits, 0, r.slots(r.lanes[0], schedule.FIFO))
		e.Code = "stall"
		e.Text = strings.Replace(e.Text, "no progress for 0s", "no message is on its way", 1)
		return e
	}
	return r.unreceived()
}

// unreceived reports the unreceived messages of the first connection that has some.
func (r *run) unreceived() error {
	var first *hw.Connection
	for c, n := range r.held {
		if n > 0 && (first == nil || compare(c, *first) < 0) {
			first = &c
		}
	}
	if first == nil {
		return nil
	}
	return &hw.Error{Call: "step", Code: "malformed", Rank: int(first.From),
		Lane: int(first.FromLane), Step: -1, Text: fmt.Sprintf("%d messages to rank %d lane %d are "+
			"never received", r.held[*first], first.To, first.ToLane)}
}

// compare orders connections.
func compare(a, b hw.Connection) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.FromLane, b.FromLane),
		cmp.Compare(a.To, b.To), cmp.Compare(a.ToLane, b.ToLane), cmp.Compare(a.Class, b.Class),
		cmp.Compare(a.Tag, b.Tag))
}

// deliver delivers one message. If its lane waits for it, the lane becomes ready; otherwise the
// message is early.
func (r *run) deliver() {
	i := 0
	if r.config.Next != nil {
		i = r.config.Next(len(r.inFlight))
	}
	i = r.before(i)
	m := r.inFlight[i]
	if i == 0 {
		r.inFlight = r.inFlight[1:]
	} else {
		r.inFlight = append(r.inFlight[:i], r.inFlight[i+1:]...)
	}
	if m.dest != nil {
		scatter(m.dest.at, m.data)
		m.data = nil
	}
	r.early[m.key] = m.data
	if l, there := r.waiting[m.key]; there {
		delete(r.waiting, m.key)
		r.ready = append(r.ready, l)
	}
}

// before returns the message that must arrive before the i-th, or i. A put may not overtake an
// earlier put of the same kind from the same lane to the same peer.
func (r *run) before(i int) int {
	m := &r.inFlight[i]
	if m.dest == nil {
		return i
	}
	for j := range r.inFlight[:i] {
		o := &r.inFlight[j]
		a, b := &m.key.Connection, &o.key.Connection
		if o.dest != nil && m.dest.packet == o.dest.packet && a.To == b.To && a.From == b.From &&
			a.FromLane == b.FromLane {
			return j
		}
	}
	return i
}

// advance runs the callbacks of a lane until one is not ready.
func (r *run) advance(l *lane) error {
	if r.start[l.rank] < 0 {
		r.start[l.rank] = r.now()
	}
	if l.ran == 0 {
		l.last = r.now()
	}
	for !l.cursor.Done() {
		l.program.Load(&l.cursor, &r.step)
		if !r.registers(l) || len(r.env.Faults) > 0 && r.struck(l) {
			return nil
		}
		if err := r.callback(l); err != nil {
			return err
		}
		if r.step.Post && l.cursor.Last(l.slices) {
			l.posts++
			r.ready = append(r.ready, l.awaited...)
			l.awaited = l.awaited[:0]
		}
		l.cursor.Next(l.slices)
	}
	one := r.ranks[l.rank]
	if one.left--; one.left > 0 {
		return nil
	}
	if one.round++; one.round < r.env.Iterations {
		r.begin(l.rank)
		return nil
	}
	r.end[l.rank] = r.now()
	r.ends(l.rank)
	return nil
}

// registers reports whether the loaded step may run. If not, it registers the lane under what the
// step lacks.
func (r *run) registers(l *lane) bool {
	switch what, key, other := r.wants(l); what {
	case aMessage:
		r.waiting[key] = l
	case aSlot:
		r.full[key.Connection] = l
	case anEvent:
		poster := r.ranks[l.rank].lanes[other]
		poster.awaited = append(poster.awaited, l)
	default:
		return true
	}
	return false
}

// Dependencies of a callback.
const (
	nothing  = ""
	aMessage = "a message"
	aSlot    = "a slot"
	anEvent  = "an event"
)

// wants returns the first unmet dependency of the loaded step: a message, a slot, or an event of
// another lane.
func (r *run) wants(l *lane) (what string, key Key, other int32) {
	for i := range r.step.From {
		f := &r.step.From[i]
		if f.Kind != schedule.Message {
			continue
		}
		key := r.incoming(l, &f.Peer)
		if _, there := r.early[key]; !there {
			return aMessage, key, 0
		}
	}
	for i := range r.step.Send {
		d := &r.step.Send[i]
		if !d.Message() {
			continue
		}
		c := to(l, &d.Peer)
		if slots := r.slots(l, c.Class); slots > 0 && r.held[c] >= slots {
			return aSlot, Key{Connection: c}, 0
		}
	}
	if l.cursor.Slice() > 0 {
		return nothing, Key{}, 0
	}
	for _, e := range r.step.Await {
		if r.ranks[l.rank].lanes[e.Lane].posts < e.Value {
			return anEvent, Key{}, e.Lane
		}
	}
	return nothing, Key{}, 0
}

// lacks returns the first unmet dependency of the loaded step, and the lane that it depends on.
func (r *run) lacks(l *lane) (what string, rank, lane int) {
	what, key, other := r.wants(l)
	c := &key.Connection
	switch what {
	case aMessage:
		return what, int(c.From), int(c.FromLane)
	case aSlot:
		return what, int(c.To), int(c.ToLane)
	}
	return what, l.rank, int(other)
}

// slots returns how many messages a connection of a class buffers; 0 is any number.
func (r *run) slots(l *lane, class schedule.Class) int {
	switch {
	case class == schedule.Pad:
		return 1
	case class == schedule.Free, class == schedule.Puts:
		return 0
	}
	if n := l.program.Slots(l.index); n > 0 {
		return n
	}
	return r.env.Slots
}

// from returns a lane's connection from a peer.
func from(l *lane, p *schedule.Peer) hw.Connection {
	return hw.Connection{From: p.Rank, FromLane: p.Lane, To: int32(l.rank), ToLane: int32(l.index),
		Class: p.Class, Tag: p.Tag}
}

// to returns a lane's connection to a peer.
func to(l *lane, p *schedule.Peer) hw.Connection {
	return hw.Connection{From: int32(l.rank), FromLane: int32(l.index), To: p.Rank, ToLane: p.Lane,
		Class: p.Class, Tag: p.Tag}
}

// key returns the key of a message of the current instance.
func (r *run) key(c hw.Connection, number int) Key {
	return Key{Collective: r.config.Name, Instance: *r.instance, Connection: c, Number: number}
}

// incoming returns the key of the next message from a peer.
func (r *run) incoming(l *lane, p *schedule.Peer) Key {
	c := from(l, p)
	return r.key(c, l.got[c])
}
