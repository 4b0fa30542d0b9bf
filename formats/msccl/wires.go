package msccl

import "slices"

// A thread block has one channel and at most one wire each way. A step that receives and sends is
// one of the file only if both of its wires belong to the same thread block, and then they are of
// one channel; wires between the same two gpus must be of different channels. So wires that are
// passed on to one another form a net, and each net gets the lowest channel that is free on all its
// wires.

// pair decides which wires are passed on to which: the first pair that a lane uses, if no two wires
// of the net that it makes run between the same gpus.
func (x *writer) pair() {
	n := nets{parent: make([]int, len(x.wires)), ways: make([][][2]int32, len(x.wires)),
		taken: map[netWay]bool{}}
	for w := range x.wires {
		n.parent[w] = w
		n.ways[w] = [][2]int32{x.wires[w].way()}
		n.taken[netWay{w, x.wires[w].way()}] = true
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

// way is the gpus that a wire runs between.
func (w *wire) way() [2]int32 { return [2]int32{w.key.from, w.key.to} }

// tune gives a net the lowest channel that is free on all its ways.
func (x *writer) tune(net []int, used map[[2]int32][]int32) {
	channel := int32(0)
	for i := 0; i < len(net); i++ {
		if slices.Contains(used[x.wires[net[i]].way()], channel) {
			channel, i = channel+1, -1
		}
	}
	for _, w := range net {
		x.wires[w].channel = channel
		used[x.wires[w].way()] = append(used[x.wires[w].way()], channel)
	}
}

// nets are sets of wires of one channel each.
type nets struct {
	parent []int
	ways   [][][2]int32 // of roots
	taken  map[netWay]bool
}

// netWay is a way of a root's net.
type netWay struct {
	root int
	way  [2]int32
}

func (n *nets) root(w int) int {
	for n.parent[w] != w {
		n.parent[w] = n.parent[n.parent[w]]
		w = n.parent[w]
	}
	return w
}

// unite makes one net of two, unless they have a way in common.
func (n *nets) unite(a, b int) bool {
	a, b = n.root(a), n.root(b)
	if a == b {
		return true
	}
	if len(n.ways[a]) < len(n.ways[b]) {
		a, b = b, a
	}
	for _, way := range n.ways[b] {
		if n.taken[netWay{a, way}] {
			return false
		}
	}
	for _, way := range n.ways[b] {
		n.taken[netWay{a, way}] = true
	}
	n.ways[a] = append(n.ways[a], n.ways[b]...)
	n.parent[b], n.ways[b] = a, nil
	return true
}

// socket is a thread block of a lane: its wires, −1 for none.
type socket struct {
	in, out int
	channel int32
}

// sockets are the thread blocks of a lane: one for each pair of wires, for each other wire, and, if
// it has none, for its copies. Unless some of its receives are not to wait for its sends, an end
// that only receives is put together with one that only sends on the same channel, in order of use.
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

// merge puts together ends that only receive and ends that only send.
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

// relaxes reports whether the lane has a send of several pieces that a receive follows: then the
// receive of each piece waits only for what it overwrites, since all ranks that first send all
// pieces would need a place for each.
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

// receives is the number of messages that the act takes.
func (a *act) receives() int {
	n := 0
	for _, w := range a.in {
		if w >= 0 {
			n++
		}
	}
	return n
}
