package proof

import "collsim/schedule"

// An access (elements of a memory, read or written) lasts from the start of its step to the end. A
// get lasts so on both sides. A put occupies its target until the wait that observes it, and its
// origin until the next flush. Accesses are ordered by lane order, from a post to its wait, and
// from the end of a send to the matching receive. In rendezvous, a receive also precedes what
// follows its send. Nothing else orders them. Two accesses race if they overlap, one of them
// writes, and they are unordered.
//
// Every rank has a caller, which counts as a lane. It writes the input before each call and reads
// the output after it; of a program, the given tensors and the results. A relaxed signal only says
// that its rank has begun the call. A launch completes what was before it, but the lane's own
// stores may still be on their way. (MSCCL++, include/mscclpp/semaphore_device.hpp: "Use it only
// for synchronizing execution, not data".)
//
// While values are computed, each cell records whether several lanes have accessed it. Only where
// they have, a second walk keeps vector clocks: the accesses of others that each lane knows of.

// An accessKind is a set of flags that describe an access.
type accessKind uint8

const (
	reading accessKind = 1 << iota
	writing
	afar    // by a lane of another rank
	lasting // continues after the step: the origin of a put
	landing // continues after the step: the target of a put with a message
)

// access records a lane's access to cells. It taints the memory where several lanes have met and
// one writes.
func (v *verifier) access(m *store, s schedule.Span, where memory, lane int32, how accessKind) {
	if v.isAlone && !v.keepsApart { // a single lane meets nobody
		return
	}
	first, last := m.cover(s)
	v.accesses += int64(last - first)
	if v.roleCounts != nil { // roleCounts checks races itself
		if how&writing == 0 {
			v.roleCounts.read(m, where, first, last, lane)
		}
		return
	}
	for i := first; i < last; i++ {
		c := &m.cells[i]
		switch {
		case c.lane == 0:
			c.lane = lane + 1
		case c.lane != lane+1:
			c.flags |= cellShared
		}
		if c.flags&cellLanding != 0 {
			c.flags |= cellShared // the target's own lane may come before the put
		}
		if how&writing != 0 {
			c.flags |= cellWritten
			if c.flags&cellOpen != 0 {
				c.flags |= cellShared
			}
		}
		if how&afar != 0 {
			c.flags |= cellRemote
		}
		if how&lasting != 0 {
			c.flags |= cellOpen
		}
		if how&landing != 0 {
			c.flags |= cellLanding
		}
		if c.flags&(cellWritten|cellShared) == cellWritten|cellShared {
			v.tainted[where] = true
		}
	}
	m.join(first, last)
}

// racer is the walk that keeps vector clocks.
type racer struct {
	*verifier
	first      []int32 // index of each rank's first lane among all lanes; then their number
	chain      []int32 // of each lane; lanes of a chain run one after another
	chains     int32
	clocks     []clock // of each lane
	own        []bool  // of each lane: its clock is not shared and may change in place
	copied     []bool  // of each lane: a message has a copy of its present clock
	position   []int32 // of each chain: twice the sub-steps that its lanes have begun
	touched    []int32 // of each chain: position of its last access to tainted memory
	posts      [][]clock
	base       []int32 // of each lane: number of posts when its iteration began
	sent       []clock // clocks of messages, by handle
	puts       []putState
	putOf      []int32   // of messages, by handle: index in puts plus 1
	open       [][]int32 // puts of each lane since its last flush
	tracks     map[memory][]track
	starts     map[memory][]int64 // starts of the cells that tracks describe
	reported   map[[2]int32]bool
	senders    []int32 // sending lanes of messages, by handle
	acks       []clock // of each lane: clock of the receives that ended its last step
	posted     []int32 // of each lane: position of its last post
	began      []clock // of each rank: clock of its caller when the present call began
	meeting    int     // rendezvous messages of the present sub-step
	eventClock eventClock
	lent       []bool  // of messages, by handle: the clock in sent is an unshared copy
	spare      []clock // unused clocks
	pairs      []pair  // races found
	asked      []pair  // races that an earlier walk has found
	withheld   map[int32]withheld
	near       *near // which entries of clocks are kept; nil keeps all
}

// races walks the schedule once more and reports unordered accesses. It walks again, for the
// explanation, where a relaxed signal may be the reason.
func (v *verifier) races(slots int) {
	values := v.found
	r := v.walkRaces(slots, nil, true)
	if r.near != nil && (len(r.pairs) > 0 || r.near.forgot) && len(r.chain) <= mostWhole {
		r = v.walkRaces(slots, nil, false)
	}
	if len(r.pairs) > 0 && v.s.AnyStep(relaxes) {
		v.walkRaces(slots, r.pairs, r.near != nil)
	}
	if len(v.found) == 0 {
		v.found = values
		return
	}
	// the values come from one order of the races; violations that no order avoids stay
	v.blames = nil
	for _, x := range values {
		if v.formulas != nil && x.Kind == schedule.Malformed {
			v.found = append(v.found, x)
		}
	}
}

// walkRaces walks the schedule for unordered accesses. For those in asked it finds the relaxed
// signal that would order them. Clocks of many lanes may be cut down to near ones.
func (v *verifier) walkRaces(slots int, asked []pair, mayCut bool) *racer {
	r := &racer{asked: asked, verifier: v, tracks: map[memory][]track{},
		starts: map[memory][]int64{}, reported: map[[2]int32]bool{}}
	for rank := range v.walked() {
		r.first = append(r.first, int32(len(r.chain)))
		r.addChains(v.s.Program(rank))
	}
	lanes := len(r.chain)
	r.first = append(r.first, int32(lanes))
	if mayCut && lanes >= nearFrom && v.fold == nil && v.memory.parts == nil {
		r.near = nearOf(v.s, r.first)
	}
	r.clocks, r.own, r.copied = make([]clock, lanes), make([]bool, lanes), make([]bool, lanes)
	r.position, r.touched = make([]int32, r.chains), make([]int32, r.chains)
	r.posts, r.base = make([][]clock, lanes), make([]int32, lanes)
	r.open, r.acks = make([][]int32, lanes), make([]clock, lanes)
	r.posted, r.began = make([]int32, lanes), make([]clock, v.walked())
	v.found = nil
	clear(v.ended)
	r.beginCalls()
	_, err := v.run(slots, false, schedule.Hooks{Step: r.step, Finished: r.finished})
	if err != nil {
		v.reportError(err)
	}
	return r
}

// addChains divides the lanes of a rank into chains. The first lanes of all parts on a stream are
// one chain, the second lanes another, and so on. This is sound since a part begins when all lanes
// of the part before it on its stream have ended. So clocks are as long as the number of streams,
// not of parts.
func (r *racer) addChains(p *schedule.Program) {
	chains := map[[2]int]int32{}
	part, index := -1, 0
	for lane := range p.Lanes() {
		if p.Part(lane) != part {
			part, index = p.Part(lane), 0
		}
		key := [2]int{p.Stream(lane), index}
		if _, known := chains[key]; !known {
			chains[key] = r.chains
			r.chains++
		}
		r.chain = append(r.chain, chains[key])
		index++
	}
}

// step orders a sub-step after what it has awaited, checks its accesses, and attaches clocks to
// what it sends and posts.
func (r *racer) step(at *schedule.Visit) error {
	lane, chain := at.Index, r.chain[at.Index]
	r.spend(1+int64(len(r.clocks[lane])/clocksAtOnce), clockBytes*int64(len(r.clocks[lane])))
	if r.exceeds() {
		return errEffort
	}
	r.position[chain] += 2
	r.receive(at)
	if r.near != nil {
		r.meet(lane)
	}
	put := r.begin(at)
	r.meeting = r.meetings(at)
	r.accesses(at, put)
	now := r.snapshot(lane)
	r.acknowledge(at, now)
	if r.meeting > 0 && r.touched[chain] == r.position[chain] {
		r.touched[chain]++ // the end of the reads for its sends
	}
	r.publish(at, put, now)
	if at.Step.Post && at.Last {
		r.posts[lane], r.posted[lane] = append(r.posts[lane], r.snapshot(lane)), r.position[chain]
		r.own[lane] = false
		if r.near != nil && len(r.near.heard[lane]) == 0 {
			r.posts[lane][len(r.posts[lane])-1] = nil
		}
	}
	return nil
}

// receive merges the clocks of the messages and events of a sub-step into its lane's clock. It ends
// the puts that the sub-step observes or flushes.
func (r *racer) receive(at *schedule.Visit) {
	lane, chain := at.Index, r.chain[at.Index]
	if len(r.acks[lane]) > 0 {
		r.learn(lane, r.acks[lane])
		r.acks[lane] = nil
	}
	for i, handle := range at.In {
		if handle < 0 {
			continue
		}
		r.receiveWithheld(at, i, handle)
		sent := r.sent[handle]
		r.learn(lane, r.translated(sent, at.Step.From[i].Peer.Rank))
		if r.lent[handle] {
			r.lent[handle], r.sent[handle] = false, nil
			if r.clocks[lane].is(sent) {
				r.own[lane] = true
			} else {
				r.drop(sent)
			}
		}
		if put := r.putOf[handle]; put > 0 {
			r.puts[put-1].target = known{chain, r.position[chain]}
			r.touched[chain] = r.position[chain]
		}
	}
	if at.Slice == 0 {
		r.await(at)
	}
	if at.Step.Flush {
		for _, put := range r.open[lane] {
			r.puts[put].origin = known{chain, r.position[chain]}
			r.touched[chain] = r.position[chain]
		}
		r.open[lane] = r.open[lane][:0]
	}
}

// publish attaches the lane's clock at the end of a sub-step to the messages that the sub-step
// sends. put is its first put, numbered as by begin, and the next puts follow. putOf keeps the put
// of each message, since receiving the message ends the put's writes.
func (r *racer) publish(at *schedule.Visit, put int32, now clock) {
	for i, handle := range at.Out {
		if handle < 0 {
			continue
		}
		for int(handle) >= len(r.sent) {
			r.sent, r.putOf = append(r.sent, nil), append(r.putOf, 0)
			r.senders, r.lent = append(r.senders, 0), append(r.lent, false)
		}
		d := &at.Step.Send[i]
		r.sent[handle], r.lent[handle] = now, false
		r.putOf[handle], r.senders[handle] = 0, at.Index
		if r.meeting == 1 && d.Peer.Class == schedule.FIFO { // the receive ends the step
			r.sent[handle] = r.snapshot(at.Index)
		}
		if d.Relaxed {
			r.sent[handle] = r.began[at.Rank]
			r.keepWithheld(at, handle, now)
		} else if r.own[at.Index] {
			r.lend(handle, at.Index)
		}
		if d.Put && d.Message() {
			r.putOf[handle] = put
			put++
		}
	}
}

// meetings returns how many messages of a sub-step must be received for it to end: in rendezvous,
// those of class FIFO. Its sources are read until then.
func (r *racer) meetings(at *schedule.Visit) (n int) {
	for i, handle := range at.Out {
		if r.rendezvous && handle >= 0 && at.Step.Send[i].Peer.Class == schedule.FIFO {
			n++
		}
	}
	return n
}

// acknowledge applies the receives of a sub-step to their senders, in rendezvous. What a sender
// does after its step is ordered behind the receive, and so are the posts of that step.
func (r *racer) acknowledge(at *schedule.Visit, now clock) {
	for i, handle := range at.In {
		if handle < 0 || !r.rendezvous || at.Step.From[i].Peer.Class != schedule.FIFO {
			continue
		}
		sender := r.senders[handle]
		received := now
		if r.fold != nil { // in the sender's terms
			received = r.translated(now, r.fold.group.Sub(0, at.Step.From[i].Peer.Rank))
		}
		r.acks[sender] = merge(r.acks[sender], received)
		if n := len(r.posts[sender]); n > 0 && r.posted[sender] == r.position[r.chain[sender]] {
			r.posts[sender][n-1] = merge(r.posts[sender][n-1], r.acks[sender])
		}
	}
}

// accesses checks all accesses of a sub-step for races. put is its first put, numbered as by begin.
// Reads of its sources last until that put is flushed, and the put's writes until its message is
// received. Other writes have put 0. A copy onto itself writes nothing.
func (r *racer) accesses(at *schedule.Visit, put int32) {
	const read, write = false, true
	s := at.Step
	for i := range s.From {
		f := &s.From[i]
		if f.Kind == schedule.Message {
			continue
		}
		switch f.Kind {
		case schedule.Local:
			r.region(at, int(at.Rank), &f.Region, read, put)
		case schedule.Get:
			r.region(at, int(f.Peer.Rank), &f.Region, read, put)
		}
		for _, rank := range f.Team {
			r.region(at, int(rank), &f.Region, read, put)
		}
	}
	for i := range s.To {
		if !ontoItself(r.s, at, &s.To[i]) {
			r.region(at, int(at.Rank), &s.To[i], write, 0)
		}
	}
	for i := range s.Send {
		d := &s.Send[i]
		switch {
		case d.Put && d.Message():
			r.region(at, int(d.Peer.Rank), &d.Region, write, put)
			put++
		case d.Put && d.Team == nil:
			r.region(at, int(d.Peer.Rank), &d.Region, write, 0)
		}
		for _, rank := range d.Team {
			r.region(at, int(rank), &d.Region, write, 0)
		}
	}
}

// begin makes the state of each put of a sub-step. It returns the first one's index in puts plus 1,
// and 0 without puts.
func (r *racer) begin(at *schedule.Visit) int32 {
	first := int32(0)
	_, stays := at.Step.Puts()
	for i := range at.Step.Send {
		if d := &at.Step.Send[i]; !d.Put || !d.Message() {
			continue
		}
		put := int32(len(r.puts)) + 1
		if first == 0 {
			first = put
		}
		state := putState{packet: at.Step.Send[i].Packet}
		if stays {
			r.open[at.Index] = append(r.open[at.Index], put-1)
		} else {
			state.origin = known{r.chain[at.Index], r.position[r.chain[at.Index]]}
		}
		r.puts = append(r.puts, state)
	}
	return first
}

// snapshot returns a lane's clock with the lane's own accesses so far.
func (r *racer) snapshot(lane int32) clock {
	own := known{r.chain[lane], r.touched[r.chain[lane]]}
	if own.at > 0 && !r.clocks[lane].knows(own) {
		if r.copied[lane] = false; r.own[lane] {
			r.clocks[lane] = r.clocks[lane].raise(own)
		} else {
			r.learn(lane, clock{own})
		}
	}
	if r.rendezvous { // acks and posts may share the clock
		r.own[lane] = false
	}
	return r.clocks[lane]
}
