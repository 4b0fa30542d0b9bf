package openmpi

import (
	"fmt"

	"collsim/schedule"
)

// writeComposed writes an algorithm that calls two functions with rank 0 as their root, one after
// the other: the first brings all data to it, the second distributes it.
func writeComposed(p *schedule.Plan, of []Choice) error {
	known := false
	switch of[0].Function {
	case "allreduce":
		known = reduceThenBroadcast(p, of[1], of[2])
	case "allgather":
		known = gatherThenBroadcast(p, of[1], of[2])
	default:
		known = reduceThenScatter(p, of[1], of[2])
	}
	if !known {
		return fmt.Errorf("%v: the library's own choice is %s; together they are not "+
			"written down", of[0], Names(of[1:]))
	}
	return nil
}

// reduceThenBroadcast writes allreduce "nonoverlapping". Only one of the two may cut the vector.
func reduceThenBroadcast(p *schedule.Plan, first, second Choice) (known bool) {
	ranks, count := p.Spec.Ranks, p.Spec.Count
	first, windows := first.settled(count, ranks, p.Spec.Type)
	second, blocks := second.settled(count, ranks, p.Spec.Type)
	ends := windows
	if ends == nil {
		ends = blocks
	} else if blocks != nil {
		return false
	}
	if ends != nil && first.Segment+second.Segment > 0 {
		return false
	}
	first.cut(p, ends)
	p.Scratch = max(len(ends), 1)
	n := p.Scratch
	reduce, known := first.reduction(ranks, 0)
	v := vector{count: count, from: schedule.Output, blocks: n}
	down, found := second.broadcast(ranks, 0, v, blocks)
	p.Lane = func(l *schedule.Lane) {
		for t := range l.Tiles() {
			l.Tile(t)
			reduce(l, regions{l.In(0).Blocks(n), l.Scratch(0).Blocks(n), l.Out(0).Blocks(n)})
		}
		down(l)
	}
	return known && found
}

// gatherThenBroadcast writes allgather "linear". A broadcast that cuts the vector fits only if its
// blocks are those of the ranks.
func gatherThenBroadcast(p *schedule.Plan, first, second Choice) (known bool) {
	ranks, count := p.Spec.Ranks, p.Spec.Count*int64(p.Spec.Ranks)
	if !first.writeGather(p) {
		return false
	}
	gather, v := p.Lane, vector{count: count, from: schedule.Output, blocks: ranks}
	if first.Algorithm == "linear_sync" { // a segment of each rank, and the rest
		v.blocks = 2 * ranks
	}
	second, ends := second.settled(count, ranks, p.Spec.Type)
	if ends != nil && (len(ends) != v.blocks || second.Algorithm == "split_binary_tree") {
		return false
	}
	down, known := second.broadcast(ranks, 0, v, ends)
	p.Lane = func(l *schedule.Lane) {
		gather(l)
		down(l)
	}
	return known
}

// reduceThenScatter writes reduce_scatter "non-overlapping" and reduce_scatter_block
// "basic_linear". The sum of the whole vector is scattered from where it is made.
func reduceThenScatter(p *schedule.Plan, first, second Choice) (known bool) {
	ranks := p.Spec.Ranks
	first, windows := first.settled(p.Spec.Count*int64(ranks), ranks, p.Spec.Type)
	if windows != nil && ranks != 2 || first.Segment > 0 { // the cuts are not those of blocks
		return false
	}
	reduce, known := first.reduction(ranks, 0)
	if !known || !second.scatter(p, scattering{from: schedule.Scratch, keep: true}) {
		return false
	}
	p.Scratch = ranks
	scatter := p.Lane
	p.Lane = func(l *schedule.Lane) {
		if l.Index == 0 { // the scatter may have more lanes, which wait for this one
			sum := l.Scratch(0).Blocks(ranks)
			reduce(l, regions{l.In(0).Blocks(ranks), sum, sum})
		}
		scatter(l)
	}
	return true
}
