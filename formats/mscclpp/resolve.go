package mscclpp

import (
	"slices"

	"collsim/schedule"
)

// operand is a range of elements that an operation reads or writes, with the rank or the team that
// owns them.
type operand struct {
	letter byte // as in operation
	rank   int32
	team   []int32 // of s and S
	buffer schedule.Buffer
	index  int64 // chunks
	size   int64
	off, n int64 // elements, once the size is known

	peer schedule.Peer // of a put: the lane that observes it; of a message: its sender
	loud bool          // the put has a message
}

// wiring holds a GPU's channels, by their numbers.
type wiring struct {
	peers [4][]int32 // of memory and port channels
	other [4][]int32 // the peer's number of the same channel, −1 if it has none
	teams []team     // of switch channels
}

type team struct {
	buffer schedule.Buffer
	ranks  []int32 // ascending
}

// resolve replaces every index of the plan by the object that it names.
func (l *lowering) resolve() error {
	l.ghosts = make([]ghost, len(l.plan.gpus))
	l.wires = make([]wiring, len(l.plan.gpus))
	for rank := range l.plan.gpus {
		if err := l.wire(rank); err != nil {
			return err
		}
	}
	l.join()
	for rank := range l.plan.gpus {
		g := &l.plan.gpus[rank]
		for b := range g.blocks {
			if err := l.resolveOps(g, &g.blocks[b], g.blocks[b].ops); err != nil {
				return err
			}
		}
	}
	return nil
}

// wire numbers a GPU's channels.
func (l *lowering) wire(rank int) error {
	g, w := &l.plan.gpus[rank], &l.wires[rank]
	isRank := func(r int64) bool { return r < int64(len(l.plan.gpus)) && r != int64(rank) }
	for _, c := range g.channels {
		for _, peer := range c.peers {
			if !isRank(int64(peer)) {
				return at(c.line, "gpu %d has a channel to %d, which is none of the others", rank, peer)
			}
			w.peers[c.kind] = append(w.peers[c.kind], peer)
		}
		for _, group := range c.groups {
			ranks := slices.Clone(group)
			slices.Sort(ranks)
			if len(ranks) == 0 || int(ranks[len(ranks)-1]) >= len(l.plan.gpus) ||
				len(slices.Compact(slices.Clone(ranks))) != len(ranks) ||
				!slices.Contains(ranks, int32(rank)) {
				return at(c.line, "a switch channel of gpu %d joins ranks %v; it and others, each once, "+
					"were expected", rank, group)
			}
			w.teams = append(w.teams, team{c.buffer, ranks})
		}
	}
	for _, b := range g.remotes {
		if !isRank(b.rank) {
			return at(b.line, "gpu %d has a remote buffer of %d, which is none of the others", rank, b.rank)
		}
	}
	return nil
}

// join finds the other end of every channel: the k-th of rank r to rank q meets the k-th of q to r.
func (l *lowering) join() {
	type end struct{ from, to int32 }
	for k := memoryChannel; k <= portChannel; k++ {
		ends := map[end][]int32{}
		for rank := range l.wires {
			for i, peer := range l.wires[rank].peers[k] {
				key := end{int32(rank), peer}
				ends[key] = append(ends[key], int32(i))
			}
		}
		for rank := range l.wires {
			w, seen := &l.wires[rank], map[int32]int{}
			for _, peer := range w.peers[k] {
				other := int32(-1)
				if back := ends[end{peer, int32(rank)}]; seen[peer] < len(back) {
					other = back[seen[peer]]
				}
				seen[peer]++
				w.other[k] = append(w.other[k], other)
			}
		}
	}
}

// resolveOps resolves the operations of a block.
func (l *lowering) resolveOps(g *gpu, b *block, ops []op) error {
	for i := range ops {
		o := &ops[i]
		if err := l.resolveChannels(g, b, o); err != nil {
			return err
		}
		if err := l.resolveOperands(g, b, o); err != nil {
			return err
		}
		for _, s := range o.sems {
			if int(s) >= len(g.semaphores) {
				return at(o.line, "semaphore %d; gpu %d has %d", s, g.id, len(g.semaphores))
			}
		}
		if err := l.resolveOps(g, b, o.body); err != nil {
			return err
		}
	}
	return nil
}

// resolveChannels numbers an operation's channels among the GPU's.
func (l *lowering) resolveChannels(g *gpu, b *block, o *op) error {
	mine := b.channels[o.kind]
	if o.kind == switchChannel {
		return nil // operands name them
	}
	for _, c := range o.channels {
		if int(c) >= len(mine) {
			return at(o.line, "%s over channel %d; the thread block has %d of type %s", o.what.name, c,
				len(mine), kindNames[o.kind])
		}
		if have := len(l.wires[g.id].peers[o.kind]); int(mine[c]) >= have {
			return at(b.line, "the thread block uses %s channel %d; gpu %d has %d", kindNames[o.kind],
				mine[c], g.id, have)
		}
		o.wires = append(o.wires, mine[c])
	}
	return nil
}

// resolveOperands finds the owners of the elements that an operation reads and writes.
func (l *lowering) resolveOperands(g *gpu, b *block, o *op) error {
	src, dst := o.pattern()
	for side, refs := range [2][]ref{o.src, o.dst} {
		pattern := [2]string{src, dst}[side]
		if len(refs) < least(pattern) {
			return at(o.line, "%s of %d sources and %d destinations is too few", o.what.name,
				len(o.src), len(o.dst))
		}
		for i := range refs {
			x, err := l.operand(g, b, o, &refs[i], letter(pattern, i))
			if err != nil {
				return err
			}
			if side == 0 {
				o.in = append(o.in, x)
			} else {
				o.out = append(o.out, x)
			}
		}
	}
	return l.checkShape(g, o)
}

// operand resolves one reference.
func (l *lowering) operand(g *gpu, b *block, o *op, r *ref, is byte) (operand, error) {
	x := operand{letter: is, rank: int32(g.id), buffer: r.buffer, index: r.index, size: r.size}
	want := map[byte]byte{'l': 'l', 'p': 'l', 'q': 'l', 'r': 'r', 'R': 'r', 's': 's', 'S': 's'}[is]
	switch {
	case is == 0:
		return x, at(r.line, "%s has too many buffers", o.what.name)
	case r.space != want:
		key := map[byte]string{'l': "type", 'r': "buffer_id", 's': "switch_channel_id"}[want]
		return x, at(r.line, "a buffer of %s is named by %s here", o.what.name, key)
	case r.rank >= 0 && r.rank != g.id:
		return x, at(r.line, "gpu %d names a buffer of rank %d as its own", g.id, r.rank)
	case want == 'r':
		mine := b.remotes[o.kind]
		if r.id >= int64(len(mine)) || int(mine[r.id]) >= len(g.remotes) {
			return x, at(r.line, "remote buffer %d over %s; the thread block refers to %d, gpu %d has %d",
				r.id, kindNames[o.kind], len(mine), g.id, len(g.remotes))
		}
		remote := &g.remotes[mine[r.id]]
		if !remote.access[o.kind] {
			return x, at(r.line, "the remote buffer is not reached over %s channels", kindNames[o.kind])
		}
		x.rank, x.buffer = int32(remote.rank), remote.buffer
	case want == 's':
		mine, teams := b.channels[switchChannel], l.wires[g.id].teams
		if r.id >= int64(len(mine)) || int(mine[r.id]) >= len(teams) {
			return x, at(r.line, "switch channel %d; the thread block uses %d, gpu %d has %d", r.id,
				len(mine), g.id, len(teams))
		}
		if t := teams[mine[r.id]]; o.what.unknown && t.buffer != x.buffer {
			return x, at(r.line, "%s of a buffer that its channel does not join", o.what.name)
		} else {
			x.team, x.buffer = t.ranks, t.buffer
		}
	}
	return x, l.checkRange(r, &x)
}

// checkRange refuses chunks that do not exist, and packets outside of scratch.
func (l *lowering) checkRange(r *ref, x *operand) error {
	packets := x.letter == 'p' || x.letter == 'q' || x.letter == 'R' || x.letter == 'S'
	if packets && x.buffer != schedule.Scratch {
		return at(r.line, "packets in %v; they lie in scratch buffers", x.buffer)
	}
	owners := x.team
	if owners == nil {
		owners = []int32{x.rank}
	}
	for _, rank := range owners {
		if have := l.plan.gpus[rank].chunks[x.buffer]; x.index+x.size > have {
			return at(r.line, "chunks %d to %d of %v of rank %d, which has %d", x.index,
				x.index+x.size-1, x.buffer, rank, have)
		}
	}
	return nil
}

// checkShape refuses operands of an operation that do not match each other.
func (l *lowering) checkShape(g *gpu, o *op) error {
	if o.what.pairs && len(o.in) != len(o.out) {
		return at(o.line, "%s of %d sources to %d destinations; as many are needed", o.what.name,
			len(o.in), len(o.out))
	}
	for i := range o.in {
		like := &o.in[0]
		if o.what.pairs {
			like = &o.out[i]
		}
		if o.in[i].size != like.size {
			return at(o.line, "%s of sources and destinations of different sizes", o.what.name)
		}
		if o.what.name != "get" && o.what.pairs && o.kind == memoryChannel &&
			o.in[i].buffer != o.in[0].buffer {
			return at(o.line, "%s over memory channels reads several buffers; the executor takes all "+
				"from that of the first", o.what.name)
		}
		if o.what.name == "get" && o.in[i].index != o.out[i].index {
			l.note("get with different offsets: the executor exchanges the two (line %d); "+
				"what the plan says is verified", o.line)
		}
	}
	for i := range o.out {
		if !o.what.pairs && o.out[i].size != o.in[0].size {
			return at(o.line, "%s of sources and destinations of different sizes", o.what.name)
		}
		if o.kind != portChannel {
			continue
		}
		if i >= len(o.wires) || l.wires[g.id].peers[portChannel][o.wires[i]] != o.out[i].rank {
			return at(o.line, "%s to rank %d needs a port channel to it, as many as destinations",
				o.what.name, o.out[i].rank)
		}
	}
	return nil
}
