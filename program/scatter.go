package program

import (
	"fmt"

	"collsim/collective"
	"collsim/kernel"
	"collsim/schedule"
)

// MatmulReduceScatter returns the schedule of torch's fused_matmul_reduce_scatter, and with scales
// of the scaled one. Every rank has A and B of a part of K; the products are added, and every rank
// gets its part of the sum, or of the mean, along Axis. Results are stored with that axis in front.
//
//	backend   A[r+1] × B → 0, barrier, pull 0 of r−1 │          A[r+3] × B → 0, barrier, pull …
//	current                          A[r+2] × B → 1, barrier, pull 1 of r−2 │ … A[r] × B, add
//
// Two buffers alternate, and own rows go straight to where all are added. In the seed, a product
// may overwrite a buffer that another rank still pulls: from 4 ranks on within a call, and from 2
// with the next. In the repaired variant, a barrier follows every pull.
func MatmulReduceScatter(s Shards) (*schedule.Schedule, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if len(s.Bs) != 1 {
		return nil, &Refusal{"the number of bs", fmt.Sprint(len(s.Bs)), "1 is expected"}
	}
	front, rows, columns := moved(s.A.Shape, s.Axis)
	all := int64(s.Ranks)
	if front[0]%all != 0 {
		return nil, &Refusal{fmt.Sprintf("the length of axis %d", s.Axis), fmt.Sprint(front[0]),
			fmt.Sprintf("a multiple of the %d ranks is expected", s.Ranks)}
	}
	whole, err := s.matmul(0, rows, columns, s.A.Type)
	if err != nil {
		return nil, err
	}
	part, err := s.matmul(0, rows/all, columns, s.A.Type)
	if err != nil {
		return nil, err
	}
	x := scatter{shards: &s, op: part, outer: int(s.outer())}
	kind := collective.Sum
	reduce := kernel.NewSum
	if s.Mean {
		kind, reduce = collective.Avg, kernel.NewMean
	}
	stack := kernel.Tensor{Name: "stacked", Type: part.Out,
		Shape: collective.Shape{all, rows / all, part.N}}
	if x.reduce, err = reduce(stack, 0, part.Out); err != nil {
		return nil, err
	}

	b := newBuilder("matmul-reduce-scatter", &s, part.Out, kind)
	if s.Mean {
		b.plan.Spec.Avg = collective.AvgPost
	}
	if err := x.left(b, front); err != nil {
		return nil, err
	}
	if part.Scaling == kernel.RowWise {
		t := s.Scales[0].A
		t.Name, t.Shape = "scale_a", collective.Shape{rows, 1}
		x.scales = b.tensor(t, schedule.Given, s.Ranks*x.outer)
	}
	x.operands = b.operands(part, 0, x.rows, x.scales)
	x.space = b.symmetric(kernel.Tensor{Name: "workspace", Type: part.Out,
		Shape: collective.Shape{2, rows / all, part.N}}, 2)
	x.stacked = b.tensor(stack, schedule.Inner, s.Ranks)
	partial := b.tensor(kernel.Tensor{Name: "partial", Type: part.Out,
		Shape: collective.Shape{rows, part.N}}, schedule.Defined, 1)
	x.out = b.tensor(kernel.Tensor{Name: "c", Type: part.Out,
		Shape: collective.Shape{rows / all, part.N}}, schedule.Result, 1)
	b.define(schedule.Def{Kernel: &whole, From: x.operands, To: partial})
	if err := x.defines(b, partial, kind); err != nil {
		return nil, err
	}
	b.plan.Lane = func(l *schedule.Lane) { x.lane(b, &counter{Lane: l}) }
	return b.build()
}

// defines defines what every rank gets of all ranks' products.
func (x *scatter) defines(b *builder, partial schedule.Buffer, kind collective.Op) error {
	part, ranks, outer := x.op.Output().Shape.Elements(), int64(x.shards.Ranks), int64(x.outer)
	if outer > 1 {
		laid := b.tensor(kernel.Tensor{Name: "laid", Type: x.op.Out,
			Shape: collective.Shape{ranks, part}}, schedule.Defined, 1)
		view := collective.Shape{outer, ranks, part / outer}
		if err := b.ordered(partial, laid, view); err != nil {
			return err
		}
		partial = laid
	}
	b.define(schedule.Def{From: []schedule.Buffer{partial}, To: x.out, Spec: &collective.Spec{
		Kind: collective.ReduceScatter, Op: kind, Avg: b.plan.Spec.Avg, Type: x.op.Out,
		Ranks: x.shards.Ranks, Count: part}})
	return nil
}

// left adds A, and its copy with the axis in front unless it is there.
func (x *scatter) left(b *builder, front collective.Shape) error {
	s := x.shards
	a := kernel.Tensor{Name: "a", Type: s.A.Type, Shape: s.A.Shape}
	if !s.moves() {
		x.a = b.tensor(a, schedule.Given, s.Ranks*x.outer)
		x.rows = x.a
		return nil
	}
	x.a = b.tensor(a, schedule.Given, 1)
	op, err := kernel.NewMove(a, s.Axis)
	x.move = &op
	x.rows = b.tensor(kernel.Tensor{Name: "moved", Type: s.A.Type, Shape: front}, schedule.Inner,
		s.Ranks)
	b.define(schedule.Def{Kernel: &op, From: []schedule.Buffer{x.a}, To: x.rows})
	return err
}

// scatter holds what the ranks do.
type scatter struct {
	shards              *Shards
	op, reduce          kernel.Op
	move                *kernel.Op
	outer               int             // blocks of rows that a rank's part of A has
	a, rows, scales     schedule.Buffer // rows: A with the axis in front
	operands            []schedule.Buffer
	space, stacked, out schedule.Buffer
}

// produce multiplies the rows of a rank.
func (x *scatter) produce(b *builder, c *counter, rank int, into schedule.Region) {
	operands := make([]schedule.Region, len(x.operands))
	for i, of := range x.operands {
		operands[i] = c.Tensor(b.name(of), 0)
		if of == x.rows || x.scales != 0 && of == x.scales {
			operands[i] = c.part(b.name(of), rank, x.outer)
		}
	}
	c.Launch(schedule.Launch{Name: "matmul"})
	c.Compute(x.op, into, operands...)
}

// lane writes what a stream of a rank does.
func (x *scatter) lane(b *builder, c *counter) {
	c.Round(0)
	if x.move != nil {
		if c.on(current) {
			c.Launch(schedule.Launch{Name: "layout"})
			c.Compute(*x.move, c.Tensor(b.name(x.rows), 0).Blocks(c.Ranks), c.Tensor(b.name(x.a), 0))
		}
		c.wait(backend, current)
	}
	for step := 1; step < c.Ranks; step++ {
		stream, other := step%2, 1-step%2
		buffer := 1 - step%2
		c.Round(step)
		if c.on(stream) {
			x.produce(b, c, (c.Rank+step)%c.Ranks, c.Tensor(b.name(x.space), buffer))
			c.meet(step % 2)
		}
		// No later product may delay the barrier.
		c.wait(other, stream)
		if c.on(stream) {
			remote := (c.Rank + c.Ranks - step) % c.Ranks
			c.copy(c.Tensor(b.name(x.stacked), remote),
				c.Get(remote, c.Tensor(b.name(x.space), buffer)))
			if x.shards.Variant == Repaired {
				c.meet(step % 2)
			}
		}
	}
	c.Round(c.Ranks)
	if c.on(current) {
		x.produce(b, c, c.Rank, c.Tensor(b.name(x.stacked), c.Rank))
	}
	if c.Ranks > 1 {
		c.wait(current, backend)
	}
	if c.on(current) {
		c.Launch(schedule.Launch{Name: "add"})
		c.Compute(x.reduce, c.Tensor(b.name(x.out), 0),
			c.Tensor(b.name(x.stacked), 0).Blocks(c.Ranks))
	}
}
