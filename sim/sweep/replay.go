package sweep

// replay repeats the period a number of times. It reports false where the guess was wrong.
func (p *period) replay(times int32) bool {
	isLean := p.isOwned && p.makeLean()
	for row := int32(0); row < times; row++ {
		p.waited = false
		if !p.row(row) {
			return false
		}
		if isLean && !p.waited && row+2 < times {
			p.leanRows(row+1, times-1) // the last row is replayed in full, for the state of links
			row = times - 2
		}
	}
	return true
}

// lean is a turn with at most one message in each direction, in a period where no message waits for
// a link.
//
// The requests of a link come from one lane, or over one other link. Suppose no message has waited
// for a link in a row. Then none waits in later rows: a lane is held until its bytes have left,
// which takes at least the time of the slowest link. Later links are reached after the same delays
// each time. So the times from S to the turn's end, and to the message's arrival, only depend on
// the size.
type lean struct {
	actor          int32
	gain, took     int32 // columns of the message received, and of the slot taken
	freed, put     int32 // columns of the slot freed, and of the message sent
	freedOn, putOn int32 // how many rows later these are used
}

// span holds the times of a lean turn of a size: E − S, and arrival − S.
type span struct{ held, takes stamp }

// makeLean makes lean turns of all turns, and reports false if that is not possible. For a message
// or slot that a turn does not have, each table has two more columns: one that is always 0, and one
// that is never read.
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

// crossing returns when a message that is sent at D arrives, if no link makes it wait. It takes
// some time, so the wave of D does not matter.
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

// section is the lean turns in [from, to). If isAligned, each turn follows the one before in all
// columns, so that they can be replayed as loops over slices.
type section struct {
	from, to  int
	isAligned bool
}

// shortest is the least number of turns of an aligned section.
const shortest = 4

// follows reports whether a turn has the actor and the columns behind those of another.
func (x *lean) follows(o *lean) bool {
	return *x == lean{o.actor + 1, o.gain + 1, o.took + 1, o.freed + 1, o.put + 1, o.freedOn, o.putOn}
}

// sections divides the lean turns into aligned sections and others.
func (p *period) sections() (all []section) {
	for from := 0; from < len(p.lean); {
		to := from + 1
		for to < len(p.lean) && p.lean[to].follows(&p.lean[to-1]) {
			to++
		}
		isAligned := to-from >= shortest && p.classes == 1
		if n := len(all); n > 0 && !isAligned && !all[n-1].isAligned {
			all[n-1].to = to
		} else {
			all = append(all, section{from, to, isAligned})
		}
		from = to
	}
	return all
}

// leanRows replays lean turns in the rows from one up to another.
func (p *period) leanRows(row, to int32) {
	arrivalsOn, slotsOn := make([]int32, p.arrivals.rows), make([]int32, p.slots.rows)
	all := p.sections()
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

// leanTurns replays a section of lean turns in a row. arrivalsOn and slotsOn have the indices at
// which the rows from this one on begin in the tables.
func (p *period) leanTurns(s section, arrivalsOn, slotsOn []int32) {
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

// aligned does the work of leanTurns for an aligned section.
func (p *period) aligned(s section, arrivalsOn, slotsOn []int32) {
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

// row simulates one repetition of the period: each turn, a sub-step of a lane, with the messages
// that it sends. row numbers the repetition and selects the row of the tables of arrivals and free
// slots. It reports false where messages ask a link in another order than was guessed.
//
// Turns need no sorting by time: all requests of a link come from one lane, or over one other link,
// and so already in order.
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

// cross simulates the k-th message of the period, of a size class, on its links from its step's D
// on: done. It returns when the last byte has left its rank, and when it has arrived. ok is false
// where another order of requests was guessed.
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
