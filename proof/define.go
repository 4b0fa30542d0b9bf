package proof

import (
	"slices"

	"collsim/collective"
	"collsim/kernel"
	"collsim/schedule"
)

// The definition of a program is its lines, evaluated one after the other on all ranks. The
// definition of a composed schedule is what its parts define. The definition of a collective with
// kernels is the collective. Definitions are evaluated on formulas, in memories of their own.
// Elements that nothing defines are nil. A result that no line defines is spoilt: any value will
// do, but the schedule must write it.

// A definition holds the memories of all ranks after everything defined has been computed.
type definition struct {
	f   *formulas
	all *stores
}

// A scope is a schedule whose definition is evaluated: the whole, or a part of it.
type scope struct {
	*definition
	of    *schedule.Schedule
	ranks []int // of the whole, by rank of the scope; nil: all
	part  int
	fold  *schedule.Fold    // of a part of a folded whole; ranks has those that execute
	named map[memory]*store // tensors without memory (Defined), by rank of the scope
}

// define evaluates the definition for one call.
func (v *verifier) define(call int) *definition {
	d := &definition{f: v.formulas, all: newFewStores(v.s)}
	for rank := range v.s.Spec.Ranks {
		for _, b := range v.given {
			v.give(d.all, b, rank, call)
		}
	}
	d.parts(v.s)
	return d
}

// parts evaluates the definition of a schedule, or of each of its parts in order.
func (d *definition) parts(s *schedule.Schedule) {
	if d.all.parts == nil {
		d.evaluate(scope{of: s})
	}
	for i, p := range d.all.parts {
		d.evaluate(scope{of: p.Schedule, ranks: p.Ranks, part: i, fold: p.Fold})
	}
}

// give writes the value that a rank is given in a call into one of its buffers.
func (v *verifier) give(all *stores, b schedule.Buffer, rank, call int) {
	n := v.s.Len(b, rank)
	if n == 0 {
		return
	}
	m, base := all.of(b, rank)
	value := v.formulas.given(b, v.s.TypeOf(b), rank, call)
	m.write(schedule.Span{Off: base, Len: n}, []seg{{n, value, 0}}, 0)
}

// evaluate computes everything that a scope defines.
func (d *definition) evaluate(sc scope) {
	sc.definition, sc.named = d, map[memory]*store{}
	if spec := &sc.of.Spec; spec.Kind != collective.Custom {
		if sc.fold != nil {
			sc.call(spec)
		} else {
			sc.collective(spec, schedule.Input, schedule.Output)
		}
		return
	}
	sc.forget(schedule.Output)
	for i := range sc.of.Tensors {
		b := schedule.FirstTensor + schedule.Buffer(i)
		if sc.of.Tensors[i].Role == schedule.Result {
			sc.forget(b)
		}
	}
	for i := range sc.of.Defs {
		def := &sc.of.Defs[i]
		if def.Kernel == nil {
			sc.collective(def.Spec, def.From[0], def.To)
		} else {
			sc.kernel(def.Kernel, def.From, def.To)
		}
	}
}

// forget marks a buffer of all ranks as arbitrary (spoilt), until something defines it.
func (sc *scope) forget(b schedule.Buffer) {
	for _, rank := range sc.executing() {
		if n := sc.of.Len(b, rank); n > 0 {
			sc.write(b, rank, 0, []seg{{n: n, v: spoilt}})
		}
	}
}

// executing lists the ranks of the scope that the whole has.
func (sc *scope) executing() []int {
	if sc.fold != nil {
		return sc.fold.Seats
	}
	return upTo(sc.of.Spec.Ranks)
}

// at returns the memory of a buffer of a rank of the scope, and the buffer's offset in it.
func (sc *scope) at(b schedule.Buffer, rank int) (*store, int64) {
	if t := sc.of.Tensor(b); t != nil && t.Role == schedule.Defined {
		key := memory{rank, b}
		if sc.named[key] == nil {
			sc.named[key] = &store{size: t.Shape.Elements(), starts: whole, cells: make([]cell, 1)}
		}
		return sc.named[key], 0
	}
	where := schedule.Spot{Rank: rank, Part: sc.part}
	switch {
	case sc.fold != nil:
		where.Rank = sc.ranks[sc.fold.Stands[rank]]
	case sc.ranks != nil:
		where.Rank = sc.ranks[rank]
	}
	m, _, base := sc.all.at(where, b)
	return m, base
}

// read returns the contents of a buffer of a rank of the scope.
func (sc *scope) read(b schedule.Buffer, rank int) []seg {
	n := sc.of.Len(b, rank)
	if n == 0 {
		return nil
	}
	m, base := sc.at(b, rank)
	return m.read(nil, schedule.Span{Off: base, Len: n})
}

// write stores segments in a buffer of a rank of the scope, beginning at element off.
func (sc *scope) write(b schedule.Buffer, rank int, off int64, segs []seg) {
	m, base := sc.at(b, rank)
	n := int64(0)
	for _, g := range segs {
		n += g.n
	}
	m.write(schedule.Span{Off: base + off, Len: n}, segs, 0)
}

// kernel computes a tensor from others on every rank.
func (sc *scope) kernel(op *kernel.Op, from []schedule.Buffer, to schedule.Buffer) {
	for rank := range sc.of.Spec.Ranks {
		in := make([][]seg, len(from))
		for i, b := range from {
			in[i] = sc.read(b, rank)
		}
		sc.write(to, rank, 0, sc.f.apply(*op, in))
	}
}

// collective computes a tensor from another among all ranks of the scope.
func (sc *scope) collective(spec *collective.Spec, from, to schedule.Buffer) {
	in := make([][]seg, spec.Ranks)
	for rank := range in {
		in[rank] = cut(sc.read(from, rank), 0, spec.In(rank))
	}
	var total []seg
	if spec.Kind.Reduces() {
		total = sc.reduce(spec, in)
	}
	for rank := range in {
		for _, piece := range spec.Want(rank) {
			source := total
			if piece.From != collective.AllRanks {
				source = in[piece.From]
			}
			if piece.Len > 0 {
				sc.write(to, rank, piece.Off, cut(source, piece.InOff, piece.Len))
			}
		}
	}
}

// reduce combines the inputs of all ranks and applies the collective's scaling, before or after.
func (sc *scope) reduce(spec *collective.Spec, in [][]seg) (total []seg) {
	scale := func(segs []seg, scales bool) []seg {
		segs = slices.Clone(segs)
		for i := range segs {
			if scales {
				segs[i].v = sc.f.times(segs[i].v, sc.f.scaling(spec))
			}
		}
		return segs
	}
	for rank, segs := range in {
		if segs = scale(segs, spec.ScalesBefore()); rank == 0 {
			total = segs
			continue
		}
		total = zip(nil, total, segs, func(x, y seg) seg {
			return sc.f.plus(combining(spec.Op), x, y)
		})
	}
	return scale(total, spec.ScalesAfter())
}

// undefined lists the results that the definition leaves open, wholly or partly.
func (v *verifier) undefined(d *definition) (names []string) {
	for _, b := range v.results {
		t, segs := v.s.Tensor(b), v.everywhere(d.all, b)
		if t != nil && (slices.ContainsFunc(segs, func(g seg) bool { return g.v == spoilt }) ||
			!slices.ContainsFunc(segs, written)) {
			names = append(names, t.Name)
		}
	}
	return names
}

// everywhere returns the contents of a buffer on all ranks, one after the other.
func (v *verifier) everywhere(all *stores, b schedule.Buffer) (segs []seg) {
	for rank := range v.s.Spec.Ranks {
		if n := v.s.Len(b, rank); n > 0 {
			m, base := all.of(b, rank)
			segs = m.read(segs, schedule.Span{Off: base, Len: n})
		}
	}
	return segs
}

// written reports whether a segment has been written.
func written(g seg) bool { return g.v != nil }

// unwritten reports whether a segment has never been written.
func unwritten(g seg) bool { return g.v == nil }
