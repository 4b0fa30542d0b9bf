package program

import (
	"fmt"

	"collsim/collective"
	"collsim/dtype"
	"collsim/kernel"
	"collsim/schedule"
)

// A Variant selects how a pipeline of torch's symmetric memory is ordered.
type Variant uint8

// Seed is as published (pytorch/pytorch, torch/distributed/_symmetric_memory/__init__.py, of June
// 2024), which races. In gathering, one call races with the next from 3 ranks on. In scattering, it
// races from 4 ranks on within a call, and from 2 with the next. Repaired adds the missing order.
// In gathering, the last barrier also waits for the copies of the other stream. In scattering, a
// further barrier follows every copy.
const (
	Repaired Variant = iota
	Seed
)

var variantNames = [...]string{"repaired", "seed"}

// String returns "repaired" or "seed".
func (v Variant) String() string { return variantNames[v] }

// Shards are the operands of a fused matmul on each rank.
type Shards struct {
	Ranks   int
	Variant Variant
	// A is a rank's own operand. Where it is gathered, it is a shard of the left operand along
	// Axis. Where the result is scattered along Axis, it is the whole left operand, for a part of
	// K.
	A    kernel.Tensor
	Axis int
	// Bs are the right operands, several where A is gathered. Outs are their results' types; 0
	// means B's type where A is gathered, A's where the result is scattered.
	Bs   []kernel.Tensor
	Outs []dtype.Type
	// TransposeB, unless nil, says which of Bs are stored transposed; a scaled matmul has none.
	TransposeB []bool
	// Scales, unless nil, are the scales of a scaled matmul, one for each of Bs. Their A is the
	// shard's own, row-wise [.., m, 1], or one element for all shards.
	Scales []kernel.Scales
	// Mean divides a scattered sum by the number of ranks.
	Mean bool
	// InOrder keeps the axes of A, and of results, in their order. Blocks of rows are then apart in
	// memory, and nothing is copied to put Axis in front.
	InOrder bool
	// WholeScales says that each rank has row-wise scales for all rows that are gathered, one tensor
	// for each of Bs; otherwise they are gathered, as A is.
	WholeScales bool
	// WithoutA leaves A's own shard out of what is gathered, which is then no result: torch's
	// return_A = False.
	WithoutA bool
}

// outer returns how many blocks of rows a rank's part of A has, one after the other in memory.
func (s *Shards) outer() int64 {
	if !s.InOrder {
		return 1
	}
	return s.A.Shape[:s.Axis].Elements()
}

// moves reports whether A is copied to put Axis in front.
func (s *Shards) moves() bool { return !s.InOrder && !isLaidOut(s.A.Shape, s.Axis) }

// A Refusal is an error for a fused matmul that cannot be.
type Refusal struct{ What, Value, Want string }

// Error formats the refusal in one line.
func (r *Refusal) Error() string {
	return fmt.Sprintf("%s = %s: %s", r.What, r.Value, r.Want)
}

// check checks the operands against what both pipelines need.
func (s *Shards) check() error {
	refuse := func(what string, value any, want string) error {
		return &Refusal{what, fmt.Sprint(value), want}
	}
	switch {
	case s.Ranks < 1:
		return refuse("ranks", s.Ranks, "at least 1 is expected")
	case s.Variant > Seed:
		return refuse("variant", uint8(s.Variant), "seed or repaired is expected")
	case len(s.A.Shape) < 2:
		return refuse("the shape of a", s.A.Shape, "at least 2 axes are expected")
	case s.Axis < 0 || s.Axis >= len(s.A.Shape):
		return refuse("axis", s.Axis, fmt.Sprintf("an axis of %v, from 0 to %d, is expected", s.A.Shape,
			len(s.A.Shape)-1))
	case s.Axis == len(s.A.Shape)-1:
		return refuse("axis", s.Axis, "any axis but the last, along which a matmul adds up, is expected")
	case len(s.Bs) == 0:
		return refuse("the number of bs", 0, "at least 1 is expected")
	case s.Outs != nil && len(s.Outs) != len(s.Bs):
		return refuse("the number of out types", len(s.Outs), fmt.Sprintf("%d, as there are bs, are "+
			"expected", len(s.Bs)))
	case s.TransposeB != nil && len(s.TransposeB) != len(s.Bs):
		return refuse("the number of transposed bs", len(s.TransposeB), fmt.Sprintf("%d, as there are "+
			"bs, are expected", len(s.Bs)))
	case s.TransposeB != nil && s.Scales != nil:
		return refuse("scales", len(s.Scales), "none of transposed bs are expected")
	case s.WholeScales && s.Scales == nil:
		return refuse("whole scales", true, "scales are expected with them")
	case s.Scales != nil && len(s.Scales) != len(s.Bs):
		return refuse("the number of scales", len(s.Scales), fmt.Sprintf("%d, as there are bs, are "+
			"expected", len(s.Bs)))
	}
	if s.InOrder && s.Scales != nil && !s.WholeScales && !isLaidOut(s.A.Shape, s.Axis) {
		return refuse("the order of axes", "A's", "scales for all rows are expected with it")
	}
	for i, b := range s.Bs {
		if len(b.Shape) != 2 {
			return refuse(fmt.Sprintf("the shape of b%d", i), b.Shape, "a matrix is expected")
		}
	}
	return nil
}

// moved returns a shape with an axis in front, and its size as a matrix: rows, and columns of the
// last axis.
func moved(s collective.Shape, axis int) (front collective.Shape, rows, columns int64) {
	front = collective.Shape{s[axis]}
	for i, n := range s {
		if i != axis {
			front = append(front, n)
		}
	}
	columns = front[len(front)-1]
	if columns == 0 {
		return front, 0, 0
	}
	return front, front.Elements() / columns, columns
}

// isLaidOut reports whether moving an axis to the front leaves a contiguous tensor unchanged: the
// axes before it have one element.
func isLaidOut(s collective.Shape, axis int) bool { return s[:axis].Elements() == 1 }

// matmul returns the operation of the i-th B on so many rows of A.
func (s *Shards) matmul(i int, rows, columns int64, usual dtype.Type) (kernel.Op, error) {
	out := usual
	if s.Outs != nil && s.Outs[i] != 0 {
		out = s.Outs[i]
	}
	a := kernel.Tensor{Name: "a", Type: s.A.Type, Shape: collective.Shape{rows, columns}}
	if s.Scales == nil {
		return kernel.NewMatmul(a, s.Bs[i], false, s.TransposeB != nil && s.TransposeB[i], out)
	}
	with := s.Scales[i]
	if with.A.Shape.Elements() != 1 || with.B.Shape.Elements() != 1 {
		with.A.Shape = collective.Shape{rows, 1}
	}
	return kernel.NewScaledMatmul(a, s.Bs[i], with, out)
}

// builder collects the tensors of a pipeline.
type builder struct {
	plan schedule.Plan
}

// newBuilder returns a builder without tensors.
func newBuilder(name string, s *Shards, base dtype.Type, op collective.Op) *builder {
	none := make([]int64, s.Ranks)
	return &builder{plan: schedule.Plan{Name: name, Lanes: 2, Spec: collective.Spec{
		Kind: collective.Custom, Type: base, Op: op, Ranks: s.Ranks, Splits: [][]int64{none, none}}}}
}

// tensor adds a tensor, cut into so many even blocks, and returns its buffer.
func (b *builder) tensor(t kernel.Tensor, role schedule.Role, blocks int) schedule.Buffer {
	x := schedule.Tensor{Name: t.Name, Type: t.Type, Shape: t.Shape, Role: role}
	if blocks > 1 {
		x.Cut = schedule.Cut{{Axis: schedule.Block, N: int64(blocks)}}
	}
	b.plan.Tensors = append(b.plan.Tensors, x)
	return schedule.FirstTensor + schedule.Buffer(len(b.plan.Tensors)-1)
}

// symmetric adds a tensor of memory that other ranks may read.
func (b *builder) symmetric(t kernel.Tensor, blocks int) schedule.Buffer {
	at := b.tensor(t, schedule.Inner, blocks)
	b.plan.Tensors[len(b.plan.Tensors)-1].Symmetric = true
	return at
}

// define adds a definition.
func (b *builder) define(d schedule.Def) { b.plan.Defs = append(b.plan.Defs, d) }

// operands adds the operands of a kernel besides A, with its number in their names, and returns all
// of its operands. a, and rows for A's scales by row, exist already.
func (b *builder) operands(op kernel.Op, number int, a, rows schedule.Buffer) []schedule.Buffer {
	list := []schedule.Buffer{a}
	for _, t := range op.Operands()[1:] {
		if t.Name == "scale_a" && op.Scaling == kernel.RowWise {
			list = append(list, rows)
			continue
		}
		t.Name = fmt.Sprintf("%s%d", t.Name, number)
		list = append(list, b.tensor(t, schedule.Given, 1))
	}
	return list
}

// ordered defines a tensor of rows by block of one of ranks' parts, from or to one that has each
// rank's part in one piece: the move of an axis.
func (b *builder) ordered(from, to schedule.Buffer, view collective.Shape) error {
	typ := b.plan.Tensors[from-schedule.FirstTensor].Type
	op, err := kernel.NewMove(kernel.Tensor{Name: "a", Type: typ, Shape: view}, 1)
	if err != nil {
		return err
	}
	b.define(schedule.Def{Kernel: &op, From: []schedule.Buffer{from}, To: to})
	return nil
}

// part returns a rank's part of a tensor that all ranks' parts make up, in so many blocks of rows
// each.
func (c *counter) part(name string, rank, outer int) schedule.Region {
	region := c.Tensor(name, rank)
	if outer > 1 {
		region = region.Every(c.Ranks, outer)
	}
	return region
}

// build makes the schedule.
func (b *builder) build() (*schedule.Schedule, error) {
	s, err := schedule.Build(b.plan)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// The streams: the caller's own, and one of the backend.
const (
	current = iota
	backend
)

// name returns the name of a buffer's tensor.
func (b *builder) name(of schedule.Buffer) string {
	return b.plan.Tensors[of-schedule.FirstTensor].Name
}

// A counter counts the posts of both streams.
type counter struct {
	*schedule.Lane
	posts [2]int // of both streams; each lane counts both, since they post at the same places
}

// wait makes stream on wait for everything issued to stream of so far. Both lanes call it: one
// posts, the other awaits that.
func (c *counter) wait(on, of int) {
	c.posts[of]++
	if c.Index == of {
		c.Post()
	} else {
		c.After(of, c.posts[of])
	}
}

// on reports whether the lane is that stream.
func (c *counter) on(stream int) bool { return c.Index == stream }

// meet adds a barrier of all ranks on the pads of a channel, as a kernel of one block.
func (c *counter) meet(channel int) {
	if c.Ranks > 1 {
		c.Launch(schedule.Launch{Name: "barrier"})
		c.Pads(channel).Barrier()
	}
}

// copy adds a copy of a region by a copy engine.
func (c *counter) copy(to schedule.Region, from schedule.Source) {
	c.Launch(schedule.Launch{Engine: schedule.CopyEngine, Name: "copy"})
	c.Combine([]schedule.Region{to}, nil, from)
}
