package sweep

import (
	"math/bits"
	"slices"

	"collsim/schedule"
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// sizes holds the sizes of the turns of a period, and the times that follow from them.
//
// A turn has one size, or a size that changes from row to row with its block. The different sizes
// are few, and called classes. If no turn changes its size there is one class: each turn's own
// size.
type sizes struct {
	classes int32
	bytes   []unit.Bytes              // by class, if there are several
	blocks  []blocks                  // by turn, if there are several classes
	counts  []int64                   // by turn, then class, if several: turns so far
	costs   []unit.Time               // by turn, then class: D − S
	figures []figure                  // by put, then class
	takes   []unit.Time               // by hop, then class: the time of the link
	sum     unit.Time                 // of all these times
	known   map[model.Cutting][]uint8 // the classes of a buffer's blocks
}

// figure holds the times of a message of a size, and the bytes that it puts on links. lead and pace
// are Rules.Lead and Rules.Pace, and late is the latency of the size.
type figure struct {
	lead, pace, late unit.Time
	onLinks          unit.Bytes
}

// blocks says which of n blocks a turn moves: now in the present row, and step further in the next
// row, modulo n.
type blocks struct {
	now, step, n int32
	classes      []uint8 // of the blocks
}

// mostClasses bounds the number of classes.
const mostClasses = 8

// class returns the class of the block a number of rows later.
func (b *blocks) class(later int32) uint8 {
	at := (int64(b.now) + int64(later)*int64(b.step)) % int64(b.n)
	if at < 0 {
		at += int64(b.n)
	}
	return b.classes[at]
}

// next goes to the next row.
func (b *blocks) next() {
	if b.now += b.step; b.now >= b.n {
		b.now -= b.n
	}
}

// add adds times to sum, which bounds the length of a period.
func (x *sizes) add(times ...unit.Time) {
	for _, t := range times {
		x.sum = min(x.sum+t, unit.Forever)
	}
}

// findSizes finds the sizes of all turns, in this row and all later ones. It reports false if there
// are too many, or they do not follow from blocks.
func (e *engine) findSizes(p *period) bool {
	varies := false
	for i := range e.turns {
		varies = varies || e.turns[i].varies
	}
	if p.classes = 1; !varies {
		for i := range e.turns {
			p.costs = append(p.costs, e.turns[i].size.cost)
			p.add(e.turns[i].size.cost)
		}
		return true
	}
	if len(e.rules.Schedule.Group) > 1 {
		return false
	}
	p.known = map[model.Cutting][]uint8{}
	if !e.walk(func(i int32, step, next *schedule.Step, at schedule.Spot) bool {
		if t := &e.turns[i]; !t.varies {
			class := p.classOf(t.size.bytes)
			p.blocks = append(p.blocks, blocks{n: 1, classes: []uint8{class}})
			return class < mostClasses
		}
		return e.findBlocks(p, step.Sized(), next.Sized(), at)
	}) {
		return false
	}
	p.classes = int32(len(p.bytes))
	p.counts = make([]int64, int(p.classes)*len(e.turns))
	return e.walk(func(_ int32, step, _ *schedule.Step, at schedule.Spot) bool {
		for _, n := range p.bytes {
			p.costs = append(p.costs, e.cost(int32(at.Rank), step, n))
			p.add(p.costs[len(p.costs)-1])
		}
		return true
	})
}

// walk calls see for each turn until see returns false. step is the turn's step in the first period
// that is not recorded, and next that in the period after it.
func (e *engine) walk(see func(i int32, step, next *schedule.Step, at schedule.Spot) bool) bool {
	var step, next schedule.Step
	here, there := make([]schedule.Cursor, len(e.actors)), make([]schedule.Cursor, len(e.actors))
	for i := range e.actors {
		c := e.lanes[e.actors[i].lane].cursor
		here[i], there[i] = c, c
		there[i].Skip(e.actors[i].iterations(&c), 0)
	}
	for i := range e.turns {
		k := e.turns[i].actor
		l := &e.lanes[e.actors[k].lane]
		p := e.programs[l.rank]
		p.Load(&here[k], &step)
		p.Load(&there[k], &next)
		at := schedule.Spot{Rank: int(l.rank), Channel: int(l.channel), Slice: int(here[k].Slice())}
		if !see(int32(i), &step, &next, at) {
			return false
		}
		here[k].Next(l.slices)
		there[k].Next(l.slices)
	}
	return true
}

// findBlocks finds the blocks of a turn that moves region a in one period and b in the next, and
// their classes.
func (e *engine) findBlocks(p *period, a, b *schedule.Region, at schedule.Spot) bool {
	if a == nil || b == nil || a.Buffer >= schedule.FirstTensor {
		return false
	}
	s := e.rules.Schedule
	x := blocks{now: int32(s.FirstBlock(a)), n: int32(s.Blocks(a.Buffer))}
	x.step = (int32(s.FirstBlock(b)) - x.now + x.n) % x.n
	key := model.Cutting{Buffer: a.Buffer, Tile: a.Tile, Channel: int32(at.Channel),
		Slice: int32(at.Slice)}
	if p.known[key] == nil {
		classes, ok := e.rules.Classes(nil, key, func(n unit.Bytes) (uint8, bool) {
			class := p.classOf(n)
			return class, class < mostClasses
		})
		if !ok {
			return false
		}
		p.known[key] = classes
	}
	x.classes = p.known[key]
	p.blocks = append(p.blocks, x)
	return true
}

// classOf returns the class of a size, and adds it if there is room.
func (x *sizes) classOf(n unit.Bytes) uint8 {
	i := slices.Index(x.bytes, n)
	if i < 0 {
		i = len(x.bytes)
		if i < mostClasses {
			x.bytes = append(x.bytes, n)
		}
	}
	return uint8(i)
}

// figure adds the times of a message of a class. It reports false where the replay does not support
// the message. That is a message that is too large, does not share links as its class should, or is
// cut into segments. It is also one that a link stores and forwards in no time.
func (e *engine) figure(p *period, m *put, conn *connection, with schedule.Framing,
	class int32) bool {
	t := &e.turns[m.turn]
	bytes, peers := p.bytesOf(t, class), t.to-t.sends
	path, rank := &e.network.Routes[conn.route], e.lanes[conn.src].rank
	of := e.rules.Device.Of(bytes)
	n := model.OnLinks(of, bytes, with)
	f := figure{late: of.Latency, pace: e.rules.Pace(rank, peers, n), onLinks: n,
		lead: e.rules.Lead(rank, peers, path.Slowest, n)}
	isShared := path.IsShared(n)
	switch {
	case n > model.MostOnLinks || !isShared && (!e.isFluid || len(p.hops) > int(m.hops)):
		return false
	case e.isFluid:
		if f.late, f.lead = f.late+path.Latency, f.pace; isShared {
			f.lead = e.drained(rank, &message{carried: n, peers: peers}, path)
		}
	case e.rules.SegmentEnd(0, n) < n:
		return false
	}
	for h := m.hops; h < int32(len(p.hops)); h++ {
		l := &e.links[p.number[p.hops[h].link]]
		takes := n.Over(l.Bandwidth)
		if p.stores && takes == 0 {
			return false
		}
		p.takes[h*p.classes+class] = takes
		p.add(takes, l.Latency)
	}
	p.figures = flat.Add(p.figures, f, len(e.turns))
	p.add(f.lead, f.pace, f.late, p.lambda)
	return true
}

// bytesOf returns the size of a turn in a class.
func (x *sizes) bytesOf(t *turn, class int32) unit.Bytes {
	if x.classes > 1 {
		return x.bytes[class]
	}
	return t.size.bytes
}

// settleTurn counts what a turn has sent in a number of periods.
func (e *engine) settleTurn(p *period, i int32, times int64) {
	t := &e.turns[i]
	for class := range p.classes {
		n := times
		if p.classes > 1 {
			n = p.counts[i*p.classes+class]
		}
		for k := range t.to - t.sends {
			e.totals.BytesSent += unit.Bytes(n) * p.bytesOf(t, class)
			f := &p.figures[(p.turns[i].puts+k)*p.classes+class]
			path := &e.network.Routes[e.conns[e.ends[t.sends+k].conn].route]
			for _, on := range e.hops[path.From:path.To] {
				e.links[on].carries(f.onLinks, n)
			}
		}
	}
}

// carries counts a message of n bytes that the link has carried a number of times.
func (l *link) carries(n unit.Bytes, times int64) {
	l.load += unit.Bytes(times) * n
	hi, lo := bits.Mul64(uint64(times), uint64(l.Over(n)))
	if hi > 0 || lo > uint64(unit.Forever) {
		lo = uint64(unit.Forever)
	}
	l.busy = min(l.busy+unit.Time(lo), unit.Forever)
}
