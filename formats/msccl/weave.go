package msccl

import (
	"fmt"
	"slices"
)

// dependence is a dependency of a step of the file. It is on a step of another thread block of the
// GPU, by index, or on a post of a lane.
type dependence struct {
	block, index int
	lane, value  int32 // of a post; lane is −1 otherwise
}

// stitch is a step of the file that has no number yet.
type stitch struct {
	step
	awaits []dependence
}

// weaver makes the thread blocks of a gpu.
type weaver struct {
	*writer
	rank   int
	blocks []block
	made   [][]stitch       // of each block
	posts  [][][]dependence // by lane and post: the steps that it stands for
}

// strand converts a lane to steps of thread blocks.
type strand struct {
	*weaver
	sockets []socket
	first   int          // block of sockets[0]
	last    int          // block of the last step, −1 before any
	ends    []dependence // dependencies of the next step: the ends of the one before
	before  []dependence // the ends before a send of several pieces, nil otherwise
	sent    []sent       // its pieces
}

// sent is a piece that a step has sent, and which may not be overwritten before.
type sent struct {
	area area
	link dependence
}

// weave makes the thread blocks of a rank.
func (x *writer) weave(rank int) (*gpu, error) {
	w := &weaver{writer: x, rank: rank}
	for i := range x.lanes[rank] {
		l := &x.lanes[rank][i]
		s := &strand{weaver: w, sockets: x.sockets(l), first: len(w.blocks), last: -1}
		if len(l.acts) == 0 {
			w.posts = append(w.posts, nil)
			continue
		}
		for _, k := range s.sockets {
			b := block{id: int32(len(w.blocks)), send: -1, receive: -1, channel: k.channel}
			if k.in >= 0 {
				b.receive = x.wires[k.in].key.from
			}
			if k.out >= 0 {
				b.send = x.wires[k.out].key.to
			}
			w.blocks = append(w.blocks, b)
			w.made = append(w.made, nil)
		}
		w.posts = append(w.posts, nil)
		for j := range l.acts {
			var next *act
			if j+1 < len(l.acts) {
				next = &l.acts[j+1]
			}
			s.act(&l.acts[j], next)
			if l.acts[j].step.Post {
				w.posts[i] = append(w.posts[i], slices.Clone(s.ends))
			}
		}
	}
	return w.finish()
}

// act adds the steps of an act, which follow those of the one before.
func (s *strand) act(a, next *act) {
	for _, e := range a.step.Await {
		if e.Value > 0 {
			s.ends = append(s.ends, dependence{lane: e.Lane, value: e.Value})
		}
	}
	chain, fan := s.split(s.rank, a)
	relaxes := next != nil && s.relaxed(a, next)
	start, waiting := s.ends, s.before
	s.before = nil
	if relaxes {
		s.before = append([]dependence{}, start...)
	}
	for i, o := range chain {
		if waiting != nil && i == 0 && s.socket(o) != s.last {
			awaited := slices.Clone(waiting)
			for _, e := range s.ends { // dependencies of the act itself
				if e.lane >= 0 {
					awaited = append(awaited, e)
				}
			}
			before := s.ends
			s.ends = append(s.pieces(a, o, awaited, s.sent), before...)
			continue
		}
		s.ends = s.pieces(a, o, s.ends, nil)
	}
	if len(fan) > 0 {
		var ends []dependence
		from := s.ends
		for _, o := range fan {
			ends = append(ends, s.pieces(a, o, from, nil)...)
		}
		s.ends = ends
	}
}

// pieces adds the steps of an op, one for each piece. The first waits for ends, and each for the
// sent pieces that it overwrites. It returns the end of the last.
func (s *strand) pieces(a *act, o op, ends []dependence, before []sent) []dependence {
	at := s.socket(o)
	s.last = at
	if o.kind == send {
		s.sent = s.sent[:0:0]
	}
	parts := s.writer.pieces(a)
	if o.kind.sends() && len(parts) > 1 {
		s.writer.apart.messages++
		s.writer.apart.sends += len(parts)
	}
	for i, p := range parts {
		made := stitch{step: step{kind: o.kind, count: int32((p.to - p.from) / s.grain),
			from: operand{input, -1}, to: operand{output, -1}, waitBlock: -1, waitFor: -1}}
		if o.kind.reads() {
			made.from = s.place(o.from, p)
		}
		if o.kind.writes() {
			made.to = s.place(o.to, p)
		}
		if i == 0 {
			made.awaits = slices.Clone(ends)
		}
		for _, b := range before {
			if s.overlapOn(s.rank, s.part(o.to, p), b.area) {
				made.awaits = append(made.awaits, b.link)
			}
		}
		here := dependence{block: at, index: len(s.made[at]), lane: -1}
		if o.kind == send {
			s.sent = append(s.sent, sent{s.part(o.from, p), here})
		}
		s.made[at] = append(s.made[at], made)
	}
	return []dependence{{block: at, index: len(s.made[at]) - 1, lane: -1}}
}

// part returns a piece of an area; it is within one span.
func (x *writer) part(a area, p piece) area {
	at := p.from
	for _, span := range a.spans {
		if at < span.Len {
			span.Off, span.Len = span.Off+at, p.to-p.from
			return area{a.buffer, append(a.spans[:0:0], span)}
		}
		at -= span.Len
	}
	panic("msccl: a piece outside its region")
}

// socket returns the block that executes an op: that of its wires. Copies run on the block of the
// step before, or of the first wire.
func (s *strand) socket(o op) int {
	for i, k := range s.sockets {
		if o.in >= 0 && k.in == o.in || o.out >= 0 && k.out == o.out {
			return s.first + i
		}
	}
	return max(s.first, s.last)
}

// finish turns dependencies into waits for steps of other blocks, and numbers the steps.
func (w *weaver) finish() (*gpu, error) {
	needs := make([][][]wait, len(w.made))  // of each step: block and index of those it waits for
	numbers := make([][]int32, len(w.made)) // of each step, counting the nops before it
	flagged := make([]map[int32]bool, len(w.made))
	for b := range w.made {
		flagged[b] = map[int32]bool{}
	}
	for b := range w.made {
		number := int32(-1)
		reached := map[int32]int32{} // block → the last step known to have ended, plus 1
		for i := range w.made[b] {
			waits, err := w.resolve(w.made[b][i].awaits, int32(b), reached)
			if err != nil {
				return nil, err
			}
			for _, n := range waits {
				flagged[n.block][n.step] = true
			}
			number += int32(max(1, len(waits)))
			needs[b] = append(needs[b], waits)
			numbers[b] = append(numbers[b], number)
		}
	}
	for b := range w.made {
		for i := range w.made[b] {
			w.emit(b, i, needs[b][i], numbers)
			steps := w.blocks[b].steps
			steps[len(steps)-1].flag = flagged[b][int32(i)]
		}
	}
	return &gpu{id: int32(w.rank), blocks: w.used()}, nil
}

// used returns the blocks that have steps, numbered from 0. A block with copies onto themselves
// only has none.
func (w *weaver) used() []block {
	id, used := make([]int32, len(w.blocks)), w.blocks[:0:0]
	for b := range w.blocks {
		if id[b] = int32(len(used)); len(w.blocks[b].steps) > 0 {
			w.blocks[b].id = id[b]
			used = append(used, w.blocks[b])
		}
	}
	for b := range used {
		for i := range used[b].steps {
			if s := &used[b].steps[i]; s.waitBlock >= 0 {
				s.waitBlock = id[s.waitBlock]
			}
		}
	}
	return used
}

// emit adds a step to its block, after a nop for each wait but the last.
func (w *weaver) emit(b, i int, waits []wait, numbers [][]int32) {
	to := &w.blocks[b].steps
	s := w.made[b][i].step
	for k, n := range waits {
		at := step{kind: nop, from: operand{input, -1}, to: operand{output, -1}}
		if k == len(waits)-1 {
			at = s
		}
		at.waitBlock, at.waitFor = n.block, numbers[n.block][n.step]
		at.number = int32(len(*to))
		*to = append(*to, at)
	}
	if len(waits) == 0 {
		s.number = int32(len(*to))
		*to = append(*to, s)
	}
}

// resolve returns the remaining waits of a step: for the latest step of each other block, unless
// the block has waited for it before.
func (w *weaver) resolve(links []dependence, own int32, reached map[int32]int32) ([]wait, error) {
	latest := map[int32]int32{}
	var order []int32
	var visit func(l dependence, depth int) error
	visit = func(l dependence, depth int) error {
		if l.lane < 0 {
			b := int32(l.block)
			if _, ok := latest[b]; !ok {
				order = append(order, b)
			}
			latest[b] = max(latest[b], int32(l.index)+1)
			return nil
		}
		if int(l.lane) >= len(w.posts) || int(l.value) > len(w.posts[l.lane]) {
			return fmt.Errorf("rank %d: a step awaits post %d of lane %d, which has fewer", w.rank,
				l.value, l.lane)
		}
		if depth > len(w.made)+1 {
			return fmt.Errorf("rank %d: lanes await one another in a circle", w.rank)
		}
		for _, next := range w.posts[l.lane][l.value-1] {
			if err := visit(next, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	for _, l := range links {
		if err := visit(l, 0); err != nil {
			return nil, err
		}
	}
	slices.Sort(order)
	var waits []wait
	for _, b := range order {
		if b != own && latest[b] > reached[b] {
			reached[b] = latest[b]
			waits = append(waits, wait{b, latest[b] - 1})
		}
	}
	return waits, nil
}
