package openmpi

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/schedule"
)

// Build returns one of the library's algorithms as a schedule: the same messages between the same
// ranks in the same order, and the same operands in the same order (the library computes "inout =
// in op inout"). Source: Open MPI 4.1's ompi/mca/coll/base (allreduce, reduce, reduce_scatter,
// reduce_scatter_block, bcast, allgather, alltoall, gather, scatter, barrier, topo), read as fact;
// nothing of it is copied.
//
// The schedule also keeps how a rank's sends block, since time depends on it. A blocking send is a
// step: it holds its lane until the bytes have left. A send with a receive posted before it (the
// library's sendrecv) is a send, then a receive: a schedule's receives need no posting. The same
// data sent to several at once and then awaited is one step with several peers; different data has
// a lane each. The library's intermediate copies are copies here, except for sums that it makes in
// another buffer than the schedule does.
//
// The library decides what a choice leaves open (Decided), and the schedule's name states it. An
// error says that something is unknown.
func Build(c Choice, spec collective.Spec) (*schedule.Schedule, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if err := c.Check(&spec); err != nil {
		return nil, err
	}
	plan := schedule.Plan{Name: "Open MPI " + c.String(), Spec: spec}
	if open := c.open(spec); open != nil {
		plan.Name += " as " + Names(open)
	}
	if err := lay(&plan, c); err != nil {
		return nil, err
	}
	return schedule.Build(plan)
}

// open returns the library's decisions if a choice leaves something open, else nil.
func (c Choice) open(spec collective.Spec) []Choice {
	if c.Inner != "" || spec.Ranks == 1 || spec.Empty() {
		return nil
	}
	said := slices.DeleteFunc(c.Decided(spec), func(d Choice) bool { return d == c })
	if len(said) == 0 {
		return nil
	}
	return said
}

// lay completes the plan of a collective for a choice that Check has passed.
func lay(p *schedule.Plan, c Choice) error {
	p.Lane = func(*schedule.Lane) {}
	if p.Spec.Kind.Reduces() && !slices.Contains(Operators(), p.Spec.Op) {
		return fmt.Errorf("MPI has no operator %v", p.Spec.Op)
	}
	if p.Spec.Ranks == 1 || p.Spec.Empty() {
		return nil
	}
	return write(p, c.Decided(p.Spec))
}

// Operators returns the operators of MPI that a Spec may have.
func Operators() []collective.Op {
	return []collective.Op{collective.Sum, collective.Prod, collective.Min, collective.Max,
		collective.And, collective.Or, collective.Xor}
}

// write completes the plan for more than one rank and some data, given the library's decisions.
func write(p *schedule.Plan, decided []Choice) error {
	c, known := decided[0], true
	if len(decided) == 3 {
		return writeComposed(p, decided)
	}
	switch c.Function {
	case "reduce":
		known = c.writeReduce(p)
	case "allreduce":
		known = c.writeAllReduce(p)
	case "reduce_scatter", "reduce_scatter_block":
		known = c.writeReduceScatter(p)
	case "bcast":
		known = c.writeBroadcast(p)
	case "allgather":
		known = c.writeAllGather(p)
	case "alltoall":
		known = c.writeAllToAll(p)
	case "gather":
		known = c.writeGather(p)
	case "scatter":
		known = c.writeScatter(p)
	case "barrier":
		known = c.writeBarrier(p)
	}
	if !known {
		return fmt.Errorf("%v: what the library does is its own choice", c)
	}
	return nil
}

// segment returns the elements of a segment; 0 means no segments. The library rounds to the nearest
// number of elements (COLL_BASE_COMPUTED_SEGCOUNT).
func (c Choice) segment(spec *collective.Spec) int64 {
	width := int64(spec.Type.Width())
	if c.Segment < width || c.Segment >= width*spec.Count {
		return 0
	}
	n := c.Segment / width
	if c.Segment%width > width/2 {
		n++
	}
	return n
}

// A fold reduces any number of ranks to a power of two. Of each pair among the first 2·rest ranks,
// one takes part with the data of both: the odd one if kept is 1, the even one if it is 0.
type fold struct{ ranks, q, rest, kept int }

// foldOf returns the fold of a number of ranks.
func foldOf(ranks, kept int) fold {
	q := 1
	for 2*q <= ranks {
		q *= 2
	}
	return fold{ranks: ranks, q: q, rest: ranks - q, kept: kept}
}

// number returns a rank's number among the q; −1 if it does not take part.
func (f fold) number(rank int) int {
	switch {
	case rank >= 2*f.rest:
		return rank - f.rest
	case rank%2 == f.kept:
		return rank / 2
	}
	return -1
}

// rank returns the rank of a number.
func (f fold) rank(number int) int {
	if number < f.rest {
		return 2*number + f.kept
	}
	return number + f.rest
}

// first returns the first rank that a number represents; for q, the number of all ranks.
func (f fold) first(number int) int { return number + min(number, f.rest) }

// mirror returns a number below q with its bits in the opposite order.
func (f fold) mirror(number int) (m int) {
	for b := 1; b < f.q; b *= 2 {
		m *= 2
		if number&b != 0 {
			m++
		}
	}
	return m
}

// halves returns the ends of the q windows that halving leaves: of n elements the left half has
// ⌊n/2⌋.
func halves(n int64, q int) []int64 {
	if q == 1 {
		return []int64{n}
	}
	ends := halves(n/2, q/2)
	for _, end := range halves(n-n/2, q/2) {
		ends = append(ends, n/2+end)
	}
	return ends
}

// even returns the ends of so many parts; the first ones have one element more.
func even(n int64, parts int) (ends []int64) {
	each, more, at := n/int64(parts), n%int64(parts), int64(0)
	for i := range int64(parts) {
		if at += each; i < more {
			at++
		}
		ends = append(ends, at)
	}
	return ends
}

// cutAt cuts all buffers of a plan at these ends.
func cutAt(p *schedule.Plan, ends []int64) {
	cut := schedule.Cut{{Axis: schedule.Block, Split: schedule.Table, N: int64(len(ends)),
		Ends: [][]int64{ends}}}
	p.Cuts = &[3]schedule.Cut{cut, cut, cut}
	p.Chunks = len(ends)
}
