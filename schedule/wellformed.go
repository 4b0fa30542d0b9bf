package schedule

import (
	"fmt"
	"slices"
)

// What every schedule keeps to, however it came to be. Parse holds every line of a text to it,
// Build and Assemble every step as it is written, so that nobody who carries a schedule out meets
// anything else, and all mean the same by what they meet. What depends on the sizes of messages,
// which only the matching tells, is for Verify to find.
//
//   - Ranks, lanes, blocks, tiles and channels exist. With a group, ranks and blocks count modulo
//     their number; without, they do not.
//   - A peer is another rank, whose lane exists if a message goes there; a multimem names ranks,
//     each once.
//   - A step takes from a connection one message at most, and gives it one at most.
//   - Who combines, or scales, has an operator, or a factor. (Programs of others' runtimes, which
//     know no operators, are assembled all the same, and Execute reports it: they are judged.)
//   - The message of a put is awaited, and is no operand: its bytes have landed.
//   - Only puts are silent, only puts and multimem stores are packets, only messages are relaxed.
//   - What stores or lands has a source. A kernel and a flush move nothing.
//   - An event is one of another lane of the rank.

// shaped holds what a step is, whatever its variables are, to the rules.
func (s *Schedule) shaped(step *Step) error {
	if step.Cost != 0 || step.Flush {
		if step.Cost < 0 || len(step.From)+len(step.To)+len(step.Send) > 0 ||
			step.Cost > 0 && step.Flush {
			return fmt.Errorf("a kernel and a flush move nothing, and a kernel takes a time")
		}
	}
	for i := range step.From {
		f := &step.From[i]
		switch {
		case f.Kind > Multimem || f.Put && f.Kind != Message:
			return fmt.Errorf("source %d is of no kind", i)
		case f.Put && (len(step.From) > 1 || len(step.To)+len(step.Send) > 0 || f.Scale):
			return fmt.Errorf("the message of a put is awaited by a step of its own: it is no operand")
		case f.Kind == Multimem:
			if err := s.team(f.Team); err != nil {
				return err
			}
		}
	}
	if len(step.From) == 0 && (len(step.To) > 0 || step.Scale) {
		return fmt.Errorf("there is nothing to be scaled or stored")
	}
	for i := range step.Send {
		if err := s.dest(&step.Send[i], len(step.From)); err != nil {
			return err
		}
	}
	return nil
}

// computes says what a step computes that the collective's operator does not do.
func (s *Schedule) computes(step *Step) error {
	operands, scaled := 0, step.Scale
	for i := range step.From {
		f := &step.From[i]
		operands, scaled = operands+max(1, len(f.Team)), scaled || f.Scale
	}
	switch {
	case operands > 1 && s.Spec.Op == 0:
		return fmt.Errorf("combines, but %v has no operator", s.Spec.Kind)
	case scaled && !s.Spec.ScalesBefore() && !s.Spec.ScalesAfter():
		return fmt.Errorf("scales, but operator %q has no factor", s.Spec.Op)
	}
	return nil
}

// dest holds what is sent, or stored elsewhere, to the rules.
func (s *Schedule) dest(d *Dest, operands int) error {
	switch {
	case d.Silent && (!d.Put || d.Team != nil) || d.Packet && !d.Lands():
		return fmt.Errorf("only a put is silent, only a put or a multimem store a packet")
	case d.Relaxed && !d.Message():
		return fmt.Errorf("only what has a message is relaxed")
	case d.Lands() && operands == 0:
		return fmt.Errorf("there is nothing to be put")
	case d.Team != nil:
		return s.team(d.Team)
	}
	return nil
}

// team holds the ranks of a multimem to the rules.
func (s *Schedule) team(ranks []int32) error {
	if len(ranks) == 0 {
		return fmt.Errorf("multimem without ranks")
	}
	sorted := slices.Clone(ranks)
	slices.Sort(sorted)
	for i, r := range sorted {
		if r < 0 || int(r) >= s.Spec.Ranks {
			return fmt.Errorf("rank %d is none of the %d", r, s.Spec.Ranks)
		}
		if i > 0 && r == sorted[i-1] {
			return fmt.Errorf("multimem names rank %d twice", r)
		}
	}
	return nil
}
