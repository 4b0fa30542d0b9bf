package proof

import "collsim/schedule"

// An access (elements of a memory, read or write) lasts from its step's start to its end; a get's
// on both sides; a put touches its target until the wait that observes it, and its origin until the
// next flush. Order comes from lane order, from a post to its wait, from the end of a send to the
// receive that it matches, in rendezvous back again, from nothing else. Two accesses that overlap,
// one of them writing, and have no order are a race.
//
// Every rank has a caller, who counts as a lane: before each call it writes the input, after each
// it reads the output. A relaxed signal tells no more than that its rank has begun the call: a
// launch completes what was before it, but the lane's own stores may be on their way (MSCCL++,
// include/mscclpp/semaphore_device.hpp: "Use it only for synchronizing execution, not data").
//
// First, while values are computed, each cell remembers whether several lanes have met in it. Only
// where they have, a second walk keeps clocks: what each lane knows of the others' accesses.

// access is how a cell is touched.
type access uint8

const (
	reading access = 1 << iota
	writing
	afar    // by a lane of another rank
	lasting // beyond the step: the origin of a put
	landing // beyond the step: the target of a put with a message
)

// access notes a lane's access, and taints the memory where lanes have met, one writing.
func (v *verifier) access(m *store, s schedule.Span, where memory, lane int32, how access) {
	first, last := m.cover(s)
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
			where.home, _ = v.s.Home(where.home, where.rank)
			v.tainted[where] = true
		}
	}
}

// callers taints what the callers of the ranks share with other ranks, or with puts that are not
// flushed: in every call the caller of a rank writes the input before the lanes begin, and reads
// the output after all of them have ended.
func (v *verifier) callers() {
	for rank := range v.s.Spec.Ranks {
		for _, b := range []schedule.Buffer{schedule.Input, schedule.Output} {
			n := v.s.Len(b, rank)
			if n == 0 {
				continue
			}
			m, base := v.memory.of(b, rank)
			first, last := m.cover(schedule.Span{Off: base, Len: n})
			for i := first; i < last; i++ {
				flags := m.cells[i].flags
				open := flags&cellOpen != 0 && b == schedule.Input && v.iterations > 1
				if open || flags&cellRemote != 0 && (b == schedule.Input || flags&cellWritten != 0) {
					home, _ := v.s.Home(b, rank)
					v.tainted[memory{rank, home}] = true
					break
				}
			}
		}
	}
}

// racer is the walk that keeps clocks.
type racer struct {
	*verifier
	first    []int32 // lane of each rank among all, and their number
	clocks   []clock // of each lane
	position []int32 // twice the sub-steps that each lane has begun
	touched  []int32 // position of its last access to a tainted memory
	posts    [][]clock
	base     []int32 // posts of each lane when its iteration began
	sent     []clock // of messages, by handle
	puts     []putState
	putOf    []int32   // of messages, by handle: index in puts plus 1
	open     [][]int32 // puts of each lane since its last flush
	tracks   map[memory][]track
	told     map[[2]int32]bool
	senders  []int32 // of messages, by handle: the lane
	acks     []clock // what each lane has learned from the receives of its last step
	posted   []int32 // position of each lane's last post
	began    []clock // what each rank's caller knew when the present call began
	meeting  int     // of the present sub-step
}

// races walks the schedule once more and reports accesses without order.
func (v *verifier) races(slots int) {
	r := &racer{verifier: v, tracks: map[memory][]track{}, told: map[[2]int32]bool{}}
	for rank := range v.s.Spec.Ranks {
		r.first = append(r.first, int32(len(r.clocks)))
		for range v.s.Program(rank).Lanes() {
			r.clocks = append(r.clocks, nil)
		}
	}
	lanes := len(r.clocks)
	r.first = append(r.first, int32(lanes))
	r.position, r.touched = make([]int32, lanes), make([]int32, lanes)
	r.posts, r.base = make([][]clock, lanes), make([]int32, lanes)
	r.open, r.acks = make([][]int32, lanes), make([]clock, lanes)
	r.posted, r.began = make([]int32, lanes), make([]clock, v.s.Spec.Ranks)
	values := v.found
	v.found = nil
	clear(v.ended)
	r.calls()
	_, err := v.run(slots, schedule.Hooks{Step: r.step, Finished: r.finished})
	if err != nil {
		v.reportError(err)
	}
	if len(v.found) == 0 {
		v.found = values // else they are what one order of the races gave
	}
}

// step orders a sub-step after what it has awaited, and its accesses against all others.
func (r *racer) step(at *schedule.Visit) error {
	lane := at.Index
	r.position[lane] += 2
	r.hear(at)
	put := r.begin(at)
	r.meeting = r.meetings(at)
	r.accesses(at, put)
	now := r.snapshot(lane)
	r.acknowledge(at, now)
	if r.meeting > 0 && r.touched[lane] == r.position[lane] {
		r.touched[lane]++ // what it has read to send
	}
	r.tell(at, put, now)
	if at.Step.Post && at.Last {
		r.posts[lane], r.posted[lane] = append(r.posts[lane], r.snapshot(lane)), r.position[lane]
	}
	return nil
}

// hear has the lane of a sub-step know what its messages and events tell, and lays its puts to rest
// that are observed or flushed.
func (r *racer) hear(at *schedule.Visit) {
	lane := at.Index
	r.clocks[lane], r.acks[lane] = merge(r.clocks[lane], r.acks[lane]), nil
	for _, handle := range at.In {
		if handle < 0 {
			continue
		}
		r.clocks[lane] = merge(r.clocks[lane], r.sent[handle])
		if put := r.putOf[handle]; put > 0 {
			r.puts[put-1].target = known{lane, r.position[lane]}
			r.touched[lane] = r.position[lane]
		}
	}
	if at.Slice == 0 {
		for _, e := range at.Step.Await {
			on := r.first[at.Rank] + e.Lane
			if n := r.base[on] + e.Value; n > 0 {
				r.clocks[lane] = merge(r.clocks[lane], r.posts[on][n-1])
			}
		}
	}
	if at.Step.Flush {
		for _, put := range r.open[lane] {
			r.puts[put].origin = known{lane, r.position[lane]}
			r.touched[lane] = r.position[lane]
		}
		r.open[lane] = r.open[lane][:0]
	}
}

// tell has the messages of a sub-step carry what their lane knew when it had done it; put is its
// first put.
func (r *racer) tell(at *schedule.Visit, put int32, now clock) {
	for i, handle := range at.Out {
		if handle < 0 {
			continue
		}
		for int(handle) >= len(r.sent) {
			r.sent, r.putOf = append(r.sent, nil), append(r.putOf, 0)
			r.senders = append(r.senders, 0)
		}
		d := &at.Step.Send[i]
		r.sent[handle], r.putOf[handle], r.senders[handle] = now, 0, at.Index
		if r.meeting == 1 && d.Peer.Class == schedule.FIFO { // its receive is the end of the step
			r.sent[handle] = r.snapshot(at.Index)
		}
		if d.Relaxed {
			r.sent[handle] = r.began[at.Rank]
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
		r.acks[sender] = merge(r.acks[sender], now)
		if n := len(r.posts[sender]); n > 0 && r.posted[sender] == r.position[sender] {
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
			state.origin = known{at.Index, r.position[at.Index]}
		}
		r.puts = append(r.puts, state)
	}
	return first
}

// snapshot is what others know who know what a lane has done so far.
func (r *racer) snapshot(lane int32) clock {
	if r.touched[lane] > 0 {
		r.clocks[lane] = merge(r.clocks[lane], clock{{lane, r.touched[lane]}})
	}
	return r.clocks[lane]
}

// caller is the position of a rank's caller, who counts as one lane more.
func (r *racer) caller(rank int, at int32) known {
	return known{r.first[len(r.first)-1] + int32(rank), at}
}

// calls has the caller of every rank write the input of the first call, before its lanes begin.
func (r *racer) calls() {
	for rank := range r.s.Spec.Ranks {
		if home, _ := r.s.Home(schedule.Input, rank); r.tainted[memory{rank, home}] {
			r.touches(rank, schedule.Input, r.caller(rank, 1), nil)
			r.begins(rank, clock{r.caller(rank, 1)})
		}
	}
}

// touches is what the caller of a rank does to a buffer, knowing that.
func (r *racer) touches(rank int, b schedule.Buffer, caller known, knows clock) {
	home, base := r.s.Home(b, rank)
	if n := r.s.Len(b, rank); n > 0 && r.tainted[memory{rank, home}] {
		now := touch{caller, -1, 0, b == schedule.Input}
		r.span(memory{rank, home}, schedule.Span{Off: base, Len: n}, now, knows)
	}
}

// begins has all lanes of a rank know what its caller knows.
func (r *racer) begins(rank int, caller clock) {
	r.began[rank] = caller
	for lane := r.first[rank]; lane < r.first[rank+1]; lane++ {
		r.clocks[lane] = merge(r.clocks[lane], caller)
	}
}

// finished has the caller of a rank read the output, after all the rank's lanes, and write the
// input of the next call before any begins again.
func (r *racer) finished(rank, iteration int) error {
	r.ended[rank]++
	var all clock
	for lane := r.first[rank]; lane < r.first[rank+1]; lane++ {
		r.clocks[lane], r.acks[lane] = merge(r.clocks[lane], r.acks[lane]), nil
		all = merge(all, r.snapshot(lane))
		r.base[lane] = int32(len(r.posts[lane]))
	}
	caller := r.caller(rank, int32(iteration)+2)
	r.touches(rank, schedule.Output, caller, all)
	if iteration+1 >= r.iterations {
		return nil
	}
	r.touches(rank, schedule.Input, caller, all)
	r.begins(rank, merge(all, clock{caller}))
	return nil
}
