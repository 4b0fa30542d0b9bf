package openmpi

import "collsim/schedule"

// writeGather writes MPI_Gather. All its sends and receives block.
func (c Choice) writeGather(p *schedule.Plan) (known bool) {
	inPlace := p.Spec.InPlace
	switch c.Algorithm {
	case "basic_linear":
		p.Lane = func(l *schedule.Lane) {
			if l.Rank != l.Root {
				l.Send(l.Root, l.In(0))
				return
			}
			for rank := range l.Ranks {
				switch {
				case rank != l.Root:
					l.Recv(rank, l.Out(rank))
				case !inPlace:
					l.Copy(l.Out(rank), l.In(0))
				}
			}
		}
	case "linear_sync":
		return c.writeGatherSync(p)
	case "binomial":
		p.Scratch = p.Spec.Ranks
		t := binomial(p.Spec.Ranks, p.Spec.Root)
		p.Lane = func(l *schedule.Lane) { binomialGather(l, t, inPlace) }
	default:
		return false
	}
	return true
}

// writeGatherSync makes the root ask one rank after the other with an empty message. The rank sends
// a segment, which the root waits for, and the rest, which it waits for at the end. Without
// segments the rest is an empty message.
func (c Choice) writeGatherSync(p *schedule.Plan) (known bool) {
	ranks, count := p.Spec.Ranks, p.Spec.Count
	first := c.segment(&p.Spec)
	if first == 0 {
		first = count
	}
	whole := schedule.Cut{{Axis: schedule.Block, Split: schedule.Table,
		Ends: [][]int64{{first, count}}}}
	var ends []int64
	for rank := range int64(ranks) {
		ends = append(ends, rank*count+first, rank*count+count)
	}
	p.Cuts = &[3]schedule.Cut{whole, {{Axis: schedule.Block, Split: schedule.Table,
		Ends: [][]int64{ends}}}}
	inPlace := p.Spec.InPlace
	p.Lane = func(l *schedule.Lane) {
		if l.Rank != l.Root {
			l.Wait(l.Root)
			l.Send(l.Root, l.In(0))
			l.Send(l.Root, l.In(1))
			return
		}
		for rank := range l.Ranks {
			if rank != l.Root {
				l.Signal(rank)
				l.Recv(rank, l.Out(2*rank))
			}
		}
		if !inPlace {
			l.Copy(l.Out(2*l.Root).Blocks(2), l.In(0).Blocks(2))
		}
		for rank := range l.Ranks {
			if rank != l.Root {
				l.Recv(rank, l.Out(2*rank+1))
			}
		}
	}
	return true
}

// subtree returns the number of ranks in the subtree of the place v in the tree "binomial".
func subtree(v, ranks int) int {
	if v == 0 {
		return ranks
	}
	return min(v&-v, ranks-v)
}

// binomialGather joins blocks of subtrees on their path to the root, in the order of their places
// counted from it. If the root is not rank 0, it puts them in order at the end.
func binomialGather(l *schedule.Lane, t tree, inPlace bool) {
	v := (l.Rank - l.Root + l.Ranks) % l.Ranks
	if v%2 == 1 {
		l.Send(t.parent[l.Rank], l.In(0))
		return
	}
	at := l.Scratch // where blocks are collected
	if l.Rank == 0 && v == 0 {
		at = l.Out
	}
	if l.Rank != 0 || v != 0 || !inPlace {
		l.Copy(at(0), l.In(0))
	}
	for _, child := range t.children[l.Rank] {
		place := (child - l.Root + l.Ranks) % l.Ranks
		l.Recv(child, at(place-v).Blocks(subtree(place, l.Ranks)))
	}
	switch {
	case v > 0:
		l.Send(t.parent[l.Rank], at(0).Blocks(subtree(v, l.Ranks)))
	case l.Root > 0:
		l.Copy(l.Out(l.Root).Blocks(l.Ranks), at(0).Blocks(l.Ranks))
	}
}

// writeScatter writes MPI_Scatter.
func (c Choice) writeScatter(p *schedule.Plan) (known bool) {
	return c.scatter(p, scattering{from: schedule.Input, keep: !p.Spec.InPlace})
}

// scattering says in which buffer the root has all blocks, and whether it copies its own into the
// output.
type scattering struct {
	from schedule.Buffer
	keep bool
}

// at returns the region of a block at the root.
func (s scattering) at(l *schedule.Lane, block int) schedule.Region {
	if s.from == schedule.Input {
		return l.In(block)
	}
	return l.Scratch(block)
}

// scatter writes what a rank does in a scatter.
func (c Choice) scatter(p *schedule.Plan, s scattering) (known bool) {
	switch c.Algorithm {
	case "basic_linear": // blocking sends
		p.Lane = func(l *schedule.Lane) {
			if l.Rank != l.Root {
				l.Recv(l.Root, l.Out(0))
				return
			}
			for rank := range l.Ranks {
				switch {
				case rank != l.Root:
					l.Send(rank, s.at(l, rank))
				case s.keep:
					l.Copy(l.Out(0), s.at(l, rank))
				}
			}
		}
	case "linear_nb": // isends, then a wait for all
		p.Lanes = p.Spec.Ranks
		p.Lane = func(l *schedule.Lane) { linearScatter(l, s) }
	case "binomial":
		p.Scratch = p.Spec.Ranks
		t := binomial(p.Spec.Ranks, p.Spec.Root)
		p.Lane = func(l *schedule.Lane) { binomialScatter(l, t, s) }
	default:
		return false
	}
	return true
}

// linearScatter posts a send to each rank, and copies the root's own block in its turn: the root's
// lane i is for rank i.
func linearScatter(l *schedule.Lane, s scattering) {
	switch {
	case l.Rank != l.Root:
		if l.Index == 0 {
			l.Facing(l.Rank)
			l.Recv(l.Root, l.Out(0))
		}
		return
	case l.Index != l.Root:
		if l.Index > l.Root && s.keep {
			l.After(l.Root, 1)
		}
		l.Facing(0)
		l.Send(l.Index, s.at(l, l.Index))
	case s.keep:
		l.Copy(l.Out(0), s.at(l, l.Root))
		l.Post()
	}
}

// binomialScatter splits blocks of subtrees on their path from the root (blocking sends), the
// largest subtree first. If the root is not rank 0, it first orders them by place.
func binomialScatter(l *schedule.Lane, t tree, s scattering) {
	v := (l.Rank - l.Root + l.Ranks) % l.Ranks
	if v%2 == 1 {
		l.Recv(t.parent[l.Rank], l.Out(0))
		return
	}
	at := l.Scratch
	switch {
	case v > 0:
		l.Recv(t.parent[l.Rank], at(0).Blocks(subtree(v, l.Ranks)))
	case l.Root > 0:
		l.Copy(at(0).Blocks(l.Ranks), s.at(l, l.Root).Blocks(l.Ranks))
	default:
		at = func(block int) schedule.Region { return s.at(l, block) }
	}
	if v > 0 || s.keep {
		l.Copy(l.Out(0), at(0))
	}
	children := t.children[l.Rank]
	for i := len(children) - 1; i >= 0; i-- {
		place := (children[i] - l.Root + l.Ranks) % l.Ranks
		l.Send(children[i], at(place-v).Blocks(subtree(place, l.Ranks)))
	}
}
