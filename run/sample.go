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

// A check of numbers does operations: one moves, or adds up, 32 bits, which takes about a
// nanosecond. Of a schedule whose steps come to more than mostOperations, some outputs are checked;
// of one whose elements do, a smaller count.
const (
	mostOperations = 1 << 31 // some two seconds of one core
	// Where no outputs can stand for all, steps may take so many times as long: a minute.
	unsampled        = 1 << 5
	stepOperations   = 1 << 10 // a step: its message is matched and its regions are found
	blockOperations  = 1 << 8  // a block that it names: its place is worked out
	roleOperations   = 4       // times as many where programs are made for each rank of a role
	randomOperations = 16      // a random number is drawn, or a factor of a product, in place of 1
	narrowOperations = 3       // an element of less than 32 bits is widened, added and rounded
	sampledOutputs   = 64      // are enough to see any mistake that most elements have
)

// amount holds how much of a schedule's numbers to check: all if only operations are set.
type amount struct {
	count      int64   // the most elements
	outputs    int     // output elements alone
	none       string  // why nothing
	operations float64 // that this takes
}

// amountOf decides how much of a schedule's numbers is checked. It follows from counts of the
// schedule and from the point's keys alone.
func amountOf(s *schedule.Schedule, p *scenarios.Point, w work) amount {
	ranks := float64(s.Spec.Ranks)
	steps := float64(stepOperations*float64(w.steps)) + float64(blockOperations*float64(w.blocks))
	if s.HasRoles() {
		steps = float64(steps * roleOperations)
	}
	elements := elementOperations(s, p, w)
	all := amount{operations: steps + float64(elements*holds(s, p, w))}
	if p.Check.Full {
		return all
	}
	if steps > mostOperations {
		why := reference.Samples(s)
		if why == "" {
			return amount{outputs: sampledOutputs, operations: float64(stepOperations *
				(float64(w.steps)/ranks + outputValues(s)))}
		}
		if steps > unsampled*mostOperations {
			return amount{none: fmt.Sprintf("a check would carry out %d steps, and none of a sample can be "+
				"made: %s (check.full = true makes it)", w.steps, why)}
		}
	}
	kind, part := s.Spec.Kind, mostOperations/max(elements, 1)
	if part >= holds(s, p, w) || kind.Splits() || kind == collective.Custom || p.Algorithm.FromFile() {
		return all // or no smaller count stands for it
	}
	return amount{count: max(int64(part*float64(s.Spec.Count)), 1),
		operations: steps + mostOperations}
}

// elementOperations counts the operations on elements: each is made once, and moved as often as it
// is sent.
func elementOperations(s *schedule.Schedule, p *scenarios.Point, w work) float64 {
	t := s.Spec.Type
	inputs, moved := 0.0, float64(w.bytes)/float64(t.Width())
	for rank := range s.Spec.Ranks {
		inputs += float64(s.Len(schedule.Input, rank))
	}
	if t.IsFloat() && s.Spec.Kind.Reduces() {
		if p.Check.Data != scenarios.ExactData || s.Spec.Op == collective.Prod {
			inputs = float64(inputs * randomOperations)
		}
		if t.Width() < dtype.Float32.Width() {
			moved = float64(moved * narrowOperations)
		}
	}
	return max(1, float64(t.Width())/4) * (inputs + moved)
}

// outputValues bounds the values of steps on which sampled outputs depend: where they are sums of
// all ranks' inputs, these and their partial sums.
func outputValues(s *schedule.Schedule) float64 {
	if !s.Spec.Kind.Reduces() {
		return 0
	}
	return float64(min(max(reference.SampleSteps, 2*s.Spec.Ranks), 2*s.Spec.Ranks*sampledOutputs))
}

// holds returns the share of the elements that check.memory holds: the rest is not checked.
func holds(s *schedule.Schedule, p *scenarios.Point, w work) float64 {
	return min(1, float64(p.Check.Memory)/float64(max(buffers(s, w), 1)))
}

// buffers bounds the bytes that a check of numbers holds: outputs and scratch, inputs that share
// the outputs' memory, since others are made when they are read, and messages under way.
func buffers(s *schedule.Schedule, w work) unit.Bytes {
	elements := int64(0)
	for rank := range s.Spec.Ranks {
		for b := schedule.Input; b <= schedule.Scratch; b++ {
			if b != schedule.Input || s.Spec.InPlace {
				elements += s.Len(b, rank)
			}
		}
	}
	return of(elements, int64(s.Spec.Type.Width())) + min(of(w.places, w.largest), of(w.bytes, 1))
}
