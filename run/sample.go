package run

import (
	"fmt"

	"collsim/collective"
	"collsim/dtype"
	"collsim/reference"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/unit"
)

// A check of numbers is of all elements unless it would make and move more than mostElements, and
// of all outputs unless its ranks would take more than mostWalked steps. Both take some two seconds
// of one core. Buffers below sampleHeld are checked whole, whatever they hold.
const (
	mostElements   = 1 << 31
	randomElements = 16 // a random number, or a factor of a product, counts as so many,
	narrowElements = 3  // and an element as so many that is added up in less than 32 bits
	sampleHeld     = 64 * unit.MiB
	mostWalked     = 1 << 21
	blocksAsStep   = 4       // so many blocks count as a step,
	roleSteps      = 4       // and a step as so many, where ranks share programs by roles
	mostEverWalked = 1 << 26 // of more steps nothing is checked, if outputs cannot be sampled
	sampledOutputs = 64
)

// amount holds how much of a schedule's numbers to check: all if it is zero.
type amount struct {
	count   int64  // the most elements
	outputs int    // output elements alone
	none    string // why nothing
}

// amountOf decides how much of a schedule's numbers is checked. It follows from counts of the
// schedule and from the point's keys alone.
func amountOf(s *schedule.Schedule, p *scenarios.Point, w work) amount {
	if p.Check.Full {
		return amount{}
	}
	if walked := w.walked(s); walked > mostWalked && !hasOwn(s) {
		why := reference.Samples(s)
		if why == "" {
			return amount{outputs: sampledOutputs}
		}
		if walked > mostEverWalked {
			return amount{none: fmt.Sprintf("a check would carry out %d steps, and none of a sample can be "+
				"made: %s (check.full = true makes it)", w.steps, why)}
		}
	}
	if share := sampleOf(s, p, w); share < 1 {
		return amount{count: max(int64(float64(share*within(s, p)*float64(s.Spec.Count))), 1)}
	}
	return amount{}
}

// walked returns the steps of a check that carries out every rank; blocks, and steps of ranks
// with roles, count extra.
func (w *work) walked(s *schedule.Schedule) int64 {
	n := w.steps + w.blocks/blocksAsStep
	if s.HasRoles() {
		n *= roleSteps
	}
	return n
}

// sampleOf returns the share of the elements to check, among those that check.memory holds. It is
// 1 where sizes of blocks are given, and for files: a smaller count cannot stand for them.
func sampleOf(s *schedule.Schedule, p *scenarios.Point, w work) float64 {
	kind := s.Spec.Kind
	if p.Check.Full || held(s) < sampleHeld || kind.Splits() || kind == collective.Custom ||
		p.Algorithm.FromFile() {
		return 1
	}
	return min(1, mostElements/max(elementsOf(s, p, w), 1))
}

// elementsOf counts the elements of a check, in words of 32 bits: each is made once, and moved as
// often as it is sent.
func elementsOf(s *schedule.Schedule, p *scenarios.Point, w work) float64 {
	t := s.Spec.Type
	inputs, moved := 0.0, float64(w.bytes)/float64(t.Width())
	for rank := range s.Spec.Ranks {
		inputs += float64(s.Len(schedule.Input, rank))
	}
	if t.IsFloat() && s.Spec.Kind.Reduces() {
		if p.Check.Data != scenarios.ExactData || s.Spec.Op == collective.Prod {
			inputs = float64(inputs * randomElements)
		}
		if t.Width() < dtype.Float32.Width() {
			moved = float64(moved * narrowElements)
		}
	}
	return heldAtOnce(s, p, w) * max(1, float64(t.Width())/4) * (inputs + moved)
}

// within returns the share of the elements that check.memory holds: the rest is not checked.
func within(s *schedule.Schedule, p *scenarios.Point) float64 {
	return min(1, float64(p.Check.Memory)/float64(max(held(s), 1)))
}

// heldAtOnce returns that share where check.memory must hold the messages under way as well.
func heldAtOnce(s *schedule.Schedule, p *scenarios.Point, w work) float64 {
	return min(1, float64(p.Check.Memory)/max(float64(held(s))+flying(s, w), 1))
}

// outputValues bounds the values of steps on which so many outputs depend: where they are sums of
// all ranks' inputs, these and their partial sums.
func outputValues(s *schedule.Schedule, outputs int) float64 {
	if !s.Spec.Kind.Reduces() {
		return 0
	}
	return float64(min(max(reference.SampleSteps, 2*s.Spec.Ranks), 3*s.Spec.Ranks/2*outputs))
}
