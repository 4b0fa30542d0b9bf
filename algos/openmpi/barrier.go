package openmpi

import "collsim/schedule"

// writeBarrier writes MPI_Barrier. Its messages are empty: signals.
func (c Choice) writeBarrier(p *schedule.Plan) (known bool) {
	switch c.Algorithm {
	case "linear":
		p.Lane = linearBarrier
	case "double_ring":
		p.Lane = doubleRing
	case "recursive_doubling":
		p.Lane = doublingBarrier
	case "bruck", "two_proc":
		p.Group = schedule.Rotations(p.Spec.Ranks)
		p.Lane = func(l *schedule.Lane) {
			for d := 1; d < l.Ranks; d *= 2 {
				l.Signal(l.Rank + d)
				l.Wait(l.Rank - d)
			}
		}
	case "tree":
		t := binomial(p.Spec.Ranks, 0)
		p.Lane = func(l *schedule.Lane) { treeBarrier(l, t) }
	default:
		return false
	}
	return true
}

// linearBarrier makes all ranks signal to rank 0 (which receives from any), and rank 0 answer.
func linearBarrier(l *schedule.Lane) {
	if l.Rank > 0 {
		l.Signal(0)
		l.Wait(0)
		return
	}
	for rank := 1; rank < l.Ranks; rank++ {
		l.Wait(rank)
	}
	for rank := 1; rank < l.Ranks; rank++ {
		l.Signal(rank)
	}
}

// doubleRing sends a message round the ring twice, from rank 0.
func doubleRing(l *schedule.Lane) {
	for range 2 {
		if l.Rank > 0 {
			l.Wait(l.Rank - 1)
		}
		l.Signal(l.Rank + 1)
		if l.Rank == 0 {
			l.Wait(l.Rank - 1)
		}
	}
}

// doublingBarrier exchanges signals at distance 1, 2, 4, … among the first power of two ranks. Each
// of the others signals to one of these before, and gets a signal from it afterwards.
func doublingBarrier(l *schedule.Lane) {
	q := foldOf(l.Ranks, 0).q
	if l.Rank >= q {
		l.Signal(l.Rank - q)
		l.Wait(l.Rank - q)
		return
	}
	other := l.Rank + q
	if other < l.Ranks {
		l.Wait(other)
	}
	for d := 1; d < q; d *= 2 {
		l.Signal(l.Rank ^ d)
		l.Wait(l.Rank ^ d)
	}
	if other < l.Ranks {
		l.Signal(other)
	}
}

// treeBarrier goes up a binomial tree to rank 0 and back down, the largest subtree first.
func treeBarrier(l *schedule.Lane, t tree) {
	parent, children := t.parent[l.Rank], t.children[l.Rank]
	for _, child := range children {
		l.Wait(child)
	}
	if parent >= 0 {
		l.Signal(parent)
		l.Wait(parent)
	}
	for i := len(children) - 1; i >= 0; i-- {
		l.Signal(children[i])
	}
}
