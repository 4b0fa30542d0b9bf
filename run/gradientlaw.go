package run

import (
	"fmt"

	"collsim/collective"
	"collsim/dtype"
	"collsim/reference"
	"collsim/scenarios"
	"collsim/schedule"
)

// rebuild makes the schedule of what has been made for another count.
func (r *runner) rebuild(m *made, p *scenarios.Point, spec collective.Spec) (*schedule.Schedule,
	error) {
	if m.another != nil {
		return m.another(spec)
	}
	f, err := r.s.build(p, spec, m.algorithm)
	if err != nil {
		return nil, err
	}
	return f.Schedule, nil
}

// law checks that one schedule is the transpose of the other.
func (r *runner) law(forward, back *made, result *Result) error {
	p, g := result.Point, result.Gradient
	for i, member := range forward.members {
		f, b := member.schedule, back.members[i].schedule
		if held := lawBytes(&f.Spec); held > int64(p.Check.Memory) {
			if f.Spec.Kind.Splits() {
				g.LawOff = "check.memory is too little for it"
				return nil
			}
			fewer, backward := f.Spec, b.Spec
			fewer.Count = max(1, f.Spec.Count*int64(p.Check.Memory)/held/2)
			backward.Count = fewer.Count
			var err error
			if f, err = r.rebuild(forward, p, fewer); err == nil {
				b, err = r.rebuild(back, p, backward)
			}
			if err != nil {
				g.LawOff = "check.memory is too little for it"
				return nil
			}
		}
		holds, err := adjoint(f, b, g.Mask, uint64(p.Seed))
		if err != nil {
			return err
		}
		if g.Law == Off {
			g.Law, g.LawOff, g.Count = string(reference.NumbersExact), "", CountOf(f.Spec)
		}
		if !holds {
			g.Law = string(reference.NumbersMismatch)
		}
	}
	return nil
}

// lawBytes is about what checking the law takes: a few integers for each element.
func lawBytes(spec *collective.Spec) int64 {
	total := int64(0)
	for rank := range spec.Ranks {
		total += spec.In(rank) + spec.Out(rank)
	}
	return total * 8 * 4
}

// lawFactor stands for 1/n and for premulsum's factor: an odd integer that no other sum makes up.
const lawFactor = 0x9e3779b1

// adjoint reports whether ⟨F(M t), y⟩ = ⟨t, M S B(y)⟩ for random t and y, in integers modulo 2^64,
// in which sums are exact in any order. M keeps everything, or with mask the elements of the inputs
// that are equal to the output of max. S is the scale, where the forward pass has one: an integer
// stands for it on both sides.
func adjoint(f, b *schedule.Schedule, mask bool, seed uint64) (bool, error) {
	forward, backward := linear(f, false), linear(b, false)
	t, err := reference.Inputs[uint64](forward.Spec, reference.Uniform, seed)
	if err != nil {
		return false, err
	}
	y, err := reference.Inputs[uint64](backward.Spec, reference.Uniform, seed+1)
	if err != nil {
		return false, err
	}
	keep := func(values [][]uint64) [][]uint64 { return values }
	if mask {
		m, holds, err := maskOf(f, b, seed+2)
		if err != nil || !holds {
			return false, err
		}
		keep = m.keep
	}
	x, err := reference.Run(forward, keep(t))
	if err != nil {
		return false, err
	}
	z, err := reference.Run(backward, y)
	if err != nil {
		return false, err
	}
	if forward.Spec.Op == collective.PremulSum {
		for rank := range z {
			scaleGradient(&forward.Spec, z[rank])
		}
	}
	left, err := dot(x, y)
	if err != nil {
		return false, err
	}
	right, err := dot(t, keep(z))
	return left == right, err
}

// linear is a schedule on integers that adds, whatever it did; a factor that it had is lawFactor.
// With largest it keeps the maximum instead.
func linear(s *schedule.Schedule, largest bool) *schedule.Schedule {
	c := *s
	c.Spec.Type, c.Spec.Avg, c.Spec.Factor = dtype.Uint64, 0, 0
	switch {
	case !s.Spec.Kind.Reduces():
	case largest:
		c.Spec.Op = collective.Max
	case s.Spec.ScalesBefore() || s.Spec.ScalesAfter():
		c.Spec.Op, c.Spec.Factor = collective.PremulSum, lawFactor
	default:
		c.Spec.Op = collective.Sum
	}
	return &c
}

// dot is the sum of products of what all ranks have.
func dot(x, y [][]uint64) (uint64, error) {
	total := uint64(0)
	for rank := range x {
		if len(x[rank]) != len(y[rank]) {
			return 0, fmt.Errorf("collsim: rank %d has %d elements and gradients of %d", rank,
				len(x[rank]), len(y[rank]))
		}
		for i, a := range x[rank] {
			total += a * y[rank][i]
		}
	}
	return total, nil
}

// mask says which elements of each rank's input are equal to the output.
type mask [][]bool

// keep is the values with 0 where the mask is not set.
func (m mask) keep(values [][]uint64) [][]uint64 {
	kept := make([][]uint64, len(values))
	for rank := range values {
		kept[rank] = make([]uint64, len(values[rank]))
		for i, v := range values[rank] {
			if m[rank][i] {
				kept[rank][i] = v
			}
		}
	}
	return kept
}

// maskOf makes the mask of max on inputs with many ties, as a framework would: from the output that
// a rank has, or that the backward schedule brings to it. It says whether that is the mask of the
// definition. (That of min is the same on negated inputs.)
func maskOf(f, b *schedule.Schedule, seed uint64) (mask, bool, error) {
	largest := linear(f, true)
	x, err := reference.Inputs[uint64](largest.Spec, reference.Uniform, seed)
	if err != nil {
		return nil, false, err
	}
	for rank := range x {
		for i := range x[rank] {
			x[rank][i] >>= 62
		}
	}
	out, err := reference.Run(largest, x)
	if err == nil && f.Spec.Kind != collective.AllReduce {
		out, err = reference.Run(linear(b, false), out)
	}
	if err != nil {
		return nil, false, err
	}
	m, holds := make(mask, len(x)), true
	for rank := range x {
		m[rank] = make([]bool, len(x[rank]))
		for i, v := range x[rank] {
			most := uint64(0)
			for _, other := range x {
				most = max(most, other[i])
			}
			m[rank][i] = v == out[rank][i]
			holds = holds && m[rank][i] == (v == most)
		}
	}
	return m, holds, nil
}

// On how many ranks and elements a local gradient is checked at most: its pieces follow one rule.
const (
	localRanks = 64
	localCount = 64
)

// localLaw counts elements of local gradients that are not what the full gradient is where no other
// rank's output counts, and says on what count.
func localLaw(spec collective.Spec, seed uint64) (wrong, count int64, err error) {
	spec.Type, spec.InPlace = dtype.Uint64, false
	spec.Ranks = min(spec.Ranks, localRanks)
	spec.Count = min(spec.Count, localCount)
	rows := spec.Splits[:min(len(spec.Splits), spec.Ranks)]
	spec.Splits = nil
	for _, row := range rows {
		few := make([]int64, spec.Ranks)
		for i := range few {
			few[i] = min(row[i], localCount)
		}
		spec.Splits = append(spec.Splits, few)
	}
	g, err := collective.Gradient(spec)
	if err != nil {
		return 0, 0, err
	}
	gradients, err := reference.Inputs[uint64](g.Spec, reference.Uniform, seed)
	if err != nil {
		return 0, 0, err
	}
	for rank := range spec.Ranks {
		alone := make([][]uint64, spec.Ranks)
		for other := range alone {
			if alone[other] = make([]uint64, len(gradients[other])); other == rank {
				copy(alone[other], gradients[other])
			}
		}
		full, err := reference.Define(g.Spec, alone)
		if err != nil {
			return 0, 0, err
		}
		local, err := collective.LocalGradient(spec, rank)
		if err != nil {
			return 0, 0, err
		}
		wrong += shareWrong(local.Pieces, gradients[rank], full[rank])
	}
	return wrong, CountOf(spec), nil
}

// shareWrong counts the elements of a rank's share that are not what is wanted.
func shareWrong(pieces []collective.Piece, own, want []uint64) (wrong int64) {
	next := int64(0)
	for _, piece := range pieces {
		for i := range piece.Len {
			value := uint64(0)
			if piece.From != collective.Zero {
				value = own[piece.InOff+i]
			}
			if piece.Off+i != next || value != want[piece.Off+i] {
				wrong++
			}
			next++
		}
	}
	return wrong + int64(len(want)) - next
}
