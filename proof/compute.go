package proof

import (
	"fmt"
	"slices"

	"collsim/schedule"
)

// Steps that only programs have: kernels, and one-sided access to symmetric memory.

// compute evaluates a kernel on formulas. It reports operands that are unwritten or of the wrong
// size.
func (v *verifier) compute(at *schedule.Visit) error {
	op := at.Step.Kernel
	operands := op.Operands()
	if len(operands) == 0 {
		return nil
	}
	if v.formulas == nil {
		return errComputes
	}
	in := make([][]seg, len(operands))
	for i, want := range operands {
		r := &at.Step.From[i].Region
		in[i] = v.load(at, nil, int(at.Rank), r, reading)
		if got := sizeOf(in[i]); got != want.Shape.Elements() {
			return &schedule.Violation{Kind: schedule.Malformed, Rank: int(at.Rank), Lane: int(at.Lane),
				Step: int(at.Number), Chunk: v.firstBlock(at, r), Text: fmt.Sprintf(
					"%v reads %d elements of %s for %s, which has %v", op.Kind, got,
					v.bufferName(at, r.Buffer), want.Name, want.Shape)}
		}
	}
	v.a = append(v.a[:0], v.formulas.apply(*op, in)...)
	return v.put(at, int(at.Rank), &at.Step.To[0], writing)
}

// formulaPlus combines two segments with the operator of the step's collective. It reports operands
// of different types.
func (v *verifier) formulaPlus(at *schedule.Visit, x, y seg) seg {
	f := v.formulas
	if x.v != nil && y.v != nil && x.v != spoilt && y.v != spoilt {
		if a, b := f.of(x.v).typ, f.of(y.v).typ; a != b {
			v.report(schedule.Malformed, at, at.Step.Chunk(), "%s combines %v with %v", at.Step.Name(), a,
				b)
			return seg{v: spoilt}
		}
	}
	return f.plus(combining(v.s.SpecAt(at.Spot()).Op), x, y)
}

// spoil replaces unwritten elements by spoilt ones, so that they are reported only once.
func spoil(segs []seg) []seg {
	for i := range segs {
		if segs[i].v == nil {
			segs[i].v = spoilt
		}
	}
	return segs
}

// reportUnwritten reports the first unwritten elements of a region.
func (v *verifier) reportUnwritten(at *schedule.Visit, m *store, of memory, base int64,
	r *schedule.Region) {
	where := at.Spot()
	where.Rank = of.rank
	for _, span := range v.s.Spans(nil, where, r) {
		from := span.Off + base
		for _, g := range m.read(nil, schedule.Span{Off: from, Len: span.Len}) {
			if g.v == nil {
				v.report(schedule.Missing, at, v.firstBlock(at, r),
					"%s%s reads %s of rank %d, whose %s nobody has written", at.Step.Name(),
					v.partName(int(at.Rank), int(at.Lane)), v.s.BufferName(of.home), of.rank,
					elements(from, g.n))
				return
			}
			from += g.n
		}
	}
}

// elements formats a range: "element 5" or "elements 5 to 8".
func elements(from, n int64) string {
	if n == 1 {
		return fmt.Sprintf("element %d", from)
	}
	return fmt.Sprintf("elements %d to %d", from, from+n-1)
}

// reach reports a violation if a one-sided access is to a tensor that is not symmetric memory.
func (v *verifier) reach(at *schedule.Visit, of memory, how accessKind) {
	t := v.s.Tensor(of.home)
	if how&afar == 0 || t == nil || t.Symmetric {
		return
	}
	verb := "reads"
	if how&writing != 0 {
		verb = "writes"
	}
	v.report(schedule.Malformed, at, at.Step.Chunk(),
		"%s%s %s %s of rank %d one-sided, which is not symmetric memory", at.Step.Name(),
		v.partName(int(at.Rank), int(at.Lane)), verb, t.Name, of.rank)
}

// holdType reports values that are stored in a tensor of another type. The check is made here since
// a message has no type of its own.
func (v *verifier) holdType(at *schedule.Visit, of memory) {
	want := v.s.TypeOf(of.home)
	for i := range v.a {
		if x := v.a[i].v; x == nil || x == spoilt || v.formulas.of(x).typ == want {
			continue
		}
		v.report(schedule.Malformed, at, at.Step.Chunk(), "%s stores %v in %s, which is of %v",
			at.Step.Name(), v.formulas.of(v.a[i].v).typ, v.s.BufferName(of.home), want)
		v.a = slices.Clone(v.a)
		for j := range v.a {
			v.a[j].v = spoilt
		}
		return
	}
}

// bufferName returns the schedule's name for the memory of a step's buffer.
func (v *verifier) bufferName(at *schedule.Visit, b schedule.Buffer) string {
	home, _ := v.s.Locate(at.Spot(), b)
	if v.memory.parts == nil {
		home = b
	}
	return v.s.BufferName(home)
}

// firstBlock returns the first block of a region, in the numbering of the schedule that has the
// step.
func (v *verifier) firstBlock(at *schedule.Visit, r *schedule.Region) int {
	if v.memory.parts != nil {
		return v.memory.parts[at.Part].Schedule.FirstBlock(r)
	}
	return v.s.FirstBlock(r)
}
