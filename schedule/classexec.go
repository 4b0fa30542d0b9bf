package schedule

// ExecuteClasses executes one part of one rank for each class. A representative receives what the
// class of its peer has sent. If peers of the class's members are of several classes, hooks.Also
// reports what the others have sent. Visits have the class in Rank, and the peers of the
// representative's rank in Peer.Rank. Handles are not reused, and Finished is not called. Counts
// are of all ranks. A deadlock is a *StallError that names one lane. A message that is never
// received is a *Violation that does not name it.
//
// REQUIRES: FIFO messages and local work only, one iteration, no rendezvous.
func ExecuteClasses(c *Classes, slots int, hooks Hooks) (Counts, error) {
	x := &classExecutor{c: c, slots: slots, hooks: hooks, wires: map[wireOf]*wireState{}}
	for class := range int32(c.Len()) {
		p, part := c.program(c.role[c.Rank(class)]), c.part(class)
		x.programs = append(x.programs, p)
		for lane := range p.Lanes() {
			x.lanes = append(x.lanes, classLane{cursor: p.Walk(lane), class: class,
				lane: int32(lane), index: int32(len(x.lanes)), first: int32(len(x.lanes) - lane),
				isOther: c.parts[lane] != part})
		}
	}
	if err := x.run(); err != nil {
		return x.counts, err
	}
	for _, l := range x.lanes {
		if !l.isOther && !l.cursor.Done() {
			return x.counts, &StallError{Waits: []Waiting{{Rank: int(c.Rank(l.class)),
				Lane: int(l.lane), Step: int(l.cursor.Step)}}, Slots: slots}
		}
	}
	for _, w := range x.outs {
		if w.inFlight() > 0 {
			return x.counts, &Violation{Kind: Unmatched, Lane: -1, Step: -1, Chunk: -1,
				Text: "messages are never received"}
		}
	}
	return x.counts, nil
}

// A wireOf names an end of a connection of a class: from a representative's lane to a lane of a
// peer. place is the peer's order among the part's peers, since its place among all peers of a rank
// may differ between members.
type wireOf struct {
	class, lane, place, far, tag int32
	out                          bool
}

// A wireState is the state of an end: the handles of messages sent, and the number received.
type wireState struct {
	others   []*wireState // ends of members' peers, by class; the first is the representative's
	members  []int32      // members with these peers
	sent     []int32
	received int
}

// hasCome reports whether the next message has arrived for all members.
func (w *wireState) hasCome() bool {
	for _, other := range w.others {
		if w.received >= len(other.sent) {
			return false
		}
	}
	return true
}

// inFlight returns how many messages some peer has not received yet.
func (w *wireState) inFlight() (most int) {
	for _, other := range w.others {
		most = max(most, len(w.sent)-other.received)
	}
	return most
}

// classLane is the state of a lane of a representative.
type classLane struct {
	cursor             Cursor
	class, lane, index int32
	first              int32 // index of the class's first lane
	posts              int32
	isOther            bool // of a part of the rank that is in another class
}

// classExecutor is the state of ExecuteClasses.
type classExecutor struct {
	c        *Classes
	slots    int
	hooks    Hooks
	programs []*Program
	lanes    []classLane
	wires    map[wireOf]*wireState
	outs     []*wireState
	step     Step
	visit    Visit
	in, out  []*wireState
	handles  int32
	counts   Counts
}

// run advances every lane as far as possible, repeatedly, until none can advance.
func (x *classExecutor) run() error {
	for moved := true; moved; {
		moved = false
		for i := range x.lanes {
			l := &x.lanes[i]
			for !l.isOther && !l.cursor.Done() && x.ready(l) {
				moved = true
				if err := x.perform(l); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// end returns the state of an end of a connection, linked with its opposite ends.
func (x *classExecutor) end(l *classLane, p *Peer, out bool) *wireState {
	c := x.c
	place := c.order(c.Rank(l.class), c.part(l.class), p.Rank)
	w := x.state(wireOf{l.class, l.lane, place, p.Lane, p.Tag, out})
	if w.others != nil {
		return w
	}
	for _, e := range c.Edges[l.class][place] {
		member := c.Example(l.class, place, e)
		back := int32(c.Back[c.First[member]+place])
		w.members = append(w.members, member/int32(c.Parts))
		w.others = append(w.others, x.state(wireOf{e.Class, p.Lane, back, l.lane, p.Tag, !out}))
	}
	if out {
		x.outs = append(x.outs, w)
	}
	return w
}

// state returns the state of an end, empty at first.
func (x *classExecutor) state(key wireOf) *wireState {
	w := x.wires[key]
	if w == nil {
		w = &wireState{}
		x.wires[key] = w
	}
	return w
}

// ready reports whether a lane's step can execute. It sets x.in and x.out to the step's
// connections.
func (x *classExecutor) ready(l *classLane) bool {
	s := &x.step
	x.programs[l.class].Load(&l.cursor, s)
	x.in, x.out = x.in[:0], x.out[:0]
	for i := range s.From {
		if s.From[i].Kind != Message {
			x.in = append(x.in, nil)
			continue
		}
		w := x.end(l, &s.From[i].Peer, false)
		if !w.hasCome() {
			return false
		}
		x.in = append(x.in, w)
	}
	for i := range s.Send {
		w := x.end(l, &s.Send[i].Peer, true)
		if x.slots > 0 && w.inFlight() >= x.slots {
			return false
		}
		x.out = append(x.out, w)
	}
	for _, e := range s.Await {
		if l.cursor.Slice() == 0 && x.lanes[l.first+e.Lane].posts < e.Value {
			return false
		}
	}
	return true
}

// perform executes the sub-step in x.step.
func (x *classExecutor) perform(l *classLane) error {
	s, v, n := &x.step, &x.visit, int64(x.c.Size(l.class))
	slices := int32(x.c.s.Slices)
	peers := x.c.ranks.Peers(x.c.Rank(l.class))
	v.Rank, v.Lane, v.Index, v.Step = l.class, l.lane, l.index, s
	v.Channel = int32(x.programs[l.class].Channel(int(l.lane)))
	v.Number, v.Slice, v.Last = l.cursor.Step, l.cursor.Slice(), l.cursor.Last(slices)
	v.In, v.Out = v.In[:0], v.Out[:0]
	sends := x.c.s.sends(s)
	for i, w := range x.out {
		w.sent = append(w.sent, x.handles)
		v.Out = append(v.Out, x.handles)
		x.handles++
		x.counts.Messages += n
		x.counts.InFlight = max(x.counts.InFlight, w.inFlight())
		s.Send[i].Peer.Rank = peers[s.Send[i].Peer.Rank]
	}
	for i, w := range x.in {
		if w == nil {
			v.In = append(v.In, -1)
			continue
		}
		v.In = append(v.In, w.others[0].sent[w.received])
		w.received++
		s.From[i].Peer.Rank = peers[s.From[i].Peer.Rank]
	}
	x.counts.Steps += n
	if sends {
		x.counts.Rounds = max(x.counts.Rounds, int(s.Round)+1)
	}
	if err := x.callHooks(v); err != nil {
		return err
	}
	if s.Post && v.Last {
		l.posts++
	}
	l.cursor.Next(slices)
	return nil
}

// callHooks calls Also for each member whose i-th operand differs from the representative's, since
// its peer is of another class. Then it calls Step.
func (x *classExecutor) callHooks(v *Visit) error {
	for i, w := range x.in {
		if w == nil || x.hooks.Also == nil {
			continue
		}
		for j := 1; j < len(w.others); j++ {
			if err := x.hooks.Also(v, i, w.members[j], w.others[j].sent[w.received-1]); err != nil {
				return err
			}
		}
	}
	if x.hooks.Step != nil {
		return x.hooks.Step(v)
	}
	return nil
}
