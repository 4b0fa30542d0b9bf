package openmpi

import "collsim/schedule"

// writeAllGather writes MPI_Allgather, except for "linear", which writeComposed makes of a gather
// and a broadcast. All its messages are sent with sendrecv.
func (c Choice) writeAllGather(p *schedule.Plan) (known bool) {
	ranks, inPlace := p.Spec.Ranks, p.Spec.InPlace
	algorithm := c.Algorithm
	switch {
	case algorithm == "recursive_doubling" && ranks&(ranks-1) != 0:
		algorithm = "bruck"
	case algorithm == "neighbor" && ranks%2 != 0:
		algorithm = "ring"
	}
	var gather func(l *schedule.Lane)
	switch algorithm {
	case "bruck":
		p.Scratch = ranks
		p.Lane = func(l *schedule.Lane) { bruckGather(l, inPlace) }
		return true
	case "two_proc":
		p.Lane = func(l *schedule.Lane) {
			l.Send(1-l.Rank, l.In(0))
			l.Recv(1-l.Rank, l.Out(1-l.Rank))
			if !inPlace {
				l.Copy(l.Out(l.Rank), l.In(0))
			}
		}
		return true
	case "recursive_doubling":
		p.Group = schedule.Flips(ranks)
		gather = func(l *schedule.Lane) {
			for d := 1; d < ranks; d *= 2 {
				l.Send(l.Rank^d, l.Out(l.Rank&^(d-1)).Blocks(d))
				l.Recv(l.Rank^d, l.Out((l.Rank^d)&^(d-1)).Blocks(d))
			}
		}
	case "ring":
		p.Group = schedule.Rotations(ranks)
		gather = func(l *schedule.Lane) {
			for i := range ranks - 1 {
				l.Send(l.Rank+1, l.Out(l.Rank-i))
				l.Recv(l.Rank-1, l.Out(l.Rank-i-1))
			}
		}
	case "neighbor":
		gather = neighborGather
	default:
		return false
	}
	p.Lane = func(l *schedule.Lane) {
		if !inPlace {
			l.Copy(l.Out(l.Rank), l.In(0))
		}
		gather(l)
	}
	return true
}

// bruckGather collects blocks from a rank's own block on: ranks at distance 1, 2, 4, … fetch all
// that the other has. At the end all blocks are shifted to their places.
func bruckGather(l *schedule.Lane, inPlace bool) {
	r, p := l.Rank, l.Ranks
	if r > 0 || !inPlace {
		l.Copy(l.Out(0), l.In(0))
	}
	for d := 1; d < p; d *= 2 {
		n := min(d, p-d)
		l.Send(r-d, l.Out(0).Blocks(n))
		l.Recv(r+d, l.Out(d).Blocks(n))
	}
	if r > 0 {
		l.Copy(l.Scratch(0).Blocks(p-r), l.Out(0).Blocks(p-r))
		l.Copy(l.Out(0).Blocks(r), l.Out(p-r).Blocks(r))
		l.Copy(l.Out(r).Blocks(p-r), l.Scratch(0).Blocks(p-r))
	}
}

// neighborGather exchanges blocks with one neighbour and the other in turns: first the own block,
// then the two blocks that came last.
func neighborGather(l *schedule.Lane) {
	direction := 1 // to the neighbour that comes first
	if l.Rank%2 == 1 {
		direction = -1
	}
	first := l.Rank &^ 1 // first of the two blocks that a rank has then
	l.Send(l.Rank+direction, l.Out(l.Rank))
	l.Recv(l.Rank+direction, l.Out(l.Rank+direction))
	last, ends := first, [2]int{first, first}
	for i := 1; i < l.Ranks/2; i++ {
		side := i % 2
		step := 2 * direction // towards the blocks that come from that side
		if side == 1 {
			step = -step
		}
		ends[side] += step
		peer := l.Rank + direction
		if side == 1 {
			peer = l.Rank - direction
		}
		l.Send(peer, l.Out(last).Blocks(2))
		l.Recv(peer, l.Out(ends[side]).Blocks(2))
		last = ends[side]
	}
}
