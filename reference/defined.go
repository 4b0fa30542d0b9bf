package reference

import (
	"math"

	"collsim/collective"
	"collsim/dtype"
	"collsim/kernel"
	"collsim/schedule"
)

// definedValues are the values of a script by definition, on every rank, little-endian, with their
// doubts.
type definedValues struct {
	*script
	values [][][]byte          // by value and rank
	doubts [][]*doubt          // nil of values that may not be off at all
	known  [][][]schedule.Span // given or defined elements
	bound  rounding            // the largest used
	most   float64             // its bound
	merges bool                // a switch adds
	exact  bool                // nothing is rounded on these data
	// anyOrder says that kernels and sums may be computed in any order of additions: values of ops
	// that round may be off by the bound for all of them.
	anyOrder bool
}

// A doubt is, for each element of a value, how far computed values may be from the definition.
// largest is the base of a unit in the last place where that is larger than the value, as in
// Report.MaxULP. An element without a derived bound has an infinite doubt, or
// one of NaN where it may be NaN, too.
type doubt struct{ most, largest []float64 }

const bytesPerDoubt = 16

// evaluate computes all lines of a script from given values; exact says that nothing is rounded.
func evaluate(d *script, given Tensors, exact bool) (*definedValues, error) {
	v := newDefinedValues(d, given, exact)
	for i := range d.lines {
		if err := v.line(&d.lines[i]); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// newDefinedValues returns the values of a script before its first line.
func newDefinedValues(d *script, given Tensors, exact bool) *definedValues {
	v := &definedValues{script: d, exact: exact, values: make([][][]byte, len(d.types)),
		doubts: make([][]*doubt, len(d.types)), known: make([][][]schedule.Span, len(d.types))}
	ranks := d.s.Spec.Ranks
	for i, t := range d.types {
		v.values[i], v.doubts[i] = make([][]byte, ranks), make([]*doubt, ranks)
		v.known[i] = make([][]schedule.Span, ranks)
		isGiven := i < len(d.s.Tensors) && d.s.Tensors[i].Role.IsGiven()
		for rank := range ranks {
			if isGiven {
				v.values[i][rank] = append([]byte{}, given[i][rank]...)
				v.known[i][rank] = []schedule.Span{{Len: d.lengths[i]}}
				continue
			}
			v.values[i][rank] = unwrittenBytes(t, d.lengths[i])
		}
	}
	return v
}

// made has the results of a line on each of its ranks, with their doubts.
type made struct {
	values [][]byte
	doubts []*doubt
}

// line computes a line on all ranks.
func (v *definedValues) line(l *line) error {
	m, err := v.make(l)
	if err == nil {
		v.store(l, m)
	}
	return err
}

// make returns the results of a line on the present values.
func (v *definedValues) make(l *line) (made, error) {
	if l.kernel != nil {
		return v.kernel(l)
	}
	return v.collective(l)
}

// store writes the results of a line to its place.
func (v *definedValues) store(l *line, m made) {
	for k, rank := range l.ranks {
		v.write(l.to, k, rank, m.values[k], m.doubts[k])
	}
}

// kernel computes a kernel's line on all ranks.
func (v *definedValues) kernel(l *line) (m made, err error) {
	for k, rank := range l.ranks {
		var operands [][]byte
		var doubts []*doubt
		unsure := v.anyOrder && l.kernel.A.IsFloat() && roundingsOf(l.kernel) > 0
		for i, want := range l.kernel.Operands() {
			n := want.Shape.Elements()
			d := v.doubtsAt(l.from[i], k, rank, n)
			unsure = unsure || d != nil && !allZero(d.most)
			operands = append(operands, v.read(l.from[i], k, rank, n))
			doubts = append(doubts, d)
		}
		result, err := kernel.Apply(*l.kernel, operands)
		if err != nil {
			return made{}, err
		}
		var d *doubt
		if unsure {
			if d, err = kernelDoubts(l.kernel, operands, doubts); err != nil {
				return made{}, err
			}
		}
		m.values, m.doubts = append(m.values, result), append(m.doubts, d)
	}
	return m, nil
}

func (as[T]) widened(dst []float64, elements []byte) { dtype.Widen(dst, getAll[T](elements)) }

// collective computes a collective's line.
func (v *definedValues) collective(l *line) (made, error) {
	spec := l.spec
	inputs, doubted := make([][]byte, spec.Ranks), make([]*doubt, spec.Ranks)
	unsure := false
	for k, rank := range l.ranks {
		inputs[k] = v.read(l.from[0], k, rank, spec.In(k))
		d := v.doubtsAt(l.from[0], k, rank, spec.In(k))
		doubted[k], unsure = d, unsure || d != nil
	}
	outputs, err := typeOf(spec.Type).define(spec, inputs)
	if err != nil {
		return made{}, err
	}
	doubts := make([]*doubt, spec.Ranks)
	if unsure {
		if doubts, err = moveDoubts(spec, doubted); err != nil {
			return made{}, err
		}
	}
	if spec.Kind.Reduces() && (rounds(spec) || unsure) {
		if !v.exact {
			doubts = typeOf(spec.Type).doubts(spec, inputs, l.rounds, doubts)
		}
		if b := l.rounds.bound(spec); b > v.most {
			v.most, v.bound = b, l.rounds
			if spec.Op == collective.Prod {
				v.bound.height = v.bound.n - 1
			}
		}
		v.merges = v.merges || l.doubts
	}
	return made{outputs, doubts}, nil
}

// read returns n elements of a place on the k-th rank of a line.
func (v *definedValues) read(p place, k, rank int, n int64) []byte {
	if n == 0 {
		return nil
	}
	width := int64(v.types[p.value].Width())
	return v.values[p.value][rank][p.offsets[k]*width:][:n*width]
}

// doubtsAt returns the doubts of n elements of a place on the k-th rank of a line; nil if there are
// none.
func (v *definedValues) doubtsAt(p place, k, rank int, n int64) *doubt {
	if n == 0 || v.doubts[p.value][rank] == nil {
		return nil
	}
	return v.doubts[p.value][rank].slice(p.offsets[k], n)
}

// slice returns the doubts of a range.
func (d *doubt) slice(off, n int64) *doubt {
	if d == nil {
		return nil
	}
	return &doubt{d.most[off:][:n], d.largest[off:][:n]}
}

// newDoubt returns doubts of 0.
func newDoubt(n int64) *doubt { return &doubt{make([]float64, n), make([]float64, n)} }

// write sets elements of a place, with their doubts.
func (v *definedValues) write(p place, k, rank int, elements []byte, d *doubt) {
	if len(elements) == 0 {
		return
	}
	width := int64(v.types[p.value].Width())
	off, n := p.offsets[k], int64(len(elements))/width
	copy(v.values[p.value][rank][off*width:], elements)
	v.known[p.value][rank] = cover(v.known[p.value][rank], schedule.Span{Off: off, Len: n})
	at := &v.doubts[p.value][rank]
	if d == nil && *at == nil {
		return
	}
	if *at == nil {
		*at = newDoubt(v.lengths[p.value])
	}
	own := (*at).slice(off, n)
	if d == nil {
		d = newDoubt(n)
	}
	copy(own.most, d.most)
	copy(own.largest, d.largest)
}

// allZero reports whether all numbers are 0.
func allZero(list []float64) bool {
	for _, x := range list {
		if x != 0 {
			return false
		}
	}
	return true
}

// moveDoubts moves doubts as the collective moves, or adds up, elements.
func moveDoubts(spec *collective.Spec, doubted []*doubt) (moved []*doubt, err error) {
	same := *spec
	same.Type, same.InPlace = dtype.Float64, false
	if same.Kind.Reduces() {
		same.Op = collective.Sum
	}
	var most, largest [][]float64
	for k, d := range doubted {
		if d == nil {
			d = newDoubt(spec.In(k))
		}
		most, largest = append(most, d.most), append(largest, d.largest)
	}
	offBy, err := Define(same, most)
	if err != nil {
		return nil, err
	}
	units, err := Define(same, largest)
	if err != nil {
		return nil, err
	}
	for k := range offBy {
		moved = append(moved, &doubt{offBy[k], units[k]})
	}
	return moved, nil
}

func (as[T]) define(spec *collective.Spec, in [][]byte) ([][]byte, error) {
	inputs := make([][]T, len(in))
	for k := range in {
		inputs[k] = getAll[T](in[k])
	}
	out, err := Define(*spec, inputs)
	if err != nil {
		return nil, err
	}
	outputs := make([][]byte, len(out))
	for k := range out {
		outputs[k] = put(out[k])
	}
	return outputs, nil
}

// doubts returns how far the results of a reduction may be off: by the bound of its roundings.
// Where operands may be off themselves, their doubts add up, and increase that bound. Of x + d with
// |d| ≤ δ the schedule computes a sum within W·Σ|x+d| + r of f·Σ(x+d). That is within W·Σ|x| + r +
// (W+f)·Σδ of f·Σx, with W, f and r from weight and scale. Minima and maxima are off by no more
// than the sum of all δ. Products have no derived bound.
func (as[T]) doubts(spec *collective.Spec, in [][]byte, r rounding, moved []*doubt) []*doubt {
	inputs := make([][]T, len(in))
	for k := range in {
		inputs[k] = getAll[T](in[k])
	}
	plain := *spec
	plain.InPlace = false
	c := newComparison(newDefinition(&plain, reader(inputs), false), r)
	share, all := 1.0, make([]*doubt, spec.Ranks)
	switch {
	case !rounds(spec):
		c = nil
	case spec.Op == collective.Prod:
		share = math.Inf(1)
	default:
		weight, _ := c.weight(spec.Type.Smallest())
		share = float64((weight + c.scale()) * (1 + 0x1p-30))
	}
	if !spec.Type.IsFloat() {
		share = math.Inf(1)
	}
	for k := range all {
		if k > 0 && spec.Kind.Shared() {
			all[k] = all[0]
			continue
		}
		all[k] = newDoubt(spec.Out(k))
		if c != nil {
			c.doubtsOf(k, all[k])
		}
		if moved[k] == nil {
			continue
		}
		for i, sum := range moved[k].most {
			if sum > 0 {
				all[k].most[i] += float64(share * sum)
			}
		}
	}
	return all
}

// doubtsOf sets how far a rank's elements may be off.
func (c *comparison[T]) doubtsOf(rank int, d *doubt) {
	for off, end := int64(0), int64(len(d.most)); off < end; {
		o := c.d.origin(rank, off)
		o.n = min(o.n, end-off, block)
		c.key = o
		c.d.produce(c.want[:o.n], o)
		c.right = room(&c.rightWide, int(o.n))
		dtype.Widen(c.right, c.want[:o.n])
		c.tolerate()
		copy(d.most[off:off+o.n], c.tolerance[:o.n])
		copy(d.largest[off:], c.largest[:o.n])
		off += o.n
	}
}
