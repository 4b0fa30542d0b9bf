package proof

import (
	"slices"

	"collsim/collective"
	"collsim/kernel"
	"collsim/schedule"
)

// The definition of a program is what its lines say, one after the other, on all ranks; that of a
// composed schedule, what its parts say; that of a collective with kernels in it, the collective.
// It is evaluated on formulas, in memories of its own. What nothing speaks of is nil; a result of
// which no line says what it is, is spoilt: it may be anything, but must be there.

// definition is the memories of all ranks when everything has been computed that is defined.
type definition struct {
	f   *formulas
	all *stores
}

// scope is a schedule that says what is computed: the whole, or a part of it.
type scope struct {
	*definition
	of    *schedule.Schedule
	ranks []int // of the whole; nil: all
	part  int
	named map[memory]*store // tensors that are in no memory, by rank of the scope
}

// define evaluates the definition in a call.
func (v *verifier) define(call int) *definition {
	d := &definition{f: v.formulas, all: newStores(v.s, 1, v.s.Spec.Ranks)}
	for rank := range v.s.Spec.Ranks {
		for _, b := range v.given {
			v.give(d.all, b, rank, call)
		}
	}
	d.parts(v.s)
	return d
}

// parts evaluates what a schedule says: itself, or its parts.
func (d *definition) parts(s *schedule.Schedule) {
	if d.all.parts == nil {
		d.evaluate(scope{of: s})
	}
	for i, p := range d.all.parts {
		d.evaluate(scope{of: p.Schedule, ranks: p.Ranks, part: i})
	}
}

// give writes what a rank is given in a call.
func (v *verifier) give(all *stores, b schedule.Buffer, rank, call int) {
	n := v.s.Len(b, rank)
	if n == 0 {
		return
	}
	m, base := all.of(b, rank)
	value := v.formulas.given(b, v.s.TypeOf(b), rank, call)
	m.write(schedule.Span{Off: base, Len: n}, []seg{{n, value, 0}}, 0)
}

func (d *definition) evaluate(sc scope) {
	sc.definition, sc.named = d, map[memory]*store{}
	if spec := &sc.of.Spec; spec.Kind != collective.Custom {
		sc.collective(spec, schedule.Input, schedule.Output)
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

// forget has a buffer of all ranks be anything, until something defines it.
func (sc *scope) forget(b schedule.Buffer) {
	for rank := range sc.of.Spec.Ranks {
		if n := sc.of.Len(b, rank); n > 0 {
			sc.write(b, rank, 0, []seg{{n: n, v: spoilt}})
		}
	}
}

// at is the memory of a buffer of a rank of the scope, and where it begins there.
func (sc *scope) at(b schedule.Buffer, rank int) (*store, int64) {
	if t := sc.of.Tensor(b); t != nil && t.Role == schedule.Defined {
		key := memory{rank, b}
		if sc.named[key] == nil {
			sc.named[key] = &store{size: t.Shape.Elements(), starts: whole, cells: make([]cell, 1)}
		}
		return sc.named[key], 0
	}
	where := schedule.Spot{Rank: rank, Part: sc.part}
	if sc.ranks != nil {
		where.Rank = sc.ranks[rank]
	}
	m, _, base := sc.all.at(where, b)
	return m, base
}

// read is what a buffer of a rank of the scope holds.
func (sc *scope) read(b schedule.Buffer, rank int) []seg {
	n := sc.of.Len(b, rank)
	if n == 0 {
		return nil
	}
	m, base := sc.at(b, rank)
	return m.read(nil, schedule.Span{Off: base, Len: n})
}

// write stores segments in a buffer of a rank of the scope, from an element on.
func (sc *scope) write(b schedule.Buffer, rank int, off int64, segs []seg) {
	m, base := sc.at(b, rank)
	n := int64(0)
	for _, g := range segs {
		n += g.n
	}
	m.write(schedule.Span{Off: base + off, Len: n}, segs, 0)
}

// kernel computes a tensor on every rank.
func (sc *scope) kernel(op *kernel.Op, from []schedule.Buffer, to schedule.Buffer) {
	for rank := range sc.of.Spec.Ranks {
		in := make([][]seg, len(from))
		for i, b := range from {
			in[i] = sc.read(b, rank)
		}
		sc.write(to, rank, 0, sc.f.apply(*op, in))
	}
}

// collective computes a tensor of another among all ranks.
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

// reduce combines the inputs of all ranks, and scales them or the result.
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

// undefined lists the results that the definition leaves open, or parts of them.
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

// everywhere is what a buffer holds on all ranks.
func (v *verifier) everywhere(all *stores, b schedule.Buffer) (segs []seg) {
	for rank := range v.s.Spec.Ranks {
		if n := v.s.Len(b, rank); n > 0 {
			m, base := all.of(b, rank)
			segs = m.read(segs, schedule.Span{Off: base, Len: n})
		}
	}
	return segs
}

func written(g seg) bool   { return g.v != nil }
func unwritten(g seg) bool { return g.v == nil }
