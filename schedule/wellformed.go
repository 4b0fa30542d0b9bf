package schedule

import (
	"fmt"
	"slices"
)

// The rules of every schedule. Parse checks every line of a text against them, Build and Assemble
// every step. So executors meet nothing else, and all give it the same meaning. Rules that depend
// on the sizes of messages need matching, and are for Verify to check.
//
//   - Ranks, lanes, blocks, tiles and channels exist. With a group, ranks and blocks count modulo
//     their number; without, they do not.
//   - A peer is another rank. If a message goes there, its lane exists. A multimem names ranks,
//     each once.
//   - A step takes at most one message from a connection, and gives it at most one.
//   - A step that combines needs an operator, and one that scales needs a factor. (Programs for
//     other runtimes, which know no operators, are assembled all the same: Execute reports it.)
//   - Operands in rank order are two, a region and a message.
//   - The message of a put is awaited, and is no operand: its bytes have landed. It goes by a
//     connection of class Puts, and no other message does.
//   - Only puts are silent, only what has data is a packet, only messages with data are lines, only
//     messages are relaxed.
//   - What is fused is a multimem store of what one multimem load brings, from and to the same
//     ranks, and nothing else. The switches do not scale.
//   - A step that stores or puts has a source. An opaque kernel and a flush move nothing. Any other
//     kernel reads a region of its own rank for each operand and writes one, all of the right
//     types. Regions of a step that does not compute are of one type.
//   - A tensor that is only defined has no memory.
//   - An event is one of another lane of the rank.

// shaped checks what does not depend on a step's variables.
func (s *Schedule) shaped(step *Step) error {
	if step.Flush && (len(step.From)+len(step.To)+len(step.Send) > 0 || step.Kernel != nil) {
		return fmt.Errorf("a flush moves nothing")
	}
	if err := s.kernelShaped(step); err != nil {
		return err
	}
	for i := range step.From {
		f := &step.From[i]
		switch {
		case f.Kind > Multimem:
			return fmt.Errorf("source %d is of no kind", i)
		case f.Put() && (len(step.From) > 1 || len(step.To)+len(step.Send) > 0 || f.Scale || step.Scale):
			return fmt.Errorf("the message of a put is awaited by a step of its own: it is no operand")
		case f.Kind == Multimem:
			if err := s.team(f.Team); err != nil {
				return err
			}
		}
	}
	if step.Ranked {
		if err := ranked(step); err != nil {
			return err
		}
	}
	if err := s.inMemory(step); err != nil {
		return err
	}
	if err := s.sameTypes(step); err != nil {
		return err
	}
	if len(step.From) == 0 && (len(step.To) > 0 || step.Scale) {
		return fmt.Errorf("there is nothing to be scaled or stored")
	}
	for i := range step.Send {
		if err := s.dest(&step.Send[i], len(step.From)); err != nil {
			return err
		}
		if step.Send[i].Fused {
			if err := fused(step); err != nil {
				return err
			}
		}
	}
	return nil
}

// fused checks a step whose sum the switches multicast themselves.
func fused(step *Step) error {
	if len(step.From) != 1 || len(step.To) > 0 || len(step.Send) != 1 ||
		step.From[0].Kind != Multimem || step.Send[0].Team == nil || step.Send[0].Packet {
		return fmt.Errorf("fused is for one multimem that is loaded and stored, and for nothing else")
	}
	if step.Scale || step.From[0].Scale {
		return fmt.Errorf("what is fused is not scaled: the switches only add")
	}
	from, to := slices.Clone(step.From[0].Team), slices.Clone(step.Send[0].Team)
	slices.Sort(from)
	slices.Sort(to)
	if !slices.Equal(from, to) {
		return fmt.Errorf("what is fused is loaded from the ranks to which it is stored")
	}
	return nil
}

// ranked checks a step whose operands are in rank order. With more than two, the tree of additions
// would differ between ranks.
func ranked(step *Step) error {
	regions, messages := 0, 0
	for i := range step.From {
		switch f := &step.From[i]; {
		case f.Kind == Local:
			regions++
		case f.Kind == Message && !f.Put():
			messages++
		}
	}
	if regions != 1 || messages != 1 || len(step.From) != 2 || step.Kernel != nil {
		return fmt.Errorf("ranked is for two operands, a region of the rank and a message")
	}
	return nil
}

// inMemory returns an error if a step names a tensor without memory (Defined).
func (s *Schedule) inMemory(step *Step) (err error) {
	step.regions(func(r *Region) {
		if t := s.Tensor(r.Buffer); t != nil && t.Role == Defined {
			err = fmt.Errorf("%s is defined, and lies in no memory", t.Name)
		}
	})
	return err
}

// sameTypes checks that the regions of a step without a kernel are of one type.
func (s *Schedule) sameTypes(step *Step) error {
	if step.Kernel != nil || s.Tensors == nil {
		return nil
	}
	first, err := Buffer(work), error(nil)
	step.regions(func(r *Region) {
		if int(r.Buffer) >= s.Buffers() {
			return // reported elsewhere
		}
		if first == work {
			first = r.Buffer
		}
		if a, b := s.TypeOf(first), s.TypeOf(r.Buffer); a != b {
			err = fmt.Errorf("%s is of %v, %s of %v; compute (cast …) makes one of the other",
				s.BufferName(first), a, s.BufferName(r.Buffer), b)
		}
	})
	return err
}

// kernelShaped checks the kernel and the launch of a step.
func (s *Schedule) kernelShaped(step *Step) error {
	if step.Launch != nil {
		if err := step.Launch.validate(); err != nil {
			return err
		}
	}
	if step.Kernel == nil {
		return nil
	}
	if err := step.Kernel.Validate(); err != nil {
		return err
	}
	if !step.Kernel.HasResult() {
		k := step.Kernel
		if k.Time == 0 && k.Moved() == 0 && k.FLOPs() == 0 ||
			len(step.From)+len(step.To)+len(step.Send) > 0 {
			return fmt.Errorf("an opaque kernel takes a time and moves nothing: what reads and writes " +
				"says what it computes, as in compute (add 8 float32+float32->float32)")
		}
		return nil
	}
	if want := len(step.Kernel.Operands()); len(step.From) != want || len(step.To) != 1 ||
		len(step.Send) > 0 || step.Scale || s.Slices > 1 {
		return fmt.Errorf("%v reads %d regions and writes one, in a schedule without slices; it has "+
			"%d, %d and %d peers", step.Kernel.Kind, want, len(step.From), len(step.To), len(step.Send))
	}
	for i := range step.From {
		if step.From[i].Kind != Local || step.From[i].Scale {
			return fmt.Errorf("%v reads regions of its own rank only, as they are", step.Kernel.Kind)
		}
	}
	return s.operandTypes(step)
}

// operandTypes checks the types of a kernel's operands and result.
func (s *Schedule) operandTypes(step *Step) error {
	for i, want := range append(step.Kernel.Operands(), step.Kernel.Output()) {
		b := step.To[0].Buffer
		if i < len(step.From) {
			b = step.From[i].Region.Buffer
		}
		if int(b) < s.Buffers() && s.TypeOf(b) != want.Type {
			return fmt.Errorf("%s is of %v; %v has %v for %s", s.BufferName(b), s.TypeOf(b),
				step.Kernel.Kind, want.Type, want.Name)
		}
	}
	return nil
}

// computes returns an error if a step combines without an operator or scales without a factor.
func (s *Schedule) computes(step *Step) error {
	if step.Kernel != nil {
		return nil
	}
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

// dest checks a destination of a step.
func (s *Schedule) dest(d *Dest, operands int) error {
	switch {
	case d.Team == nil && d.Put != (d.Peer.Class == Puts):
		return fmt.Errorf("the message of a put, and no other, goes by the connection of puts")
	case d.Silent && (!d.Put || d.Team != nil):
		return fmt.Errorf("only a put is silent")
	case (d.Packet || d.Line) && operands == 0:
		return fmt.Errorf("what has no data is neither a packet nor a line")
	case d.Line && (d.Packet || d.Lands()):
		return fmt.Errorf("only a message that is no packet is a line")
	case d.Relaxed && !d.Message():
		return fmt.Errorf("only what has a message is relaxed")
	case d.Lands() && operands == 0:
		return fmt.Errorf("there is nothing to be put")
	case d.Team != nil:
		return s.team(d.Team)
	}
	return nil
}

// team checks the ranks of a multimem.
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
