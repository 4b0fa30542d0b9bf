package judge

import "slices"

// moves returns all states that follow after one event.
func (x *explorer) moves(s *state) (next []*state) {
	for lane := range x.lanes {
		k := &x.lanes[lane]
		if s.running[k.rank] == 0 || s.at[lane] == len(k.works) {
			continue
		}
		w := k.works[s.at[lane]]
		switch {
		case s.value[lane] != nil:
			t := s.clone()
			x.finish(t, w, s.value[lane])
			next = append(next, t)
		case x.can(s, w):
			t := s.clone()
			if value := x.read(t, w); w.atOnce() {
				x.finish(t, w, value)
			} else {
				t.value = replace(t.value, lane, value)
			}
			next = append(next, t)
		}
	}
	for stream := range s.inFlight {
		next = append(next, fly(s, stream)...)
	}
	for rank := range s.call {
		if s.call[rank] == x.limits.Calls {
			continue
		}
		if s.running[rank] == 0 {
			next = append(next, x.begin(s, rank))
		} else if x.idle(s, rank) {
			next = append(next, x.end(s, rank))
		}
	}
	return next
}

// atOnce reports whether a work reads no memory or stores none. Its start and its end need not be
// separate events: anything in between might as well happen before or after it.
func (w *work) atOnce() bool {
	reads, stores := false, false
	for _, source := range w.reads {
		reads = reads || len(source) > 0
	}
	for _, cells := range w.stores {
		stores = stores || cells != nil
	}
	for i := range w.step.To {
		t := &w.step.To[i]
		stores = stores || w.lands[i] != nil && !t.Message()
	}
	return !reads || !stores
}

// fly returns the states after a put of a stream has read its origin, and after the first one has
// landed.
func fly(s *state, stream int) (next []*state) {
	for i, f := range s.inFlight[stream] {
		if f.value == nil {
			t := s.clone()
			f.value = make([]int, len(f.origin))
			for j, cell := range f.origin {
				f.value[j] = s.memory[cell]
			}
			flights := slices.Clone(s.inFlight[stream])
			flights[i] = f
			t.inFlight = replace(s.inFlight, stream, flights)
			next = append(next, t)
		} else if i == 0 {
			t := s.clone()
			for j, cell := range f.target {
				t.memory[cell] = f.value[j]
			}
			t.inFlight = replace(s.inFlight, stream, s.inFlight[stream][1:])
			t.landed[stream]++
			next = append(next, t)
		}
	}
	return next
}

// begin returns the state after a rank's caller has written the inputs.
func (x *explorer) begin(s *state, rank int) *state {
	t := s.clone()
	t.running[rank] = 1
	from, to := x.model.buffer(Input, rank)
	for cell := from; cell < to; cell++ {
		t.memory[cell] = x.terms.input(rank, s.call[rank], cell-from)
	}
	for lane := x.first[rank]; lane < x.first[rank+1]; lane++ {
		t.at[lane], t.base[lane] = 0, t.posts[lane]
	}
	return t
}

// idle reports whether all lanes of a rank have ended, and their stores are visible.
func (x *explorer) idle(s *state, rank int) bool {
	for lane := x.first[rank]; lane < x.first[rank+1]; lane++ {
		if s.at[lane] < len(x.lanes[lane].works) || len(s.inFlight[x.stream(stream{lane: lane})]) > 0 {
			return false
		}
	}
	return true
}

// end returns the state after a rank's caller has read the outputs.
func (x *explorer) end(s *state, rank int) *state {
	t := s.clone()
	t.running[rank] = 0
	t.call[rank]++
	p := &x.plan.Problem
	from, to := x.model.buffer(Output, rank)
	if p.Kind == "custom" {
		t.outputs = replace(s.outputs, rank, slices.Concat(s.outputs[rank], s.memory[from:to]))
	}
	for cell := from; cell < to && p.defined(); cell++ {
		if why := x.terms.wrong(s.memory[cell], rank, s.call[rank], cell-from); why != "" {
			x.fail("rank %d call %d: output element %d %s", rank, s.call[rank], cell-from, why)
		}
	}
	for other := range s.call {
		if p.Kind == "barrier" && s.call[other] < s.call[rank] ||
			p.Kind == "barrier" && s.call[other] == s.call[rank] && s.running[other] == 0 {
			x.fail("rank %d leaves the barrier before rank %d has come", rank, other)
		}
	}
	return t
}

// can reports whether a work can start.
func (x *explorer) can(s *state, w *work) bool {
	for i := range w.step.From {
		f := &w.step.From[i]
		if f.Kind != Message {
			continue
		}
		letters := s.queue[x.conn(x.from(w.lane, &f.Peer))]
		if len(letters) == 0 || letters[0].ofPut && s.landed[letters[0].stream] < letters[0].nth {
			return false
		}
	}
	for i := range w.step.To {
		t := &w.step.To[i]
		limit := [...]int{FIFO: x.limits.Slots, Pad: 1, Free: 0, Puts: 0}[t.Peer.Class]
		if t.Message() && limit > 0 && len(s.queue[x.conn(x.to(w.lane, &t.Peer))]) >= limit {
			return false
		}
	}
	for _, e := range w.step.After {
		on := x.first[w.rank] + e.Lane
		if w.slice == 0 && s.posts[on]-s.base[on] < e.Posts {
			return false
		}
	}
	if !w.relaxes() && len(s.inFlight[x.stream(stream{lane: w.lane})]) > 0 {
		return false
	}
	return !w.step.Flush || x.flushed(s, w.lane)
}

// relaxes reports whether a work is a relaxed signal, which may overtake the lane's own stores.
func (w *work) relaxes() bool {
	for i := range w.step.To {
		if t := &w.step.To[i]; !t.Relaxed || t.At {
			return false
		}
	}
	return len(w.step.To) > 0 && len(w.step.From) == 0 && !w.step.Post
}

// flushed reports whether the origins of all puts of a lane have been read.
func (x *explorer) flushed(s *state, lane int) bool {
	for r, n := range x.streams {
		for _, f := range s.inFlight[n] {
			if r.lane == lane && f.value == nil {
				return false
			}
		}
	}
	return true
}

// read returns the combined value of a work's sources.
func (x *explorer) read(s *state, w *work) []int {
	value, err := reckoner{x.terms, x.fail}.value(w, s.memory, func(i int) []int {
		return s.queue[x.conn(x.from(w.lane, &w.step.From[i].Peer))][0].value
	})
	if err != nil {
		x.fail("%v", err)
	}
	return value
}

// finish ends a work: it receives its messages, stores and sends.
func (x *explorer) finish(s *state, w *work, value []int) {
	for i := range w.step.From {
		if f := &w.step.From[i]; f.Kind == Message {
			c := x.conn(x.from(w.lane, &f.Peer))
			s.queue = replace(s.queue, c, s.queue[c][1:])
		}
	}
	for _, cells := range w.stores {
		if cells != nil {
			x.store(s, w, cells, value)
		}
	}
	for i := range w.step.To {
		t := &w.step.To[i]
		if !t.Message() {
			for _, cells := range w.lands[i] {
				x.store(s, w, cells, value)
			}
			continue
		}
		l := letter{value: value}
		if t.At {
			l.stream, l.ofPut = x.stream(streamOf(w, i)), true
			l.nth = s.landed[l.stream] + len(s.inFlight[l.stream]) + 1
			f := flight{value: value, target: w.lands[i][0]}
			if w.step.lasts() && len(w.step.From) == 1 && w.step.From[0].Kind == Local &&
				!w.step.From[0].Scaled && !w.step.Scaled {
				f.value, f.origin = nil, w.reads[0][0]
			}
			s.inFlight = replace(s.inFlight, l.stream, append(slices.Clip(s.inFlight[l.stream]), f))
		}
		c := x.conn(x.to(w.lane, &t.Peer))
		s.queue = replace(s.queue, c, append(slices.Clip(s.queue[c]), l))
	}
	if w.step.Post && w.last {
		s.posts[w.lane]++
	}
	s.value = replace(s.value, w.lane, nil)
	s.at[w.lane]++
}

// store writes a value. If a relaxed signal follows, the value becomes visible later.
func (x *explorer) store(s *state, w *work, cells, value []int) {
	works := x.lanes[w.lane].works
	if next := s.at[w.lane] + 1; next < len(works) && works[next].relaxes() && !w.step.reports() {
		own := x.stream(stream{lane: w.lane})
		f := flight{value: value, target: cells}
		s.inFlight = replace(s.inFlight, own, append(slices.Clip(s.inFlight[own]), f))
		return
	}
	for i, cell := range cells[:min(len(cells), len(value))] {
		s.memory[cell] = value[i]
	}
}

// reports reports whether another lane can learn of the end of the step.
func (s *Step) reports() bool {
	return s.Post || slices.ContainsFunc(s.To, func(t Target) bool {
		return t.Message() && !t.Relaxed
	})
}
