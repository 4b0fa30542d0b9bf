package judge

import (
	"fmt"
	"math/rand/v2"
)

// Finding is what is wrong with a schedule, in the order in which it is looked for.
type Finding int

// The findings.
const (
	Right     Finding = iota
	Malformed         // a step that cannot be carried out
	Deadlock          // lanes wait for what never comes
	Unmatched         // a message is never received
	Race              // two accesses to an element have no order
	Wrong             // an output is not what it should be, or what nobody wrote is read
)

// String is the finding's name.
func (f Finding) String() string {
	return [...]string{"right", "malformed", "deadlock", "unmatched", "race", "wrong"}[f]
}

// Options say how to judge.
type Options struct {
	Calls      int // one after another on every rank, without a barrier between the ranks; at least 1
	Rendezvous bool
	Seed       uint64 // of the order in which steps are carried out
}

// Verdict is what the judge says.
type Verdict struct {
	Finding  Finding
	Why      []string
	Slots    int  // the least with which it comes to its end
	Messages int  // of one call
	InOrder  bool // every sum has its operands in rank order
	SameTree bool // all ranks add up each element of an all_reduce in the same way
}

// Judge says what a schedule does.
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

// leastSlots is the least number of slots with which a model, which does with any number, comes to
// its end.
func leastSlots(m *model, o Options) int {
	for slots := 1; ; slots++ {
		c := conditions{calls: o.Calls, slots: slots, rendezvous: o.Rendezvous}
		if !carryOut(m, c).stalled {
			return slots
		}
	}
}

// sums says whether every sum that is an output has its operands in rank order, and whether all
// ranks have added up each element of an all_reduce in the same way.
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
