package openmpi

import (
	"math/bits"
	"slices"

	"collsim/schedule"
)

// writeBroadcast writes MPI_Bcast. known is false for an algorithm that is not one of Open MPI's.
func (c Choice) writeBroadcast(p *schedule.Plan) (known bool) {
	c, ends := c.settled(p.Spec.Count, p.Spec.Ranks, p.Spec.Type) // ends of blocks; nil: segments
	c.cut(p, ends)
	v := vector{count: p.Spec.Count, from: schedule.Input, keep: !p.Spec.InPlace,
		blocks: max(len(ends), 1)}
	p.Lane, known = c.broadcast(p.Spec.Ranks, p.Spec.Root, v, ends)
	return known
}

// A vector is the data of a broadcast: so many elements in so many blocks. At the root it is in the
// input, or already in the output. With keep, the root also copies its input to its output, since
// MPI's broadcast has only one buffer.
type vector struct {
	count  int64
	from   schedule.Buffer
	keep   bool
	blocks int
}

// at returns the region of a block at the root.
func (v vector) at(l *schedule.Lane, block int) schedule.Region {
	if v.from == schedule.Input {
		return l.In(block)
	}
	return l.Out(block)
}

// kept returns the destinations of the root's own copy of a region that it sends; none if it keeps
// no copy.
func (v vector) kept(r schedule.Region) []schedule.Region {
	if !v.keep {
		return nil
	}
	return []schedule.Region{r}
}

// broadcast returns what a rank does in a broadcast; ends are the ends of blocks from settled.
func (c Choice) broadcast(ranks, root int, v vector, ends []int64) (
	run func(*schedule.Lane), known bool) {
	var t tree
	switch c.Algorithm {
	case "basic_linear":
		t = star(ranks, root)
	case "split_binary_tree":
		return splitBinary(ranks, root, v, ends), true
	case "scatter_allgather", "scatter_allgather_ring":
		return func(l *schedule.Lane) { scatterThenGather(l, v, c.Algorithm) }, true
	case "chain":
		t = chains(ranks, root, c.Chains())
	case "pipeline":
		t = chains(ranks, root, 1)
	case "binary_tree":
		t = twoWay(ranks, root)
	case "binomial":
		t = highBit(ranks, root)
	case "knomial":
		t = knomial(ranks, root, Radix)
	default:
		return nil, false
	}
	return func(l *schedule.Lane) {
		for tile := range l.Tiles() {
			l.Tile(tile)
			out := l.Out(0).Blocks(v.blocks)
			handDown(l, t, out, v.at(l, 0).Blocks(v.blocks), v.kept(out)...)
		}
	}, true
}

// handDown sends data down a tree: the root sends what it has, other ranks what they received. Each
// sends to all its children at once (isend to each, then a wait for all).
func handDown(l *schedule.Lane, t tree, out, has schedule.Region, keep ...schedule.Region) {
	if parent := t.parent[l.Rank]; parent >= 0 {
		l.Combine([]schedule.Region{out}, t.children[l.Rank], l.From(parent))
		return
	}
	l.Combine(keep, t.children[l.Rank], l.Local(has))
}

// scatterThenGather writes a binomial scatter of as many blocks as ranks, with blocking sends and
// none for empty blocks. An all_gather of the blocks by sendrecv follows, empty ones too. Block v
// belongs to the v-th rank from the root on.
func scatterThenGather(l *schedule.Lane, x vector, algorithm string) {
	ranks, v := l.Ranks, (l.Rank-l.Root+l.Ranks)%l.Ranks
	size := (x.count + int64(ranks) - 1) / int64(ranks)
	has := func(block int) bool { return block < ranks && int64(block)*size < x.count }
	low := 1 << bits.Len(uint(ranks-1)) // the root's is the first power of two that is no rank
	if v > 0 {
		low = v & -v
	}
	if v > 0 && has(v) {
		l.Recv(l.Rank-low, l.Out(v).Blocks(min(low, ranks-v)))
	}
	for d := low / 2; d > 0; d /= 2 {
		n := min(d, ranks-v-d)
		switch {
		case !has(v + d):
		case v == 0:
			l.Combine(x.kept(l.Out(d).Blocks(n)), []int{l.Rank + d}, l.Local(x.at(l, d).Blocks(n)))
		default:
			l.Send(l.Rank+d, l.Out(v+d).Blocks(n))
		}
	}
	// The root sends its own block first, and thereby keeps it.
	send := func(to int, r schedule.Region) { l.Send(to, r) }
	if v == 0 {
		send = func(to int, r schedule.Region) {
			if r.First == 0 && r.Run == 1 {
				l.Combine(x.kept(r), []int{to}, l.Local(x.at(l, 0)))
				return
			}
			l.Send(to, r)
		}
	}
	if algorithm == "scatter_allgather" {
		doublingGather(l, v, send)
		return
	}
	for i := range ranks - 1 {
		send(l.Rank+1, l.Out(v-i))
		l.Recv(l.Rank-1, l.Out(v-i-1))
	}
}

// doublingGather exchanges the blocks of subtrees between places at distance 1, 2, 4, …. A subtree
// without partners for some of its places spreads the missing blocks to these.
func doublingGather(l *schedule.Lane, v int, send func(to int, r schedule.Region)) {
	first := l.Rank - v
	blocks := func(from, d int) schedule.Region {
		return l.Out(from).Blocks(min(d, l.Ranks-from))
	}
	for d := 1; d < l.Ranks; d *= 2 {
		mine, theirs := v&^(d-1), (v^d)&^(d-1)
		if theirs >= l.Ranks {
			continue
		}
		if peer := v ^ d; peer < l.Ranks {
			send(first+peer, blocks(mine, d))
			l.Recv(first+peer, blocks(theirs, d))
		}
		if theirs+d > l.Ranks {
			spread(l, v, blocks(theirs, d), l.Ranks-mine-d, d)
		}
	}
}

// settledHalves returns the ends of the segments of both halves of a split binary tree. If a half
// is too short for a segment, it returns the algorithm used instead.
func (c Choice) settledHalves(count, width int64) (Choice, []int64) {
	half := [2]int64{count - count/2, count / 2}
	segment := max(half[0], 1)
	if c.Segment > 0 {
		c.Segment = max(c.Segment, width)
		segment = c.Segment / width
	}
	if half[1] == 0 || c.Segment > half[1]*width {
		c.Algorithm = "pipeline"
		return c, nil
	}
	var ends []int64
	for at := segment; at < half[0]; at += segment {
		ends = append(ends, at)
	}
	ends = append(ends, half[0])
	for at := segment; at < half[1]; at += segment {
		ends = append(ends, half[0]+at)
	}
	return c, append(ends, count)
}

// splitBinary sends each half of the data, in segments, down one side of a binary tree with
// blocking sends. Places at distance 1 have different halves, and exchange them by sendrecv. If the
// number of ranks is even, the last place gets its second half from the root.
func splitBinary(ranks, root int, x vector, ends []int64) func(*schedule.Lane) {
	first := slices.Index(ends, x.count-x.count/2) + 1
	n := [2]int{first, len(ends) - first}
	t := twoWay(ranks, root)
	return func(l *schedule.Lane) {
		if l.Rank == root {
			rootOfHalves(l, x, t, n)
			return
		}
		v := (l.Rank - root + ranks) % ranks
		side := 1 - v%2 // 0 has the first half
		for s := range n[side] {
			segment := l.Out(side*n[0] + s)
			l.Recv(t.parent[l.Rank], segment)
			for _, child := range t.children[l.Rank] {
				l.Send(child, segment)
			}
		}
		mine := l.Out(side * n[0]).Blocks(n[side])
		other := l.Out((1 - side) * n[0]).Blocks(n[1-side])
		switch {
		case v == ranks-1 && ranks%2 == 0:
			l.Recv(root, other)
		case side == 0:
			l.Send(l.Rank+1, mine)
			l.Recv(l.Rank+1, other)
		default:
			l.Send(l.Rank-1, mine)
			l.Recv(l.Rank-1, other)
		}
	}
}

// rootOfHalves writes what the root of splitBinary does.
func rootOfHalves(l *schedule.Lane, x vector, t tree, n [2]int) {
	children := t.children[l.Rank]
	for s := range n[0] {
		for side, child := range children {
			if block := side*n[0] + s; s < n[side] {
				l.Combine(x.kept(l.Out(block)), []int{child}, l.Local(x.at(l, block)))
			}
		}
	}
	if l.Ranks%2 == 0 {
		second := func(r schedule.Region) schedule.Region { return r.Blocks(n[1]) }
		var keep []schedule.Region
		if len(children) < 2 { // it has kept what it sent
			keep = x.kept(second(l.Out(n[0])))
		}
		l.Combine(keep, []int{l.Rank - 1}, l.Local(second(x.at(l, n[0]))))
	}
}
