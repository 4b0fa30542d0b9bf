package sweep

import (
	"math/bits"
	"slices"

	"collsim/schedule"
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// sizes are those of the turns of a period, and what follows from them. A turn is of one size or,
// where the blocks of a buffer are not alike, of another in each row, as its block has it; there
// are few different ones, the classes. Where all turns keep theirs there is one class, which is of
// another size for each turn.
type sizes struct {
	classes int32
	bytes   []unit.Bytes // of the classes, if there are several
	blocks  []blocks     // of the turns, if there are several
	counts  []int64      // how often each turn was of each class, if there are several
	costs   []unit.Time  // D − S, by turn, then class
	figures []figure     // by put, then class
	takes   []unit.Time  // by hop, then class
	sum     unit.Time    // of all that takes time
	known   map[model.Cutting][]uint8
}

// figure is what a message of a size takes.
type figure struct {
	lead, pace, late unit.Time
	onLinks          unit.Bytes
}

// blocks is which block a turn moves in the present row, and how many further it is in the next.
type blocks struct {
	now, step, n int32
	classes      []uint8 // of the blocks
}

// mostClasses bounds how many sizes there are.
const mostClasses = 8

// class is that of so many rows on.
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

// add counts what takes time: all together is more than a period can take.
func (x *sizes) add(times ...unit.Time) {
	for _, t := range times {
		x.sum = min(x.sum+t, unit.Forever)
	}
}

// findSizes finds the sizes of all turns, in this row and those to come.
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

// walk goes through the turns as they are in the first period that is not recorded, and in the one
// after that.
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

// findBlocks finds which blocks a turn moves that moves one region and then another, and of what
// sizes these are.
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

// classOf is the class of a size.
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

// figure adds what a message takes if it is of a class. It is false where that may be nothing.
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

// bytesOf is the size of a turn of a class.
func (x *sizes) bytesOf(t *turn, class int32) unit.Bytes {
	if x.classes > 1 {
		return x.bytes[class]
	}
	return t.size.bytes
}

// settleTurn counts what a turn has sent in so many periods.
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

// carries counts a message of n bytes that a link carries so many times.
func (l *link) carries(n unit.Bytes, times int64) {
	l.load += unit.Bytes(times) * n
	hi, lo := bits.Mul64(uint64(times), uint64(l.Over(n)))
	if hi > 0 || lo > uint64(unit.Forever) {
		lo = uint64(unit.Forever)
	}
	l.busy = min(l.busy+unit.Time(lo), unit.Forever)
}
