package openmpi

import (
	"collsim/dtype"
	"collsim/schedule"
)

// regions are the operands of a reduction: a rank's own vector, where sums are made, and where the
// root wants the result.
type regions struct{ own, sum, result schedule.Region }

// writeReduce writes MPI_Reduce.
func (c Choice) writeReduce(p *schedule.Plan) (known bool) {
	c, ends := c.settled(p.Spec.Count, p.Spec.Ranks, p.Spec.Type)
	c.cut(p, ends)
	p.Scratch = max(len(ends), 1)
	reduce, known := c.reduction(p.Spec.Ranks, p.Spec.Root)
	p.Lane = func(l *schedule.Lane) {
		for t := range l.Tiles() {
			l.Tile(t)
			r := regions{own: l.In(0).Blocks(p.Scratch), sum: l.Scratch(0).Blocks(p.Scratch)}
			if l.Rank == l.Root {
				r.result = l.Out(0).Blocks(p.Scratch)
			}
			reduce(l, r)
		}
	}
	return known
}

// settled returns what the library really executes for a reduce or a broadcast of so many elements.
// Some algorithms give way to others if these are few. It also returns the ends of the blocks that
// it cuts them into, if it does.
func (c Choice) settled(count int64, ranks int, typ dtype.Type) (Choice, []int64) {
	least, instead := int64(ranks), "basic_linear"
	var ends []int64
	switch c.Algorithm {
	case "rabenseifner":
		q := foldOf(ranks, 0).q
		least, instead = int64(q), "linear"
		ends = halves(count, q)
	case "scatter_allgather", "scatter_allgather_ring":
		size := (count + least - 1) / least
		for i := range least {
			ends = append(ends, min((i+1)*size, count))
		}
	case "split_binary_tree":
		return c.settledHalves(count, int64(typ.Width()))
	}
	if ends != nil && count < least {
		c.Algorithm, ends = instead, nil
	}
	if c.Algorithm == "linear" || c.Algorithm == "basic_linear" {
		c.Segment = 0
	}
	return c, ends
}

// cut cuts a vector into blocks, or else into segments.
func (c Choice) cut(p *schedule.Plan, ends []int64) {
	if ends != nil {
		cutAt(p, ends)
		return
	}
	p.Segment = c.segment(&p.Spec)
}

// reduction returns what a rank does in a reduce.
func (c Choice) reduction(ranks, root int) (run func(*schedule.Lane, regions), known bool) {
	var t tree
	switch c.Algorithm {
	case "linear":
		return func(l *schedule.Lane, r regions) { linearReduce(l, r, root) }, true
	case "rabenseifner":
		return rabenseifnerReduce, true
	case "chain":
		t = chains(ranks, root, c.Chains())
	case "pipeline":
		t = chains(ranks, root, 1)
	case "binary":
		t = twoWay(ranks, root)
	case "binomial":
		t = binomial(ranks, root)
	case "in-order_binary":
		t = inOrder(ranks)
		return func(l *schedule.Lane, r regions) { inOrderReduce(l, r, root, t) }, true
	default:
		return nil, false
	}
	return func(l *schedule.Lane, r regions) { treeReduce(l, r, t) }, true
}

// linearReduce makes the root add all vectors from the last rank's to the first's, each as the left
// operand. Sends and receives block.
func linearReduce(l *schedule.Lane, r regions, root int) {
	if l.Rank != root {
		l.Send(root, r.own)
		return
	}
	sum := l.Local(r.own)
	if last := l.Ranks - 1; last != root {
		l.Recv(last, r.sum)
		sum = l.Local(r.sum)
	}
	for rank := l.Ranks - 2; rank >= 0; rank-- {
		next, into := l.Local(r.own), r.sum
		if rank != root {
			next = l.From(rank)
		}
		if rank == 0 {
			into = r.result
		}
		l.Combine([]schedule.Region{into}, nil, next, sum)
		sum = l.Local(into)
	}
}

// treeReduce makes each rank combine its own vector with its first child's, then the next child's
// with that, and send the sum to its parent.
func treeReduce(l *schedule.Lane, r regions, t tree) {
	parent, children := t.parent[l.Rank], t.children[l.Rank]
	if len(children) == 0 {
		l.Send(parent, r.own)
		return
	}
	for i, child := range children {
		sources := []schedule.Source{l.From(child), l.Local(r.sum)}
		if i == 0 {
			sources = []schedule.Source{l.Local(r.own), l.From(child)}
		}
		switch last := i == len(children)-1; {
		case !last:
			l.Combine([]schedule.Region{r.sum}, nil, sources...)
		case parent < 0:
			l.Combine([]schedule.Region{r.result}, nil, sources...)
		default:
			l.Combine(nil, []int{parent}, sources...)
		}
	}
}

// inOrderReduce reduces along the tree whose root is the last rank, which sends the result to the
// root.
func inOrderReduce(l *schedule.Lane, r regions, root int, t tree) {
	last := l.Ranks - 1
	result := r.result
	if l.Rank == last && last != root {
		r.result = r.sum
	}
	treeReduce(l, r, t)
	switch {
	case last == root:
	case l.Rank == last:
		l.Send(root, r.sum)
	case l.Rank == root:
		l.Recv(last, result)
	}
}

// rabenseifnerReduce halves windows at distance 1, 2, 4, …, then gathers them at the root.
func rabenseifnerReduce(l *schedule.Lane, r regions) {
	f := foldOf(l.Ranks, 0)
	l.Copy(r.sum, r.own)
	me, root := f.number(l.Rank), f.number(l.Root)
	foldHalves(l, f, l.Scratch)
	window := 0
	if me >= 0 {
		window = halveWindows(l, f, me, l.Scratch)
	}
	if root < 0 { // it represents number 0, whose window it gets
		root = 0
		switch l.Rank {
		case l.Root:
			l.Recv(0, l.Scratch(0))
			me = 0
		case 0:
			l.Send(l.Root, l.Scratch(0))
			me = -1
		}
	}
	if me >= 0 {
		gatherWindows(l, f, me, root, window)
	}
	if l.Rank == l.Root && r.result.Buffer != schedule.Scratch { // where the sum is
		l.Copy(r.result, r.sum)
	}
}

// gatherWindows sends windows towards a number at distance q/2, …, 2, 1.
func gatherWindows(l *schedule.Lane, f fold, me, root, window int) {
	for d, n := f.q/2, 1; d > 0; d, n = d/2, 2*n {
		peer := f.rank(me ^ d)
		if (me^d) == 0 && f.number(l.Root) < 0 {
			peer = l.Root
		}
		if (me^d)&^(d-1) == root&^(d-1) {
			l.Send(peer, l.Scratch(window).Blocks(n))
			return
		}
		l.Recv(peer, l.Scratch(window^n).Blocks(n))
		window &^= n
	}
}

// foldHalves makes the pairs exchange halves of their vectors and add, and leaves the sum with the
// even rank.
func foldHalves(l *schedule.Lane, f fold, block func(int) schedule.Region) {
	if l.Rank >= 2*f.rest {
		return
	}
	h := f.q / 2
	low, high, peer := block(0).Blocks(h), block(h).Blocks(f.q-h), l.Rank^1
	if l.Rank%2 == 1 {
		l.Send(peer, low)
		l.Combine([]schedule.Region{high}, []int{peer}, l.From(peer), l.Local(high))
		return
	}
	l.Send(peer, high)
	l.Combine([]schedule.Region{low}, nil, l.From(peer), l.Local(low))
	l.Recv(peer, high)
}

// halveWindows leaves a number with the sum of one window, which it returns. Partners at distance
// 1, 2, 4, … send each other the half that the other keeps, and add; the message is the left
// operand.
func halveWindows(l *schedule.Lane, f fold, me int, block func(int) schedule.Region) (window int) {
	for d, n := 1, f.q/2; d < f.q; d, n = 2*d, n/2 {
		peer, keep, give := f.rank(me^d), window, window+n
		if me&d != 0 {
			keep, give = give, keep
		}
		l.Send(peer, block(give).Blocks(n))
		kept := block(keep).Blocks(n)
		l.Combine([]schedule.Region{kept}, nil, l.From(peer), l.Local(kept))
		window = keep
	}
	return window
}
