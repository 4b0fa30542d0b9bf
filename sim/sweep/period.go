package sweep

import (
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// period holds rows that repeat themselves, in a form that replay can repeat without lanes,
// connections and routes: only times are left, as stamps.
//
// A connection with m messages in a period has m columns. Its message n is in row n/m of column n
// mod m. Rows are a ring: they are used again. The free slots of a connection are stored likewise.
type period struct {
	turns []move
	gains []gain
	puts  []put
	hops  []hop
	sizes // of the turns, and the times that follow from them
	clock
	lambda unit.Time // of freed slots
	stores bool      // store-and-forward

	ends     []stamp // by actor: the end of its last turn
	arrivals table   // of messages
	slots    table   // the times from which slots are free
	links    []crossed
	number   []int32 // by index in links: the link of the engine

	columns []column  // of the connections
	putBy   []int32   // by column of arrivals: the put that fills it
	sum     unit.Time // a bound on the length of a period

	longest int32  // the most links that a message crosses
	isOwned bool   // a link at which no message has waited in a row makes none wait later
	waited  bool   // a message has waited for a link in the present row
	lean    []lean // the turns in short form; see replay.go
	spans   []span // by lean turn, then class
}

// move is a turn of the period: a sub-step of an actor. Its gains and puts are those from these
// indices on, up to those of the next turn.
type move struct {
	actor       int32
	gains, puts int32
}

// gain is a message that is received, and the slot that this frees.
type gain struct {
	column      int32 // of the message in arrivals
	slot, later int32 // column of the slot, −1 for none, and how many rows later it is used
}

// put is a message that is sent. Its hops are those from hops on, up to those of the next put.
type put struct {
	turn          int32
	slot          int32 // column of the slot that it takes; −1: none
	column, later int32 // column of its arrival, and how many rows later it is received
	hops          int32
	isFlow        bool // it crosses all its links at once, in the time figure.lead
}

// hop is a link that a message crosses.
type hop struct {
	latency unit.Time
	link    int32
}

// crossed is the state of a link in the period.
type crossed struct {
	free, last stamp
	by         int32 // source of its requests: −1 − lane, or 1 + link; 0: none yet
}

// table is a ring of rows of times; their number is a power of two.
type table struct {
	times       []stamp
	width, mask int32 // columns; number of rows − 1
	rows        int32 // that are needed
}

// make allocates the table. It reports false if that would be too large.
func (t *table) make() bool {
	n := int32(1)
	for n < t.rows {
		n *= 2
	}
	if t.mask = n - 1; int64(n)*int64(t.width) > mostTimes {
		return false
	}
	t.times = make([]stamp, n*t.width)
	return true
}

// at returns the time in a row and column.
func (t *table) at(row, column int32) *stamp { return &t.times[row&t.mask*t.width+column] }

// mostTimes bounds the times of a table: 64 MiB.
const mostTimes = 1 << 23

// column says where the messages and slots of a connection are stored.
type column struct {
	conn                int32
	first, slots        int32 // its first column in arrivals and in slots; slots is −1 if unbounded
	sends, receives     int32 // in a period
	sent, received      int32 // so far, while the period is compiled
	waiting, free, idle int32 // messages and free slots at the beginning; slots never used
}

// repeat replays the recorded rows as often as all actors' loops allow, if they are a period. It
// reports whether they are one.
func (e *engine) repeat() bool {
	times := int32(1) << 30
	for i := range e.actors {
		a := &e.actors[i]
		c := &e.lanes[a.lane].cursor
		done := a.iterations(c)
		if done == 0 {
			return false
		}
		_, follow := c.Around()
		times = min(times, follow/done)
	}
	if times < leastRepeats {
		return false
	}
	p := period{lambda: e.rules.Device.SlotLatency, stores: e.rules.Switching == model.StoreForward}
	if e.isInstant {
		p.clock = clock{bits: waveBits, mask: 1<<waveBits - 1, wave: 1}
	}
	is := e.findColumns(&p)
	if is {
		e.fill(&p)
		is = e.findSizes(&p) && e.compile(&p)
	}
	for i := range p.columns {
		e.conns[p.columns[i].conn].column = -1
	}
	for _, on := range p.number {
		e.links[on].crossed = -1
	}
	if !is || p.classes > 1 && times < p.arrivals.rows ||
		!p.fits(int64(times), p.sum, p.longest) {
		return false // no period, or times might overflow
	}
	e.periods++
	if !p.replay(times) {
		e.disordered()
		return true
	}
	e.settle(&p, times)
	return true
}

// findColumns assigns columns to connections. It reports false unless each connection receives in
// the period as many messages as it sends.
func (e *engine) findColumns(p *period) bool {
	for i := range e.turns {
		t := &e.turns[i]
		for k := t.from; k < t.to; k++ {
			conn := e.ends[k].conn
			c := &e.conns[conn]
			if c.column < 0 {
				c.column = int32(len(p.columns))
				p.columns = flat.Add(p.columns, column{conn: conn, slots: -1}, len(e.turns))
			}
			if x := &p.columns[c.column]; k < t.sends {
				x.receives++
			} else {
				x.sends++
			}
		}
	}
	a, s := &p.arrivals, &p.slots
	a.rows, s.rows = 1, 1
	for i := range p.columns {
		c := &p.columns[i]
		if c.sends != c.receives {
			return false
		}
		conn := &e.conns[c.conn]
		for m := conn.queue.First; m >= 0; m = e.messages.Next(m) {
			c.waiting++
		}
		c.first, a.width = a.width, a.width+c.sends
		a.rows = max(a.rows, (c.waiting+c.sends-1)/c.sends+1)
		if !conn.slots.IsBounded {
			continue
		}
		unused, free := conn.slots.Counts()
		if c.idle, c.free = unused, unused+free; unused > mostTimes {
			return false
		}
		c.slots, s.width = s.width, s.width+c.sends
		s.rows = max(s.rows, (c.free+c.sends-1)/c.sends+1)
	}
	a.width, s.width = a.width+2, s.width+2 // makeLean
	return a.make() && s.make()
}

// message returns where the n-th message is stored: how many rows later, and its column.
func (c *column) message(n int32) (later, column int32) { return n / c.sends, c.first + n%c.sends }

// slot returns where the n-th free slot is stored.
func (c *column) slot(n int32) (later, column int32) { return n / c.sends, c.slots + n%c.sends }

// fill copies the messages and free slots of the connections, and the ends of the lanes, into the
// period.
func (e *engine) fill(p *period) {
	for i := range p.columns {
		c := &p.columns[i]
		n, conn := int32(0), &e.conns[c.conn]
		for m := conn.queue.First; m >= 0; m = e.messages.Next(m) {
			*p.arrivals.at(c.message(n)) = p.stamp(e.messages.At(m).at)
			n++
		}
		n = c.idle
		conn.slots.Each(&e.marks, func(at model.Moment) {
			*p.slots.at(c.slot(n)) = p.stamp(at)
			n++
		})
	}
	for _, a := range e.actors {
		p.ends = append(p.ends, p.stamp(e.lanes[a.lane].end))
	}
}

// compile makes turns, gains and puts of the recorded rows. It reports false if they cannot be
// replayed.
func (e *engine) compile(p *period) bool {
	p.isOwned = !p.stores
	p.putBy = make([]int32, p.arrivals.width)
	p.turns = make([]move, 0, len(e.turns)+1)
	sends := len(e.ends) / 2 // each is received
	p.gains, p.puts = make([]gain, 0, sends), make([]put, 0, sends+1)
	for i := range e.turns {
		t := &e.turns[i]
		p.turns = append(p.turns, move{t.actor, int32(len(p.gains)), int32(len(p.puts))})
		for _, x := range e.ends[t.from:t.sends] {
			c := &p.columns[e.conns[x.conn].column]
			g := gain{slot: -1}
			_, g.column = c.message(c.received)
			if c.slots >= 0 {
				g.later, g.slot = c.slot(c.free + c.received)
			}
			c.received++
			p.gains = append(p.gains, g)
		}
		for _, x := range e.ends[t.sends:t.to] {
			if !e.compilePut(p, int32(i), x) {
				return false
			}
		}
	}
	p.turns = append(p.turns, move{gains: int32(len(p.gains)), puts: int32(len(p.puts))})
	p.puts = append(p.puts, put{hops: int32(len(p.hops))})
	return e.sameSizes(p)
}

// sameSizes reports whether each message is as large as the one in its place a period before. The
// messages that wait in connections must be so too, since they may set the size of a step. Where
// sizes vary from row to row, no step takes its size from messages.
func (e *engine) sameSizes(p *period) bool {
	if p.classes > 1 {
		return true
	}
	bytes := func(column int32) unit.Bytes {
		return e.turns[p.puts[p.putBy[column]].turn].size.bytes
	}
	for i := range p.columns {
		c, n := &p.columns[i], int32(0)
		for m := e.conns[c.conn].queue.First; m >= 0; m = e.messages.Next(m) {
			if _, column := c.message(n); e.messages.At(m).bytes != bytes(column) {
				return false
			}
			n++
		}
	}
	for i := range e.turns {
		if !e.turns[i].fromMessages {
			continue
		}
		most := unit.Bytes(0)
		for _, g := range p.gains[p.turns[i].gains:p.turns[i+1].gains] {
			most = max(most, bytes(g.column))
		}
		if most != e.turns[i].size.bytes {
			return false
		}
	}
	return true
}

// compilePut adds a message that a turn sends.
func (e *engine) compilePut(p *period, turn int32, x end) bool {
	conn := &e.conns[x.conn]
	c := &p.columns[conn.column]
	path := &e.network.Routes[conn.route]
	m := put{turn: turn, slot: -1, hops: int32(len(p.hops)), isFlow: e.isFluid}
	m.later, m.column = c.message(c.waiting + c.sent)
	p.putBy[m.column] = int32(len(p.puts))
	if c.slots >= 0 {
		_, m.slot = c.slot(c.sent)
	}
	c.sent++
	by := -1 - conn.src
	for _, on := range e.hops[path.From:path.To] {
		if e.isFluid && e.links[on].Bandwidth == unit.Unlimited {
			continue
		}
		h := hop{latency: e.links[on].Latency, link: e.cross(p, on)}
		at := &p.links[h.link]
		if at.by == 0 {
			at.by = by
		}
		if at.by != by {
			return false
		}
		if !e.isFluid {
			by = on + 1
		}
		p.hops = flat.Add(p.hops, h, len(e.ends))
	}
	p.puts = append(p.puts, m)
	p.longest = max(p.longest, int32(len(p.hops))-m.hops)
	p.takes = append(p.takes, make([]unit.Time, (int32(len(p.hops))-m.hops)*p.classes)...)
	for class := range p.classes {
		if !e.figure(p, &m, conn, x.framing, class) {
			return false
		}
	}
	return true
}

// cross returns the index of a link in the period, and adds it at first use.
func (e *engine) cross(p *period, on int32) int32 {
	l := &e.links[on]
	if l.crossed < 0 {
		l.crossed = int32(len(p.links))
		p.links = flat.Add(p.links, crossed{free: p.stamp(model.Moment{T: l.free}),
			last: p.stamp(l.last)}, len(e.ends))
		p.number = flat.Add(p.number, on, len(e.ends))
	}
	return l.crossed
}

// settle sets the engine's state after a number of replayed periods.
func (e *engine) settle(p *period, times int32) {
	r, n := &e.totals, int64(times)
	for i := range e.turns {
		t := &e.turns[i]
		r.Steps += n
		r.Messages += n * int64(t.to-t.sends)
		e.settleTurn(p, int32(i), n)
	}
	for i := range e.actors {
		a := &e.actors[i]
		l := &e.lanes[a.lane]
		l.end, l.place = p.moment(p.ends[i]), -1 // the lane may be within a step of another size
		l.cursor.Skip(times*a.iterations(&l.cursor), times*(l.cursor.Step-a.at.Step))
	}
	for i, on := range p.number {
		l, x := &e.links[on], &p.links[i]
		l.free, l.last = p.moment(x.free).T, p.moment(x.last)
	}
	for i := range p.columns {
		e.settleColumn(p, &p.columns[i], times)
	}
}

// settleColumn copies messages and slots of a connection back from the tables.
func (e *engine) settleColumn(p *period, c *column, times int32) {
	n, conn := int32(0), &e.conns[c.conn]
	for m := conn.queue.First; m >= 0; m = e.messages.Next(m) {
		later, column := c.message(n)
		e.messages.At(m).at = p.moment(*p.arrivals.at(times+later, column))
		if k := p.putBy[column]; p.classes > 1 {
			x := &p.puts[k]
			e.messages.At(m).bytes = p.bytes[p.blocks[x.turn].class(later-x.later)]
		}
		n++
	}
	if !conn.slots.IsBounded {
		return
	}
	unused := int32(max(int64(c.idle)-int64(times)*int64(c.sends), 0))
	conn.slots.Reset(&e.marks, unused)
	for n := unused; n < c.free; n++ {
		later, column := c.slot(n)
		conn.slots.Free(&e.marks, p.moment(*p.slots.at(times+later, column)))
	}
}
