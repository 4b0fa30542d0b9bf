package msccl

import "slices"

// A thread block has one channel and at most one wire in each direction. A step that receives and
// sends is thus one step of the file only if its two wires belong to one thread block. Wires
// between the same two GPUs need different channels. So wires that forward to one another form a
// net, and each net gets the lowest channel that is free on all its wires.

// pair decides which wires forward to which: the first pair that a lane uses, unless two wires of
// the resulting net connect the same GPUs.
func (x *writer) pair() {
	n := nets{parent: make([]int, len(x.wires)), pairs: make([][][2]int32, len(x.wires)),
		taken: map[netPair]bool{}}
	for w := range x.wires {
		n.parent[w] = w
		n.pairs[w] = [][2]int32{x.wires[w].gpus()}
		n.taken[netPair{w, x.wires[w].gpus()}] = true
	}
	_ = x.each(func(a *act) error {
		in, out, ok := a.passes()
		if ok && x.wires[in].pairedOut < 0 && x.wires[out].pairedIn < 0 && n.unite(in, out) {
			x.wires[in].pairedOut, x.wires[out].pairedIn = out, in
		}
		return nil
	})
	members := make([][]int, len(x.wires))
	for w := range x.wires {
		root := n.root(w)
		members[root] = append(members[root], w)
	}
	used := map[[2]int32][]int32{}
	for w := range x.wires { // nets in the order of their first wires
		if net := members[n.root(w)]; net[0] == w {
			x.tune(net, used)
		}
	}
}

// gpus returns the GPUs that a wire connects.
func (w *wire) gpus() [2]int32 { return [2]int32{w.key.from, w.key.to} }

// tune gives a net the lowest channel that is free between all its pairs of GPUs.
func (x *writer) tune(net []int, used map[[2]int32][]int32) {
	channel := int32(0)
	for i := 0; i < len(net); i++ {
		if slices.Contains(used[x.wires[net[i]].gpus()], channel) {
			channel, i = channel+1, -1
		}
	}
	for _, w := range net {
		x.wires[w].channel = channel
		used[x.wires[w].gpus()] = append(used[x.wires[w].gpus()], channel)
	}
}

// nets is a union-find of wires that share a channel.
type nets struct {
	parent []int
	pairs  [][][2]int32 // pairs of GPUs, of roots
	taken  map[netPair]bool
}

// netPair is a pair of GPUs that the net of a root connects.
type netPair struct {
	root int
	pair [2]int32
}

func (n *nets) root(w int) int {
	for n.parent[w] != w {
		n.parent[w] = n.parent[n.parent[w]]
		w = n.parent[w]
	}
	return w
}

// unite joins two nets, unless they connect a common pair of GPUs.
func (n *nets) unite(a, b int) bool {
	a, b = n.root(a), n.root(b)
	if a == b {
		return true
	}
	if len(n.pairs[a]) < len(n.pairs[b]) {
		a, b = b, a
	}
	for _, pair := range n.pairs[b] {
		if n.taken[netPair{a, pair}] {
			return false
		}
	}
	for _, pair := range n.pairs[b] {
		n.taken[netPair{a, pair}] = true
	}
	n.pairs[a] = append(n.pairs[a], n.pairs[b]...)
	n.parent[b], n.pairs[b] = a, nil
	return true
}

// socket is a thread block of a lane: its wires, −1 for none.
type socket struct {
	in, out int
	channel int32
}

// sockets returns the thread blocks of a lane: one for each pair of wires, one for each other wire
// and, if the lane has none, one for its copies. Blocks that only receive are merged with blocks
// that only send on the same channel, in order of use. They stay apart if some receives must not
// wait for sends of the lane.
func (x *writer) sockets(l *lane) []socket {
	var all []socket
	seen := map[[2]int]bool{} // wire, and which end
	for i := range l.acts {
		a := &l.acts[i]
		for _, w := range a.in {
			if w >= 0 && !seen[[2]int{w, 0}] {
				s := socket{w, x.wires[w].pairedOut, x.wires[w].channel}
				seen[[2]int{w, 0}], seen[[2]int{s.out, 1}] = true, true
				all = append(all, s)
			}
		}
		for _, w := range a.out {
			if !seen[[2]int{w, 1}] {
				s := socket{x.wires[w].pairedIn, w, x.wires[w].channel}
				seen[[2]int{w, 1}], seen[[2]int{s.in, 0}] = true, true
				all = append(all, s)
			}
		}
	}
	if !x.relaxes(l) {
		all = merge(all)
	}
	if len(all) == 0 {
		all = []socket{{-1, -1, 0}}
	}
	return all
}

// merge merges blocks that only receive with blocks that only send.
func merge(all []socket) []socket {
	var merged []socket
	for _, s := range all {
		fits := func(o socket) bool {
			return o.channel == s.channel && (o.in < 0 && s.out < 0 || o.out < 0 && s.in < 0)
		}
		if i := slices.IndexFunc(merged, fits); i >= 0 {
			merged[i].in, merged[i].out = max(merged[i].in, s.in), max(merged[i].out, s.out)
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// relaxes reports whether a receive of the lane follows a send of several pieces. Then the receive
// of each piece waits only for the pieces that it overwrites. If all ranks first sent all pieces,
// they would need a slot for each.
func (x *writer) relaxes(l *lane) bool {
	for i := 1; i < len(l.acts); i++ {
		if x.relaxed(&l.acts[i-1], &l.acts[i]) {
			return true
		}
	}
	return false
}

func (x *writer) relaxed(a, b *act) bool {
	return len(a.out) == 1 && len(a.in) == 1 && a.in[0] < 0 && len(a.to) == 0 &&
		len(x.pieces(a)) > 1 && len(b.out) == 0 && len(b.to) == 1 && b.receives() == 1 &&
		x.wires[a.out[0]].pairedIn < 0
}

// receives returns the number of messages that the act receives.
func (a *act) receives() int {
	n := 0
	for _, w := range a.in {
		if w >= 0 {
			n++
		}
	}
	return n
}
