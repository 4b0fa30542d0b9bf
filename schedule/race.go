package schedule

// An access (elements of a memory, read or write) lasts from its step's start to its end; a get's
// on both sides; a put touches its target until the wait that observes it, and its origin until the
// next flush. Order comes from lane order, from a post to its wait, from the end of a send to the
// receive that it matches, in rendezvous back again, from nothing else. Two accesses that overlap,
// one of them writing, and have no order are a race.
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
)

// access notes a lane's access, and taints the memory where lanes have met, one writing.
func (v *verifier) access(m *store, s Span, where memory, lane int32, how access) {
	first, last := m.cover(s)
	for i := first; i < last; i++ {
		c := &m.cells[i]
		switch {
		case c.lane == 0:
			c.lane = lane + 1
		case c.lane != lane+1:
			c.flags |= cellShared
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
		if c.flags&(cellWritten|cellShared) == cellWritten|cellShared {
			where.home, _ = v.s.Home(where.home, where.rank)
			v.tainted[where] = true
		}
	}
}

// callerAccess taints what the caller of a rank, who reads the output and writes the input
// between two iterations, shares with other ranks or with puts that are not flushed.
func (v *verifier) callerAccess(rank int) {
	for _, b := range []Buffer{Input, Output} {
		m, base := v.memory.of(b, rank)
		n := v.s.Len(b, rank)
		if n == 0 {
			continue
		}
		first, last := m.cover(Span{base, n})
		for i := first; i < last; i++ {
			flags := m.cells[i].flags
			if flags&cellOpen != 0 && b == Input ||
				flags&cellRemote != 0 && (b == Input || flags&cellWritten != 0) {
				home, _ := v.s.Home(b, rank)
				v.tainted[memory{rank, home}] = true
			}
		}
	}
}

// racer is the walk that keeps clocks.
type racer struct {
	*verifier
	first    []int32 // lane of each rank among all, and their number
	clocks   []clock // of each lane
	position []int32 // sub-steps that each lane has done
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
	r.posted = make([]int32, lanes)
	values := v.found
	v.found = nil
	_, err := v.run(slots, Hooks{Step: r.step, Finished: r.finished})
	if err != nil {
		v.reportError(err)
	}
	if len(v.found) == 0 {
		v.found = values // else they are what one order of the races gave
	}
}

// step orders a sub-step after what it has awaited, and its accesses against all others.
func (r *racer) step(at *Visit) error {
	lane := at.lane
	r.position[lane]++
	s := at.Step
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
		for _, e := range s.Await {
			on := r.first[at.Rank] + e.Lane
			if n := r.base[on] + e.Value; n > 0 {
				r.clocks[lane] = merge(r.clocks[lane], r.posts[on][n-1])
			}
		}
	}
	if s.Flush {
		for _, put := range r.open[lane] {
			r.puts[put].origin = known{lane, r.position[lane]}
			r.touched[lane] = r.position[lane]
		}
		r.open[lane] = r.open[lane][:0]
	}
	before := r.snapshot(lane)
	put := r.begin(at)
	r.accesses(at, put)
	now := r.snapshot(lane)
	r.acknowledge(at, now)
	for i, handle := range at.Out {
		if handle < 0 {
			continue
		}
		for int(handle) >= len(r.sent) {
			r.sent, r.putOf = append(r.sent, nil), append(r.putOf, 0)
			r.senders = append(r.senders, 0)
		}
		r.sent[handle], r.putOf[handle], r.senders[handle] = now, 0, lane
		if r.rendezvous && len(at.Out) > 1 { // one receive is not yet the end of the step
			r.sent[handle] = before
		}
		if s.Send[i].Relaxed {
			r.sent[handle] = nil
		}
		if s.Send[i].Put && s.Send[i].Message() {
			r.putOf[handle] = put
			put++
		}
	}
	if s.Post && at.Last {
		r.posts[lane], r.posted[lane] = append(r.posts[lane], now), r.position[lane]
	}
	return nil
}

// acknowledge has, in rendezvous, the senders of what a sub-step has received go on after it, and
// what they have posted with it.
func (r *racer) acknowledge(at *Visit, now clock) {
	for i, handle := range at.In {
		if handle < 0 || !r.rendezvous || at.Step.From[i].Peer.Class != FIFO {
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
func (r *racer) accesses(at *Visit, put int32) {
	s := at.Step
	for i := range s.From {
		f := &s.From[i]
		if f.Kind == Message {
			continue
		}
		switch f.Kind {
		case Local:
			r.region(at, int(at.Rank), &f.Region, false, put)
		case Get:
			r.region(at, int(f.Peer.Rank), &f.Region, false, put)
		}
		for _, rank := range f.Team {
			r.region(at, int(rank), &f.Region, false, put)
		}
	}
	for i := range s.To {
		if !r.s.ontoItself(at, &s.To[i]) {
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
func (r *racer) begin(at *Visit) int32 {
	first := int32(0)
	_, stays := at.Step.puts()
	for i := range at.Step.Send {
		if d := &at.Step.Send[i]; !d.Put || !d.Message() {
			continue
		}
		put := int32(len(r.puts)) + 1
		if first == 0 {
			first = put
		}
		state := putState{step: first}
		if stays {
			r.open[at.lane] = append(r.open[at.lane], put-1)
		} else {
			state.origin = known{at.lane, r.position[at.lane]}
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

// finished has the caller of a rank read the output and write the input, after all the rank's
// lanes and before any begins again.
func (r *racer) finished(rank, iteration int) error {
	if iteration+1 >= r.iterations {
		return nil
	}
	var all clock
	for lane := r.first[rank]; lane < r.first[rank+1]; lane++ {
		all = merge(all, r.snapshot(lane))
		r.base[lane] = int32(len(r.posts[lane]))
	}
	caller := known{r.first[len(r.first)-1] + int32(rank), int32(iteration) + 1}
	for _, b := range []Buffer{Output, Input} {
		home, base := r.s.Home(b, rank)
		if n := r.s.Len(b, rank); n > 0 && r.tainted[memory{rank, home}] {
			now := touch{caller, -1, 0, b == Input}
			r.span(memory{rank, home}, Span{base, n}, now, all)
		}
	}
	all = merge(all, clock{caller})
	for lane := r.first[rank]; lane < r.first[rank+1]; lane++ {
		r.clocks[lane] = all
	}
	return nil
}
