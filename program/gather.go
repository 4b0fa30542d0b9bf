package program

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/dtype"
	"collsim/kernel"
	"collsim/schedule"
)

// AllGatherMatmul returns the schedule of torch's fused_all_gather_matmul, with scales
// fused_all_gather_scaled_matmul. Every rank has a shard of A; all get A, gathered along Axis, and
// its products with all Bs. Results are stored with that axis in front, as torch's views of them
// are.
//
//	current   own shard × B  copy own      │ pull r+2, × B │ …
//	backend   copy to workspace, barrier ──┘ pull r+1, × B │ pull r+3, × B │ …  barrier
//
// The seed ends with a barrier of the backend stream only. From 3 ranks on, pulls that the current
// stream still does at even steps race with the copy to the workspace in the next call. In the
// repaired variant the two streams wait for each other before the last barrier.
func AllGatherMatmul(s Shards) (*schedule.Schedule, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	front, rows, columns := moved(s.A.Shape, s.Axis)
	b := newBuilder("all-gather-matmul", &s, s.A.Type, 0)
	g := gather{shards: &s, outer: int(s.outer()), a: b.tensor(kernel.Tensor{Name: "a",
		Type: s.A.Type, Shape: s.A.Shape}, schedule.Given, 1)}
	if s.InOrder {
		front = slices.Clone(s.A.Shape)
	}
	shape := slices.Clone(front)
	if shape[0] *= int64(s.Ranks); s.InOrder {
		shape[0] = front[0]
		shape[s.Axis] *= int64(s.Ranks)
	}
	g.shard = g.a
	if s.moves() {
		op, err := kernel.NewMove(kernel.Tensor{Name: "a", Type: s.A.Type, Shape: s.A.Shape}, s.Axis)
		if err != nil {
			return nil, err
		}
		g.move = &op
		g.shard = b.tensor(kernel.Tensor{Name: "moved", Type: s.A.Type, Shape: front}, schedule.Inner, 1)
		b.define(schedule.Def{Kernel: &op, From: []schedule.Buffer{g.a}, To: g.shard})
	}
	role := schedule.Result
	if s.WithoutA {
		role = schedule.Inner
	}
	g.pieces = []piece{{own: g.shard,
		space: b.symmetric(kernel.Tensor{Name: "workspace", Type: s.A.Type, Shape: front}, 1),
		all: b.tensor(kernel.Tensor{Name: "gathered", Type: s.A.Type, Shape: shape}, role,
			s.Ranks*g.outer)}}
	if err := g.gathered(b, rows, columns); err != nil {
		return nil, err
	}
	if err := g.consumers(b, rows, columns); err != nil {
		return nil, err
	}
	b.plan.Lane = func(l *schedule.Lane) { g.lane(b, &counter{Lane: l}) }
	return b.build()
}

// gather holds what the ranks do.
type gather struct {
	shards   *Shards
	move     *kernel.Op // moves A's axis to the front; nil if nothing is moved
	outer    int        // blocks of rows that a rank's shard has in what is gathered
	a, shard schedule.Buffer
	pieces   []piece // of a shard that are gathered: A, and its scales by row
	products []product
	whole    schedule.Buffer // A, as it is defined
}

// A piece is a tensor of every rank that is gathered.
type piece struct{ own, space, all schedule.Buffer }

// A product is the matmul of a shard: its operands and its result. Operands that are pieces are
// named by the buffer that gathers them. rows, unless 0, are the scales of all rows.
type product struct {
	op        kernel.Op
	operands  []schedule.Buffer
	out, rows schedule.Buffer
}

// gathered defines what is gathered of A. Without the own shard in it, that is not what the memory
// of the same name has.
func (g *gather) gathered(b *builder, rows, columns int64) error {
	s, p := g.shards, g.pieces[0]
	count, ranks := rows*columns, int64(s.Ranks)
	at := &b.plan.Tensors[p.all-schedule.FirstTensor]
	g.whole = p.all
	if s.WithoutA {
		g.whole = b.tensor(kernel.Tensor{Name: "whole", Type: at.Type, Shape: at.Shape},
			schedule.Defined, 1)
	}
	if g.outer == 1 {
		b.gathers(p.own, g.whole, count, s.Ranks)
		return nil
	}
	laid := b.tensor(kernel.Tensor{Name: "laid", Type: s.A.Type,
		Shape: collective.Shape{ranks, count}}, schedule.Defined, 1)
	b.gathers(p.own, laid, count, s.Ranks)
	outer := int64(g.outer)
	return b.ordered(laid, g.whole, collective.Shape{ranks, outer, count / outer})
}

// gathers defines a gathering.
func (b *builder) gathers(own, all schedule.Buffer, count int64, ranks int) {
	b.define(schedule.Def{To: all, From: []schedule.Buffer{own}, Spec: &collective.Spec{
		Kind: collective.AllGather, Ranks: ranks, Count: count,
		Type: b.plan.Tensors[own-schedule.FirstTensor].Type}})
}

// consumers adds the matmuls and what they read.
func (g *gather) consumers(b *builder, rows, columns int64) error {
	s := g.shards
	for i := range s.Bs {
		op, err := s.matmul(i, rows, columns, s.Bs[i].Type)
		if err != nil {
			return err
		}
		whole, err := s.matmul(i, rows*int64(s.Ranks), columns, s.Bs[i].Type)
		if err != nil {
			return err
		}
		var scales schedule.Buffer
		p := product{op: op}
		switch isByRow := op.Scaling == kernel.RowWise; {
		case isByRow && s.WholeScales:
			p.rows = b.tensor(kernel.Tensor{Name: fmt.Sprintf("scale_a%d", i), Type: dtype.Float32,
				Shape: collective.Shape{rows * int64(s.Ranks), 1}}, schedule.Given, s.Ranks*g.outer)
			scales = p.rows
		case isByRow:
			if len(g.pieces) == 1 {
				g.scales(b, rows)
			}
			scales = g.pieces[1].all
		}
		p.operands = b.operands(op, i, g.pieces[0].all, scales)
		out := op.Output()
		out.Name = fmt.Sprintf("c%d", i)
		out.Shape = collective.Shape{rows * int64(s.Ranks), op.N}
		p.out = b.tensor(out, schedule.Result, s.Ranks*g.outer)
		from := slices.Clone(p.operands)
		from[0] = g.whole
		b.define(schedule.Def{Kernel: &whole, From: from, To: p.out})
		g.products = append(g.products, p)
	}
	return nil
}

// scales adds the scales of A's rows to the pieces that are gathered.
func (g *gather) scales(b *builder, rows int64) {
	t := g.shards.Scales[0].A
	t.Name, t.Shape = "scale_a", collective.Shape{rows, 1}
	p := piece{own: b.tensor(t, schedule.Given, 1)}
	t.Name = "scale_workspace"
	p.space = b.symmetric(t, 1)
	t.Name, t.Shape = "scales", collective.Shape{rows * int64(g.shards.Ranks), 1}
	p.all = b.tensor(t, schedule.Inner, g.shards.Ranks)
	b.gathers(p.own, p.all, rows, g.shards.Ranks)
	g.pieces = append(g.pieces, p)
}

// consume multiplies the shard of a rank: the own one, or a part of the gathered ones.
func (g *gather) consume(b *builder, c *counter, rank int, own bool) {
	for _, p := range g.products {
		operands := make([]schedule.Region, len(p.operands))
		for i, x := range p.operands {
			operands[i] = c.Tensor(b.name(x), 0)
			if x == p.rows {
				operands[i] = c.part(b.name(x), rank, g.outer)
			}
			for _, piece := range g.pieces {
				if x == piece.all && own {
					operands[i] = c.Tensor(b.name(piece.own), 0)
				} else if x == piece.all {
					operands[i] = c.part(b.name(x), rank, g.outer)
				}
			}
		}
		c.Launch(schedule.Launch{Name: "matmul"})
		c.Compute(p.op, c.part(b.name(p.out), rank, g.outer), operands...)
	}
}

// lane writes what a stream of a rank does.
func (g *gather) lane(b *builder, c *counter) {
	c.Round(0)
	if g.move != nil {
		if c.on(current) {
			c.Launch(schedule.Launch{Name: "layout"})
			c.Compute(*g.move, c.Tensor(b.name(g.shard), 0), c.Tensor(b.name(g.a), 0))
		}
		c.wait(backend, current)
	}
	if c.on(current) {
		g.consume(b, c, c.Rank, true)
		for i, p := range g.pieces {
			if i > 0 || !g.shards.WithoutA {
				c.copy(c.part(b.name(p.all), c.Rank, g.outer), c.Local(c.Tensor(b.name(p.own), 0)))
			}
		}
	} else {
		for _, p := range g.pieces {
			c.copy(c.Tensor(b.name(p.space), 0), c.Local(c.Tensor(b.name(p.own), 0)))
		}
		c.meet(0)
	}
	if c.Ranks == 1 {
		return
	}
	c.wait(current, backend)
	for step := 1; step < c.Ranks; step++ {
		c.Round(step)
		if c.on(step % 2) {
			remote := (c.Rank + step) % c.Ranks
			for _, p := range g.pieces {
				c.copy(c.part(b.name(p.all), remote, g.outer), c.Get(remote, c.Tensor(b.name(p.space), 0)))
			}
			g.consume(b, c, remote, false)
		}
	}
	c.Round(c.Ranks)
	last := backend
	if g.shards.Variant == Repaired {
		c.wait(current, backend)
		last = current
	}
	if c.on(last) {
		c.meet(c.Ranks % 2)
	}
}
