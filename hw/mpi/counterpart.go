package mpi

import (
	"fmt"
	"strings"

	"collsim/algos/openmpi"
	"collsim/collective"
	"collsim/hw"
	"collsim/schedule"
)

// A counterpart is an algorithm of ours that the library has, too. It says why both are the same,
// and how they still differ.
type counterpart struct {
	kind   collective.Kind
	name   string
	choice openmpi.Choice
	where  condition
	why    string
}

// A condition restricts a counterpart.
type condition uint8

const (
	always    condition = iota
	segments            // both send the vector in successive segments
	powersOf2           // at other numbers of ranks the library uses another algorithm
	ownFirst            // rank 0 first sends its own block, to rank 1: one of several ring orders
)

// counterparts lists the algorithms of ours that the library has. Two algorithms are the same if
// they follow the published one: who exchanges which blocks with whom, in which order. Roles may be
// on other ranks, sends may overlap differently, and operands of a sum may be in another order.
// openmpi.Build has the library's exact order.
func counterparts() []counterpart { return append(thatReduce(), thatMove()...) }

// has returns a choice without options.
func has(function, algorithm string) openmpi.Choice {
	return openmpi.Choice{Function: function, Algorithm: algorithm}
}

// thatReduce lists the counterparts of collectives that reduce.
func thatReduce() []counterpart {
	composed := openmpi.Choice{Function: "allreduce", Algorithm: "nonoverlapping", Inner: "binomial"}
	return []counterpart{
		{collective.AllReduce, "binomial", composed, always,
			"a binomial reduce, then a binomial broadcast, as each is alone"},
		{collective.AllReduce, "rabenseifner", has("allreduce", "rabenseifner"), always,
			"halves at distance 1, 2, 4, …, and back; if ranks are no power of two, the even ones of " +
				"pairs go on instead of the odd ones, and the two share their first sum"},
		{collective.AllReduce, "recursive-doubling", has("allreduce", "recursive_doubling"), always,
			"the same pairs, the same sums"},
		{collective.AllReduce, "ring", has("allreduce", "ring"), ownFirst,
			"the same blocks the same way round, the same sums; of fewer elements than ranks it is " +
				"recursive doubling"},
		{collective.ReduceScatter, "recursive-halving", has("reduce_scatter", "recursive_halving"),
			always, "the same messages, the same sums"},
		{collective.ReduceScatter, "ring", has("reduce_scatter", "ring"), always,
			"the same blocks the same way round, the same sums"},
		{collective.Reduce, "binomial", has("reduce", "binomial"), always,
			"the same tree, the same sums"},
		{collective.Reduce, "chain", has("reduce", "pipeline"), segments,
			"the same chain, the same sums; the first segment comes first, of ours the last one"},
		{collective.Reduce, "linear", has("reduce", "linear"), always,
			"the same messages, the same sums"},
	}
}

// thatMove lists the counterparts of collectives that only move data.
func thatMove() []counterpart {
	return []counterpart{
		{collective.AllGather, "bruck", has("allgather", "bruck"), always,
			"the same messages; blocks are shifted to where they belong at the end"},
		{collective.AllGather, "recursive-doubling", has("allgather", "recursive_doubling"), powersOf2,
			"the same messages; else the library's is Bruck's, ours folds"},
		{collective.AllGather, "ring", has("allgather", "ring"), always, "the same messages"},
		{collective.Broadcast, "binomial", has("bcast", "binomial"), always,
			"a binomial tree, with other ranks inside: a place's parent lacks its highest bit instead " +
				"of the lowest; a rank sends to all its children at once"},
		{collective.Broadcast, "chain", has("bcast", "pipeline"), segments,
			"the same messages, segment by segment"},
		{collective.Broadcast, "flat", has("bcast", "basic_linear"), always,
			"the root sends to all, at once instead of to one after the other"},
		{collective.Broadcast, "scatter-allgather", has("bcast", "scatter_allgather_ring"), always,
			"a binomial scatter, then a ring; all blocks but the last ones are the largest; of fewer " +
				"elements than ranks it is linear"},
		{collective.Gather, "binomial", has("gather", "binomial"), always,
			"the same tree; a root that is not rank 0 puts blocks in order at the end"},
		{collective.Gather, "flat", has("gather", "basic_linear"), always,
			"all send to the root, which receives from the first rank to the last"},
		{collective.Scatter, "binomial", has("scatter", "binomial"), always,
			"the same tree; a root that is not rank 0 puts blocks in order first"},
		{collective.Scatter, "flat", has("scatter", "basic_linear"), always,
			"the root sends to one rank after the other, from the first to the last"},
		{collective.AllToAll, "bruck", has("alltoall", "modified_bruck"), always,
			"the same messages; what comes is copied to where it leaves from"},
		{collective.AllToAll, "direct", has("alltoall", "linear"), always,
			"all exchange with all at once"},
		{collective.AllToAll, "pairwise", has("alltoall", "pairwise"), always, "the same messages"},
		{collective.Barrier, "dissemination", has("barrier", "bruck"), always, "the same messages"},
	}
}

// A NoCounterpart reports that the library does not have a schedule's algorithm, and what it has.
type NoCounterpart struct {
	Kind      collective.Kind
	Algorithm string   // by our name
	Why       string   // why this schedule has none although the algorithm has one; else empty
	Has       []string // algorithms of ours, of this kind, with a counterpart
}

// Unwrap returns a Refusal.
func (e *NoCounterpart) Unwrap() error { return hw.Refuse("%s", e.Error()) }

// Error formats the report in one line.
func (e *NoCounterpart) Error() string {
	has := "none of that kind"
	if len(e.Has) > 0 {
		has = strings.Join(e.Has, ", ")
	}
	why := ""
	if e.Why != "" {
		why = " (" + e.Why + ")"
	}
	return fmt.Sprintf("Open MPI has no %v %s%s; it has %s", e.Kind, e.Algorithm, why, has)
}

// Counterpart returns the library's algorithm that is the same as a schedule's, by the schedule's
// Name. Names of package openmpi are the library's own. The choice has the segments into which the
// schedule cuts its buffers. If there is none, the error is a *NoCounterpart.
func Counterpart(s *schedule.Schedule) (openmpi.Choice, error) {
	if c, ok := openmpi.Of(s.Spec.Kind, s.Name); ok {
		return c, nil
	}
	none := &NoCounterpart{Kind: s.Spec.Kind, Algorithm: s.Name}
	var found *counterpart
	for _, c := range counterparts() {
		if c.kind != s.Spec.Kind {
			continue
		}
		none.Has = append(none.Has, c.name)
		if c.name == s.Name {
			found = &c
		}
	}
	if found == nil {
		return openmpi.Choice{}, none
	}
	none.Why = found.unlike(s)
	if none.Why != "" {
		return openmpi.Choice{}, none
	}
	choice := found.choice
	if n := levelOf(s, schedule.Tile); found.where == segments && n < s.Spec.Count {
		choice.Segment = n * int64(s.Spec.Type.Width())
	}
	return choice, nil
}

// unlike returns how a schedule differs from the library's algorithm; "" if it does not.
func (c *counterpart) unlike(s *schedule.Schedule) string {
	ranks := s.Spec.Ranks
	switch {
	case levelOf(s, schedule.Channel) > 1:
		return fmt.Sprintf("in %d channels", levelOf(s, schedule.Channel))
	case s.Slices > 1:
		return fmt.Sprintf("in %d slices", s.Slices)
	case c.where == powersOf2 && ranks&(ranks-1) != 0:
		return fmt.Sprintf("on %d ranks: only on powers of two", ranks)
	case c.where == ownFirst && !sendsOwnFirst(s):
		return "in another library's order: only in openmpi's"
	}
	return ""
}

// sendsOwnFirst reports whether rank 0's first step sends block 0 to rank 1, or rank 0 has no
// steps.
func sendsOwnFirst(s *schedule.Schedule) bool {
	var v schedule.Step
	p := s.Program(0)
	if p.Lanes() == 0 {
		return true
	}
	c := p.Walk(0)
	if c.Done() {
		return true
	}
	p.Load(&c, &v)
	return len(v.Send) == 1 && v.Send[0].Peer.Rank == 1 && v.From[0].Region.First == 0
}

// levelOf returns the number of pieces in a level of the output's cut; 0 if there is no such level.
func levelOf(s *schedule.Schedule, axis schedule.Axis) int64 {
	for _, level := range s.Cuts[schedule.Output] {
		if level.Axis == axis {
			return level.N
		}
	}
	return 0
}
