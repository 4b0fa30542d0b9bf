package judge

import (
	"fmt"
	"math/rand/v2"
)

// A Finding is the fault of a schedule; faults are checked in this order.
type Finding int

// The findings.
const (
	Right     Finding = iota
	Malformed         // an invalid step
	Deadlock          // lanes wait forever
	Unmatched         // a message is never received
	Race              // two accesses to an element are unordered
	Wrong             // an output is wrong, or unwritten memory is read
)

// String returns the finding's name.
func (f Finding) String() string {
	return [...]string{"right", "malformed", "deadlock", "unmatched", "race", "wrong"}[f]
}

// Options configure the judgement.
type Options struct {
	Calls      int // successive calls on every rank, without a barrier between ranks; at least 1
	Rendezvous bool
	Seed       uint64 // of the order of execution
}

// A Verdict is the result of a judgement.
type Verdict struct {
	Finding  Finding
	Why      []string
	Slots    int  // least number of slots without a deadlock
	Messages int  // of one call
	InOrder  bool // every sum has its operands in rank order
	SameTree bool // all ranks sum each element of an all_reduce in the same order
}

// Judge checks a schedule.
func Judge(p *Plan, o Options) *Verdict {
	m, err := newModel(p)
	if err != nil {
		return &Verdict{Finding: Malformed, Why: []string{err.Error()}}
	}
	r := carryOut(m, conditions{calls: o.Calls, rendezvous: o.Rendezvous,
		luck: rand.New(rand.NewPCG(o.Seed, 1))})
	switch {
	case r.malformed != "":
		return &Verdict{Finding: Malformed, Why: []string{r.malformed}}
	case r.stalled:
		return &Verdict{Finding: Deadlock, Why: []string{"with any number of slots"}}
	case r.unmatched:
		return &Verdict{Finding: Unmatched}
	}
	v := &Verdict{Slots: leastSlots(m, o), Messages: r.messages / o.Calls}
	v.InOrder, v.SameTree = r.sums()
	g := newOrder(r)
	races := g.races()
	switch {
	case p.Slots > 0 && v.Slots > p.Slots:
		v.Finding, v.Why = Deadlock, []string{fmt.Sprintf("it needs %d slots", v.Slots)}
	case len(races) > 0:
		v.Finding, v.Why = Race, races
	case len(r.complaint) > 0:
		v.Finding, v.Why = Wrong, r.complaint
	case p.Problem.Kind == "barrier":
		if rank, absent, early := g.leavesEarly(); early {
			v.Finding = Wrong
			v.Why = []string{fmt.Sprintf("rank %d leaves before rank %d has come", rank, absent)}
		}
	}
	return v
}

// leastSlots returns the least number of slots without a deadlock. REQUIRES: the model ends with
// any number of slots.
func leastSlots(m *model, o Options) int {
	for slots := 1; ; slots++ {
		c := conditions{calls: o.Calls, slots: slots, rendezvous: o.Rendezvous}
		if !carryOut(m, c).stalled {
			return slots
		}
	}
}

// sums reports whether the sums in all outputs have their operands in rank order, and whether all
// ranks sum each element of an all_reduce in the same order.
func (r *run) sums() (inOrder, sameTree bool) {
	inOrder, sameTree = true, true
	first, _ := r.buffer(Output, 0)
	for rank := range r.call {
		from, to := r.buffer(Output, rank)
		for cell := from; cell < to; cell++ {
			x := &r.terms.list[r.memory[cell]]
			inOrder = inOrder && x.ordered
			if r.plan.Problem.Kind == "all_reduce" {
				sameTree = sameTree && x.tree == r.terms.list[r.memory[first+cell-from]].tree
			}
		}
	}
	return inOrder, sameTree
}
