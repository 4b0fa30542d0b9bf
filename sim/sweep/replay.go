package sweep

// replay plays the period so many times. It is false where the guess was wrong.
func (p *period) replay(times int32) bool {
	isLean := p.isOwned && p.makeLean()
	for row := int32(0); row < times; row++ {
		p.waited = false
		if !p.row(row) {
			return false
		}
		if isLean && !p.waited && row+2 < times {
			p.leanRows(row+1, times-1) // the last leaves links as they then are
			row = times - 2
		}
	}
	return true
}

// lean is a turn with at most one message each way. What crosses a link comes from one lane, or
// over one link before. If nothing has had to wait for a link in a row, nothing has to in what
// follows: the lane is held until its bytes have left, which takes as long as the slowest link at
// least, and they come to each further link as much later every time. So from S on the lane is held
// for a time that only depends on the size, and so does the time until the message arrives.
type lean struct {
	actor          int32
	gain, took     int32 // columns
	freed, put     int32
	freedOn, putOn int32 // rows on
}

// span is what a lean turn of a size takes: E − S, and arrival − S.
type span struct{ held, takes stamp }

// makeLean makes lean turns, if that can be. What a turn has not lies in two columns more: one that
// is always 0, and one that is never read.
func (p *period) makeLean() bool {
	arrivals, slots := p.arrivals.width-2, p.slots.width-2
	p.lean = make([]lean, len(p.turns)-1)
	p.spans = make([]span, len(p.lean)*int(p.classes))
	for i := range p.lean {
		t, next := &p.turns[i], &p.turns[i+1]
		if next.gains-t.gains > 1 || next.puts-t.puts > 1 {
			return false
		}
		x := lean{actor: t.actor, gain: arrivals, took: slots, freed: slots + 1,
			put: arrivals + 1}
		if next.gains > t.gains {
			g := &p.gains[t.gains]
			if x.gain = g.column; g.slot >= 0 {
				x.freed, x.freedOn = g.slot, g.later
			}
		}
		if next.puts > t.puts {
			m := &p.puts[t.puts]
			if x.put, x.putOn = m.column, m.later; m.slot >= 0 {
				x.took = m.slot
			}
		}
		p.lean[i] = x
		for class := range p.classes {
			k := int32(i)*p.classes + class
			held, takes := p.costs[k], stamp(0)
			if next.puts > t.puts {
				held += p.figures[t.puts*p.classes+class].lead
				takes = p.crossing(t.puts, class, p.plus(0, p.costs[k]))
			}
			if held == 0 && p.wave > 0 { // it would end in the wave in which it starts
				return false
			}
			p.spans[k] = span{p.plus(0, held), takes}
		}
	}
	return true
}

// crossing is when a message arrives that is sent at D if no link makes it wait. That takes time:
// in which wave D is does not matter.
func (p *period) crossing(k, class int32, done stamp) stamp {
	m, f := &p.puts[k], &p.figures[k*p.classes+class]
	if m.isFlow {
		return p.plus(p.plus(done, f.lead), f.late)
	}
	ask, tail := done, stamp(0)
	for h := m.hops; h < p.puts[k+1].hops; h++ {
		begin := ask + p.wave
		if h == m.hops {
			tail = p.plus(begin, f.pace)
		}
		latency := p.hops[h].latency
		tail = p.plus(max(tail, p.plus(begin, p.takes[h*p.classes+class])), latency)
		ask = p.plus(begin, latency)
	}
	return p.plus(tail, f.late)
}

// stretch is lean turns that follow each other in all that they name, and so can be played over
// slices, without a look at them: those from turn to turn. If it is of turns that do not, they are
// looked at one by one.
type stretch struct {
	from, to  int
	isAligned bool
}

// shortest is how many turns are worth a stretch.
const shortest = 4

// follows reports whether a turn follows another in all that it names.
func (x *lean) follows(o *lean) bool {
	return *x == lean{o.actor + 1, o.gain + 1, o.took + 1, o.freed + 1, o.put + 1, o.freedOn, o.putOn}
}

// stretches divides the lean turns.
func (p *period) stretches() (all []stretch) {
	for from := 0; from < len(p.lean); {
		to := from + 1
		for to < len(p.lean) && p.lean[to].follows(&p.lean[to-1]) {
			to++
		}
		isAligned := to-from >= shortest && p.classes == 1
		if n := len(all); n > 0 && !isAligned && !all[n-1].isAligned {
			all[n-1].to = to
		} else {
			all = append(all, stretch{from, to, isAligned})
		}
		from = to
	}
	return all
}

// leanRows plays lean turns in the rows from one to another.
func (p *period) leanRows(row, to int32) {
	arrivalsOn, slotsOn := make([]int32, p.arrivals.rows), make([]int32, p.slots.rows)
	all := p.stretches()
	for ; row < to; row++ {
		for on := range arrivalsOn {
			arrivalsOn[on] = (row + int32(on)) & p.arrivals.mask * p.arrivals.width
		}
		for on := range slotsOn {
			slotsOn[on] = (row + int32(on)) & p.slots.mask * p.slots.width
		}
		for _, s := range all {
			if s.isAligned {
				p.aligned(s, arrivalsOn, slotsOn)
			} else {
				p.leanTurns(s, arrivalsOn, slotsOn)
			}
		}
	}
}

// leanTurns plays a stretch of lean turns in a row: those on from it begin at arrivalsOn and
// slotsOn.
func (p *period) leanTurns(s stretch, arrivalsOn, slotsOn []int32) {
	arrivals, slots, ends := p.arrivals.times, p.slots.times, p.ends
	mask, lambda := p.mask, p.plus(0, p.lambda)
	came, free := arrivals[arrivalsOn[0]:], slots[slotsOn[0]:]
	for i := s.from; i < s.to; i++ {
		x, k := &p.lean[i], i
		if p.classes > 1 {
			b := &p.blocks[i]
			k = i*int(p.classes) + int(b.classes[b.now])
			p.counts[k]++
			b.next()
		}
		start, takes := max(ends[x.actor], came[x.gain], free[x.took])&^mask, &p.spans[k]
		ends[x.actor] = start + takes.held
		arrivals[arrivalsOn[x.putOn]+x.put] = start + takes.takes
		slots[slotsOn[x.freedOn]+x.freed] = start + takes.held + lambda
	}
}

// aligned is leanTurns of a stretch that is aligned.
func (p *period) aligned(s stretch, arrivalsOn, slotsOn []int32) {
	x, spans, mask, lambda := &p.lean[s.from], p.spans[s.from:s.to], p.mask, p.plus(0, p.lambda)
	n := len(spans)
	ends := p.ends[x.actor:][:n]
	came := p.arrivals.times[arrivalsOn[0]+x.gain:][:n]
	free := p.slots.times[slotsOn[0]+x.took:][:n]
	puts := p.arrivals.times[arrivalsOn[x.putOn]+x.put:][:n]
	freed := p.slots.times[slotsOn[x.freedOn]+x.freed:][:n]
	for i := range spans {
		start := max(ends[i], came[i], free[i]) &^ mask
		end := start + spans[i].held
		ends[i] = end
		puts[i] = start + spans[i].takes
		freed[i] = end + lambda
	}
}

// row plays the period once: turn by turn, each with all that it sends. That is right where what
// crosses a link comes from one lane, or over one link before: it then is asked for in order.
func (p *period) row(row int32) bool {
	for i := range int32(len(p.turns) - 1) {
		t, next, class := &p.turns[i], &p.turns[i+1], int32(0)
		if p.classes > 1 {
			class = int32(p.blocks[i].class(0))
			p.counts[i*p.classes+class]++
			p.blocks[i].next()
		}
		start := p.ends[t.actor]
		for _, g := range p.gains[t.gains:next.gains] {
			start = max(start, *p.arrivals.at(row, g.column))
		}
		for _, m := range p.puts[t.puts:next.puts] {
			if m.slot >= 0 {
				start = max(start, *p.slots.at(row, m.slot))
			}
		}
		done := p.plus(start, p.costs[i*p.classes+class])
		end := done
		for k := t.puts; k < next.puts; k++ {
			m := &p.puts[k]
			left, came, ok := p.cross(k, class, done)
			if !ok {
				return false
			}
			end = max(end, left)
			*p.arrivals.at(row+m.later, m.column) = came
		}
		p.ends[t.actor] = end
		for _, g := range p.gains[t.gains:next.gains] {
			if g.slot >= 0 {
				*p.slots.at(row+g.later, g.slot) = p.plus(end, p.lambda)
			}
		}
	}
	return true
}

// cross lets a message of a class cross its links from D on: when its last byte has left and when
// it has come. It is not ok where the guess was wrong.
func (p *period) cross(k, class int32, done stamp) (left, came stamp, ok bool) {
	m, f := &p.puts[k], &p.figures[k*p.classes+class]
	ask, tail := done, p.plus(done, f.lead)
	for h := m.hops; h < p.puts[k+1].hops; h++ {
		x := &p.hops[h]
		l := &p.links[x.link]
		if m.isFlow {
			if ask < l.free {
				return 0, 0, false
			}
			l.free = tail
			continue
		}
		if ask < l.last {
			return 0, 0, false
		}
		l.last = ask
		ask += p.wave
		begin := max(ask, l.free)
		p.waited = p.waited || begin > ask
		over := p.plus(begin, p.takes[h*p.classes+class])
		if l.free = over; h == m.hops {
			left = p.plus(begin, f.lead)
			tail = p.plus(begin, f.pace)
		}
		tail = p.plus(max(tail, over), x.latency)
		if ask = p.plus(begin, x.latency); p.stores {
			ask = tail
		}
	}
	if m.isFlow {
		left = tail
	}
	return left, p.plus(tail, f.late), true
}
