package schedule

import (
	"math/bits"
	"slices"
)

// add appends the step that combines sources, stores the value and sends it.
func (l *Lane) add(into []Region, to []int, sources ...Source) {
	isSimple := l.call(into, to, sources)
	if isSimple && l.countPending() {
		if len(into) > 0 && into[0].Buffer == work {
			l.write(into[0])
		}
		return
	}
	l.flushPending()
	s, known := l.step(into, sources), l.pending.known
	for _, rank := range to {
		s.Send = append(s.Send, l.dest(l.peer(rank, FIFO)))
	}
	if l.append(s); l.jumps {
		known = 0
	}
	l.remember(isSimple, known)
}

// step returns the step that combines sources and stores the value.
func (l *Lane) step(into []Region, sources []Source) (s Step) {
	s = l.roll.blank()
	for _, f := range sources {
		if f.Kind == Local {
			f.Region = l.resolve(f.Region, false)
		}
		if f.Kind != Message {
			f.Scale = f.Region.Buffer == Input && l.schedule.Spec.ScalesBefore()
		}
		s.From = append(s.From, f)
	}
	for _, r := range into {
		s.To = append(s.To, l.resolve(r, true))
	}
	for _, r := range into {
		if r.Buffer == work {
			l.write(r)
		}
	}
	return s
}

// append adds a step with its round, events and marks. The step before it becomes final.
func (l *Lane) append(s Step) {
	if l.err != nil {
		return
	}
	l.finish()
	l.pending.known = 0
	sends := s.Moves() && len(s.Send) > 0
	receives := s.Moves() && slices.ContainsFunc(s.From,
		func(f Source) bool { return f.Kind != Local })
	isNext := sends && l.sent || receives && l.got
	if isNext {
		l.round, l.sent, l.got = l.round+1, false, false
	}
	if l.jumps = l.asks && (!isNext || l.asked != l.round); l.jumps {
		l.round, l.sent, l.got = l.asked, false, false
	}
	l.asks = false
	l.sent, l.got = l.sent || sends, l.got || receives
	s.Round, s.Await, s.Launch = l.round, l.awaits, l.launch
	s.Scale = l.completes && l.schedule.Spec.ScalesAfter()
	if s.regions(l.wrap); l.err != nil {
		return
	}
	if err := l.checker.step(&s); err != nil {
		l.misuse("%s: %w", s.Name(), err)
	}
	l.last = l.roll.keep(s)
	l.awaits, l.completes, l.facing, l.launch = nil, false, l.Index, nil
	l.steps++
}

// finish passes the last step on to the rolled-up lane: no later call may change it.
func (l *Lane) finish() {
	l.flushPending()
	if l.last != nil {
		if l.peers != nil {
			l.named(l.last)
		}
		l.roll.add(l.last)
		l.last = nil
	}
}

// wrap reduces a region's blocks modulo their number where an author counted past it. Under a group
// all blocks count modulo their number anyway.
func (l *Lane) wrap(r *Region) {
	if r.Buffer == work {
		l.misuse("a region of another rank is named by its buffer: In, Out or Scratch")
		return
	}
	if why := l.turn.refuses(r); why != "" {
		l.misuse("%s", why)
		return
	}
	n := l.schedule.blocks[r.Buffer]
	if l.schedule.Group != nil || r.List != nil || r.Run < 1 || r.Times < 1 ||
		int64(r.Run)*int64(r.Times) > int64(n) {
		return
	}
	reach := int64(r.Period) * int64(r.Times-1)
	low := int64(r.First) + min(reach, 0)
	if high := int64(r.First) + max(reach, 0) + int64(r.Run); low >= 0 && high <= int64(n) {
		return
	}
	list := make([]int32, r.count())
	for i := range list {
		list[i] = mod(r.block(int32(i)), n)
	}
	if *r = (Region{Buffer: r.Buffer, Tile: r.Tile, List: list}); len(list) == 1 {
		r.First, r.Run, r.Times, r.List = list[0], 1, 1, nil
	}
}

// dest returns a peer as the destination of a message.
func (l *Lane) dest(peer Peer) Dest {
	return Dest{Peer: peer, Packet: l.framing == Packets, Line: l.framing == Lines}
}

// peer returns a rank as a peer, with the lane that the next step faces.
func (l *Lane) peer(rank int, c Class) Peer {
	r := mod(int32(rank), int32(l.Ranks))
	if int(r) == l.Rank {
		l.misuse("rank %d is its own peer", r)
	}
	if l.turn != nil {
		return l.turnedPeer(int(r), c)
	}
	return Peer{Rank: r, Lane: int32(l.Channel*l.Lanes + l.facing), Class: c}
}

// blocks returns the number of blocks of a buffer; of the working copy, the larger of input's and
// output's.
func (l *Lane) blocks(b Buffer) int32 {
	if b != work {
		return l.schedule.blocks[b]
	}
	return max(l.schedule.blocks[Input], l.schedule.blocks[Output])
}

// resolve returns a region of the working copy in the buffer where it is now, or where it is to be
// written.
func (l *Lane) resolve(r Region, write bool) Region {
	if r.Buffer != work {
		return r
	}
	kind := l.schedule.Spec.Kind
	if !vector(kind) && !kind.Gathers() && !kind.Scatters() {
		l.misuse("%v has no working copy: name In or Out", kind)
		return r
	}
	out := r.count()
	if !write {
		out = l.countWritten(r)
	}
	if out != 0 && out != r.count() {
		l.misuse("%d of %d chunks are still input, the others output: one step cannot take both",
			r.count()-out, r.count())
		return r
	}
	buffer, single := Input, kind.Gathers()
	if out > 0 {
		buffer, single = Output, kind.Scatters()
	}
	r.Buffer = buffer
	if !single {
		return r
	}
	// The buffer has one block: this rank's.
	if r.count() != 1 || mod(r.block(0), int32(l.Ranks)) != int32(l.self()) {
		l.misuse("chunk %d is not in this rank's %s, which has only chunk %d",
			mod(r.block(0), int32(l.Ranks)), bufferNames[buffer], l.self())
	}
	return Region{Buffer: buffer, Tile: r.Tile, Run: 1, Times: 1}
}

// runs visits the numbers of a region's blocks, among those of all tiles, as runs from … to−1.
func (l *Lane) runs(r *Region, visit func(from, to int64)) {
	n := int64(l.blocks(work))
	base := int64(r.Tile) * n
	r.runs(n, func(from, to int64) { visit(base+from, base+to) })
}

// isWritten reports whether a block of the working copy is in the output.
func (l *Lane) isWritten(block int32) bool {
	n := l.blocks(work)
	k := int64(l.tile)*int64(n) + int64(mod(block, n))
	return l.written.count(k, k+1) > 0
}

// countWritten returns how many blocks of a region of the working copy are in the output.
func (l *Lane) countWritten(r Region) (n int32) {
	l.runs(&r, func(from, to int64) { n += int32(l.written.count(from, to)) })
	return n
}

// write records that a region of the working copy is in the output.
func (l *Lane) write(r Region) {
	l.runs(&r, l.written.add)
	l.writes++
}

// runs visits a region's blocks, modulo n, as runs from … to−1.
func (r *Region) runs(n int64, visit func(from, to int64)) {
	each := int64(r.Run)
	if r.List != nil {
		each = 1
	}
	for i := int32(0); i < r.count(); i += int32(each) {
		first := int64(mod(r.block(i), int32(n)))
		end := min(first+each, n)
		visit(first, end)
		for left := each - (end - first); left > 0; left -= min(left, n) { // from the first block on
			visit(0, min(left, n))
		}
	}
}

// marks is a set of numbers as pages of bits. Most calls are near the one before, so the latest
// page is at hand.
type marks struct {
	pages map[int64]*page
	at    int64 // number of the latest page
	last  *page // nil before the first
}

// A page has a bit for each of 512 numbers.
type page [8]uint64

const pageBits = 9

// page returns the page of a number, nil if there is none.
func (m *marks) page(k int64) *page {
	if at := k >> pageBits; m.last == nil || m.at != at {
		if p := m.pages[at]; p != nil {
			m.at, m.last = at, p
		} else {
			return nil
		}
	}
	return m.last
}

// count returns how many of the numbers from … to−1 are in the set.
func (m *marks) count(from, to int64) (n int) {
	for from < to {
		mask, end := wordOf(from, to)
		if p := m.page(from); p != nil {
			n += bits.OnesCount64(p[from>>6&7] & mask)
		}
		from = end
	}
	return n
}

// add puts the numbers from … to−1 into the set.
func (m *marks) add(from, to int64) {
	for from < to {
		mask, end := wordOf(from, to)
		p := m.page(from)
		if p == nil {
			if m.pages == nil {
				m.pages = map[int64]*page{}
			}
			p = new(page)
			m.at, m.last = from>>pageBits, p
			m.pages[m.at] = p
		}
		p[from>>6&7] |= mask
		from = end
	}
}

// remove takes the numbers from … to−1 out of the set.
func (m *marks) remove(from, to int64) {
	for from < to {
		mask, end := wordOf(from, to)
		if p := m.page(from); p != nil {
			p[from>>6&7] &^= mask
		}
		from = end
	}
}

// wordOf returns the bits of the numbers from … to−1 in the word of the first, and where that word
// or they end.
func wordOf(from, to int64) (mask uint64, end int64) {
	end = min((from|63)+1, to)
	return ^uint64(0) >> (64 - (end - from)) << (from & 63), end
}
