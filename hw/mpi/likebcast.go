package mpi

import (
	"math/bits"

	"collsim/schedule"
)

// writeBroadcast is MPI_Bcast.
func (c Choice) writeBroadcast(p *schedule.Plan) (known bool) {
	ranks, root := p.Spec.Ranks, p.Spec.Root
	var t tree
	switch c.Algorithm {
	case "basic_linear":
		t, c.Segment = star(ranks, root), 0
	case "split_binary_tree":
		return c.splitBinary(p)
	case "scatter_allgather", "scatter_allgather_ring":
		if p.Spec.Count < int64(ranks) {
			c.Algorithm = "basic_linear"
			return c.writeBroadcast(p)
		}
		cut := schedule.Cut{{Axis: schedule.Block, Split: schedule.Ceil, N: int64(ranks)}}
		p.Cuts, p.Chunks = &[3]schedule.Cut{cut, cut}, ranks
		p.Lane = func(l *schedule.Lane) { scatterThenGather(l, p, c.Algorithm) }
		return true
	case "chain":
		t = chains(ranks, root, c.fanout())
	case "pipeline":
		t = chains(ranks, root, 1)
	case "binary_tree":
		t = twoWay(ranks, root)
	case "binomial":
		t = highBit(ranks, root)
	case "knomial":
		t = knomial(ranks, root, radix)
	default:
		return false
	}
	p.Segment = c.segment(&p.Spec)
	p.Lane = func(l *schedule.Lane) {
		for tile := range l.Tiles() {
			l.Tile(tile)
			handDown(l, t, l.In(0), kept(p, l.Out(0))...)
		}
	}
	return true
}

// kept is where the root of a broadcast, which has but one buffer in MPI, must have what it sends,
// too.
func kept(p *schedule.Plan, r schedule.Region) []schedule.Region {
	if p.Spec.InPlace {
		return nil
	}
	return []schedule.Region{r}
}

// handDown has the root of a tree send what it has, and others what has come, to all their children
// at once (isend to each, then a wait for all).
func handDown(l *schedule.Lane, t tree, has schedule.Region, keep ...schedule.Region) {
	if parent := t.parent[l.Rank]; parent >= 0 {
		l.Combine([]schedule.Region{l.Out(0)}, t.children[l.Rank], l.From(parent))
		return
	}
	l.Combine(keep, t.children[l.Rank], l.Local(has))
}

// scatterThenGather is a binomial scatter of as many blocks as ranks (sends that block; none of
// what has no elements), then an all_gather of them by sendrecv, empty ones too. Block v is that of
// the v-th rank from the root on.
func scatterThenGather(l *schedule.Lane, p *schedule.Plan, algorithm string) {
	ranks, v := l.Ranks, (l.Rank-l.Root+l.Ranks)%l.Ranks
	size := (p.Spec.Count + int64(ranks) - 1) / int64(ranks)
	has := func(block int) bool { return block < ranks && int64(block)*size < p.Spec.Count }
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
			l.Combine(kept(p, l.Out(d).Blocks(n)), []int{l.Rank + d}, l.Local(l.In(d).Blocks(n)))
		default:
			l.Send(l.Rank+d, l.Out(v+d).Blocks(n))
		}
	}
	// The root sends its own block first, and thereby keeps it.
	send := func(to int, r schedule.Region) { l.Send(to, r) }
	if v == 0 {
		send = func(to int, r schedule.Region) {
			if r.First == 0 && r.Run == 1 {
				l.Combine(kept(p, r), []int{to}, l.Local(l.In(0)))
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

// doublingGather: places at distance 1, 2, 4, … exchange the blocks of their subtrees. A subtree
// that has no partner for some of its places spreads what these lack.
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

// splitBinary sends each half of the data, in segments, down one side of a binary tree (sends that
// block), where places at distance 1 are in other halves; these exchange halves then by sendrecv.
// If the ranks are even, the last place gets its second half from the root.
func (c Choice) splitBinary(p *schedule.Plan) (known bool) {
	ranks, root, count := p.Spec.Ranks, p.Spec.Root, p.Spec.Count
	width := int64(p.Spec.Type.Width())
	half := [2]int64{count - count/2, count / 2}
	segment := max(half[0], 1)
	if c.Segment > 0 {
		c.Segment = max(c.Segment, width)
		segment = c.Segment / width
	}
	if half[1] == 0 || c.Segment > half[1]*width {
		c.Algorithm = "pipeline"
		return c.writeBroadcast(p)
	}
	var ends []int64
	for at := segment; at < half[0]; at += segment {
		ends = append(ends, at)
	}
	ends = append(ends, half[0])
	n := [2]int{len(ends)}
	for at := segment; at < half[1]; at += segment {
		ends = append(ends, half[0]+at)
	}
	ends = append(ends, count)
	n[1] = len(ends) - n[0]
	cutAt(p, ends)
	t := twoWay(ranks, root)
	p.Lane = func(l *schedule.Lane) {
		if l.Rank == root {
			rootOfHalves(l, p, t, n)
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
	return true
}

// rootOfHalves is what the root of splitBinary does.
func rootOfHalves(l *schedule.Lane, p *schedule.Plan, t tree, n [2]int) {
	children := t.children[l.Rank]
	for s := range n[0] {
		for side, child := range children {
			if block := side*n[0] + s; s < n[side] {
				l.Combine(kept(p, l.Out(block)), []int{child}, l.Local(l.In(block)))
			}
		}
	}
	if l.Ranks%2 == 0 {
		second := func(r schedule.Region) schedule.Region { return r.Blocks(n[1]) }
		var keep []schedule.Region
		if len(children) < 2 { // it has kept what it has sent
			keep = kept(p, second(l.Out(n[0])))
		}
		l.Combine(keep, []int{l.Rank - 1}, l.Local(second(l.In(n[0]))))
	}
}
