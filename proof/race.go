package proof

import "collsim/schedule"

// An access (elements of a memory, read or write) lasts from its step's start to its end; a get's
// on both sides; a put touches its target until the wait that observes it, and its origin until the
// next flush. Order comes from lane order, from a post to its wait, from the end of a send to the
// receive that it matches, in rendezvous back again, from nothing else. Two accesses that overlap,
// one of them writing, and have no order are a race.
//
// Every rank has a caller, who counts as a lane: before each call it writes the input, after each
// it reads the output; of a program, the tensors that are given and those that are results. A
// relaxed signal tells no more than that its rank has begun the call: a launch completes what was
// before it, but the lane's own stores may be on their way (MSCCL++,
// include/mscclpp/semaphore_device.hpp: "Use it only for synchronizing execution, not data").
//
// First, while values are computed, each cell remembers whether several lanes have met in it. Only
// where they have, a second walk keeps clocks: what each lane knows of the others' accesses.

// access is how a cell is touched.
type accessKind uint8

const (
	reading accessKind = 1 << iota
	writing
	afar    // by a lane of another rank
	lasting // beyond the step: the origin of a put
	landing // beyond the step: the target of a put with a message
)

// access notes a lane's access, and taints the memory where lanes have met, one writing.
func (v *verifier) access(m *store, s schedule.Span, where memory, lane int32, how accessKind) {
	if v.isAlone && !v.keepsApart { // who meets nobody
		return
	}
	first, last := m.cover(s)
	v.accesses += int64(last - first)
	if v.roleCounts != nil { // which looks for races itself
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
			c.flags |= cellShared // its own lane may come before it
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

// racer is the walk that keeps clocks.
type racer struct {
	*verifier
	first      []int32 // lane of each rank among all, and their number
	chain      []int32 // of each lane: lanes of one chain follow one another
	chains     int32
	clocks     []clock // of each lane
	own        []bool  // of each lane: nobody else has its clock, which may change in place
	copied     []bool  // of each lane: a message has carried a copy of its clock as it is
	position   []int32 // twice the sub-steps that the lanes of each chain have begun
	touched    []int32 // position of its last access to a tainted memory
	posts      [][]clock
	base       []int32 // posts of each lane when its iteration began
	sent       []clock // of messages, by handle
	puts       []putState
	putOf      []int32   // of messages, by handle: index in puts plus 1
	open       [][]int32 // puts of each lane since its last flush
	tracks     map[memory][]track
	starts     map[memory][]int64 // of the cells that tracks are of
	reported   map[[2]int32]bool
	senders    []int32 // of messages, by handle: the lane
	acks       []clock // what each lane has learned from the receives of its last step
	posted     []int32 // position of each lane's last post
	began      []clock // what each rank's caller knew when the present call began
	meeting    int     // of the present sub-step
	eventClock eventClock
	lent       []bool  // of messages, by handle: the clock in sent is a copy that nobody else has
	spare      []clock // that nobody has any more
	pairs      []pair  // that race
	asked      []pair  // that another walk has found to race
	withheld   map[int32]withheld
}

// races walks the schedule once more and reports accesses without order; and again where a relaxed
// signal may be why they have none.
func (v *verifier) races(slots int) {
	values := v.found
	r := v.walkRaces(slots, nil)
	if len(r.pairs) > 0 && v.s.AnyStep(relaxes) {
		v.walkRaces(slots, r.pairs)
	}
	if len(v.found) == 0 {
		v.found = values
		return
	}
	v.blames = nil // values are what one order of the races gave; but not what no order allows
	for _, x := range values {
		if v.formulas != nil && x.Kind == schedule.Malformed {
			v.found = append(v.found, x)
		}
	}
}

// walkRaces walks the schedule for accesses without order. Of those that are asked for it tells the
// relaxed signal that would order them.
func (v *verifier) walkRaces(slots int, asked []pair) *racer {
	r := &racer{asked: asked, verifier: v, tracks: map[memory][]track{},
		starts: map[memory][]int64{}, reported: map[[2]int32]bool{}}
	for rank := range v.walked() {
		r.first = append(r.first, int32(len(r.chain)))
		r.addChains(v.s.Program(rank))
	}
	lanes := len(r.chain)
	r.first = append(r.first, int32(lanes))
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

// addChains puts the lanes of a rank into chains: those of the parts on a stream, the first of each
// part, the second, …: a part begins when all lanes of the one before it on its stream have ended.
// So clocks are as long as there are streams, not parts.
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

// step orders a sub-step after what it has awaited, and its accesses against all others.
func (r *racer) step(at *schedule.Visit) error {
	lane, chain := at.Index, r.chain[at.Index]
	r.spend(1+int64(len(r.clocks[lane])/clocksAtOnce), clockBytes*int64(len(r.clocks[lane])))
	if r.exceeds() {
		return errEffort
	}
	r.position[chain] += 2
	r.receive(at)
	put := r.begin(at)
	r.meeting = r.meetings(at)
	r.accesses(at, put)
	now := r.snapshot(lane)
	r.acknowledge(at, now)
	if r.meeting > 0 && r.touched[chain] == r.position[chain] {
		r.touched[chain]++ // what it has read to send
	}
	r.publish(at, put, now)
	if at.Step.Post && at.Last {
		r.posts[lane], r.posted[lane] = append(r.posts[lane], r.snapshot(lane)), r.position[chain]
		r.own[lane] = false
	}
	return nil
}

// hear has the lane of a sub-step know what its messages and events tell, and lays its puts to rest
// that are observed or flushed.
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

// tell has the messages of a sub-step carry what their lane knew when it had done it; put is its
// first put.
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
		if r.meeting == 1 && d.Peer.Class == schedule.FIFO { // its receive is the end of the step
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

// meetings is how many messages of a sub-step must be received for it to end: in rendezvous, those
// of class FIFO. Until then its sources are read.
func (r *racer) meetings(at *schedule.Visit) (n int) {
	for i, handle := range at.Out {
		if r.rendezvous && handle >= 0 && at.Step.Send[i].Peer.Class == schedule.FIFO {
			n++
		}
	}
	return n
}

// acknowledge has, in rendezvous, the senders of what a sub-step has received go on after it, and
// what they have posted with it.
func (r *racer) acknowledge(at *schedule.Visit, now clock) {
	for i, handle := range at.In {
		if handle < 0 || !r.rendezvous || at.Step.From[i].Peer.Class != schedule.FIFO {
			continue
		}
		sender := r.senders[handle]
		received := now
		if r.fold != nil { // as the sender sees it
			received = r.translated(now, r.fold.group.Sub(0, at.Step.From[i].Peer.Rank))
		}
		r.acks[sender] = merge(r.acks[sender], received)
		if n := len(r.posts[sender]); n > 0 && r.posted[sender] == r.position[r.chain[sender]] {
			r.posts[sender][n-1] = merge(r.posts[sender][n-1], r.acks[sender])
		}
	}
}

// accesses checks what the sub-step reads and writes; put is its first put, which its origin goes
// with.
func (r *racer) accesses(at *schedule.Visit, put int32) {
	s := at.Step
	for i := range s.From {
		f := &s.From[i]
		if f.Kind == schedule.Message {
			continue
		}
		switch f.Kind {
		case schedule.Local:
			r.region(at, int(at.Rank), &f.Region, false, put)
		case schedule.Get:
			r.region(at, int(f.Peer.Rank), &f.Region, false, put)
		}
		for _, rank := range f.Team {
			r.region(at, int(rank), &f.Region, false, put)
		}
	}
	for i := range s.To {
		if !ontoItself(r.s, at, &s.To[i]) {
			r.region(at, int(at.Rank), &s.To[i], true, 0)
		}
	}
	for i := range s.Send {
		d := &s.Send[i]
		switch {
		case d.Put && d.Message():
			r.region(at, int(d.Peer.Rank), &d.Region, true, put)
			put++
		case d.Put && d.Team == nil:
			r.region(at, int(d.Peer.Rank), &d.Region, true, 0)
		}
		for _, rank := range d.Team {
			r.region(at, int(rank), &d.Region, true, 0)
		}
	}
}

// begin makes a state of every put of a sub-step and returns the number of the first plus 1, 0 if
// there is none.
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

// snapshot is what others know who know what a lane has done so far.
func (r *racer) snapshot(lane int32) clock {
	own := known{r.chain[lane], r.touched[r.chain[lane]]}
	if own.at > 0 && !r.clocks[lane].knows(own) {
		if r.copied[lane] = false; r.own[lane] {
			r.clocks[lane] = r.clocks[lane].raise(own)
		} else {
			r.learn(lane, clock{own})
		}
	}
	if r.rendezvous { // what is told may yet go to acks and posts
		r.own[lane] = false
	}
	return r.clocks[lane]
}
