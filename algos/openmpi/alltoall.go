package openmpi

import "collsim/schedule"

// writeAllToAll writes MPI_Alltoall. In place, all algorithms are one.
func (c Choice) writeAllToAll(p *schedule.Plan) (known bool) {
	ranks := p.Spec.Ranks
	if p.Spec.InPlace {
		p.Scratch, p.Group = 1, schedule.Rotations(ranks)
		p.Lane = swap
		return c.Algorithm != ""
	}
	switch c.Algorithm {
	case "linear", "linear_sync": // the latter with as many requests as there are messages
		p.Lanes, p.Group = ranks-1, schedule.Rotations(ranks)
		p.Lane = allAtOnce
	case "pairwise":
		p.Group = schedule.Rotations(ranks)
		p.Lane = func(l *schedule.Lane) {
			for i := 1; i < ranks; i++ {
				l.Send(l.Rank+i, l.In(l.Rank+i))
				l.Recv(l.Rank-i, l.Out(l.Rank-i))
			}
			l.Copy(l.Out(l.Rank), l.In(l.Rank))
		}
	case "modified_bruck":
		p.Scratch = ranks
		p.Lane = bruckAllToAll
	case "two_proc":
		p.Lane = func(l *schedule.Lane) {
			l.Send(1-l.Rank, l.In(1-l.Rank))
			l.Recv(1-l.Rank, l.Out(1-l.Rank))
			l.Copy(l.Out(l.Rank), l.In(l.Rank))
		}
	default:
		return false
	}
	return true
}

// allAtOnce posts all receives, from the next rank on upwards, and all sends, from the one before
// on downwards, then waits for all (isend and irecv): a lane each. The own block is copied first.
func allAtOnce(l *schedule.Lane) {
	to, from := l.Rank-1-l.Index, l.Rank+1+l.Index
	if l.Index == 0 {
		l.Copy(l.Out(l.Rank), l.In(l.Rank))
		l.Post()
	} else {
		l.After(0, 1)
	}
	l.Send(to, l.In(to))
	l.Recv(from, l.Out(from))
}

// bruckAllToAll numbers a rank's blocks by the distance that they must go. Those with bit d go d
// ranks ahead in one message (sendrecv), and arriving ones take their places.
func bruckAllToAll(l *schedule.Lane) {
	r, p := l.Rank, l.Ranks
	l.Copy(l.Scratch(0).Blocks(p), l.In(r).Blocks(p))
	for d := 1; d < p; d *= 2 {
		leaving, coming := l.Scratch(0), l.Out(0)
		for i := range p {
			if i&d != 0 {
				leaving.List = append(leaving.List, int32(i))
			}
		}
		coming.List = leaving.List
		l.Send(r+d, leaving)
		l.Recv(r-d, coming)
		l.Copy(leaving, coming)
	}
	l.Copy(l.Out(r).Every(-1, p), l.Scratch(0).Blocks(p))
}

// swap exchanges blocks with the ranks at distance 1, 2, …, p/2 on both sides. The block for the
// right one is set aside, and the block from it takes its place. Sends block.
func swap(l *schedule.Lane) {
	for i := 1; i <= l.Ranks/2; i++ {
		left, right := l.Rank-i, l.Rank+i
		l.Copy(l.Scratch(0), l.Out(right))
		if 2*i < l.Ranks {
			l.Send(left, l.Out(left))
			l.Recv(right, l.Out(right))
			l.Send(right, l.Scratch(0))
			l.Recv(left, l.Out(left))
			continue
		}
		l.Send(right, l.Scratch(0))
		l.Recv(right, l.Out(right))
	}
}
