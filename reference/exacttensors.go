package reference

import (
	"math"
	"strings"

	"collsim/collective"
	"collsim/dtype"
	"collsim/kernel"
	"collsim/schedule"
)

// exactTensors makes given tensors of floats such that nothing of a program is ever rounded, in
// whatever order products and sums are added up. (Integers wrap, which no order changes.)
//
// All elements are whole numbers other than 0, of magnitude at most most; scales of a scaled matmul
// are 1 or 2. A sum of K products would soon need more bits than the result's type has. So at least
// one operand of each matmul is sparse along K. The first operand, if it is given or was only moved
// since, has at most filled nonzero elements in a row; or else the second has in a column. The
// other is dense, so that nearly every element of the result depends on some elements of both.
//
// growth bounds, line by line, how large values may get with filled elements in each row or column:
// a value is a whole number of units, a power of two. If it has at most 2^precision units, and sums
// that a kernel makes in float32 at most 2^24, then it and every partial sum is a number of its
// type. most and filled are the first of (64, 8), (64, 4), … (1, 1) for which that holds on all
// lines. Where none is (means over a number that is no power of two, other such factors, sums over
// more ranks than the type counts), both are 1, and rounded results are checked within their
// bounds. Results of layers are rounded in any case: with layers they are (16, 8), and all floats
// 16ths, since a softmax of large numbers is 0 and 1.
type exactTensors struct {
	*script
	uses   []use // of values
	most   float64
	filled int64
	proven bool // nothing is rounded
	layers bool
}

// use is the role of a given tensor in the matmuls that it goes into, and whether it is one of
// squares.
type use struct{ rows, columns, scale, squares bool }

// A growth bounds the elements of a value: whole numbers of units, at most most. origin is the
// given tensor that they were only moved from since, or −1.
type growth struct {
	most, unit float64
	origin     int
}

// newExactTensors chooses the largest numbers with which nothing is rounded.
func newExactTensors(d *script) *exactTensors {
	e := &exactTensors{script: d, uses: make([]use, len(d.types)), most: 1, filled: 1}
	e.grows(func(l *line, of []growth) {
		if l.kernel == nil {
			return
		}
		e.layers = e.layers || l.kernel.IsLayer() && l.kernel.Kind != kernel.Pad
		for i, operand := range l.kernel.Operands() {
			at := of[i].origin
			if at >= 0 && operand.Name == "v" && l.kernel.Kind != kernel.Attention {
				e.uses[at].squares = true // Adam's second moment
			}
		}
		if !l.kernel.IsMatmul() {
			return
		}
		for i := range 2 { // one of them is enough
			if at := of[i].origin; at >= 0 {
				if alongRows(l.kernel, i) {
					e.uses[at].rows = true
				} else {
					e.uses[at].columns = true
				}
				break
			}
		}
		for i, operand := range l.kernel.Operands() {
			if of[i].origin >= 0 && strings.HasPrefix(operand.Name, "scale_") {
				e.uses[of[i].origin].scale = true
			}
		}
	})
	if e.layers {
		e.most, e.filled = 16, 8
		return e
	}
	for most := 64.0; most >= 1; most /= 4 {
		for filled := int64(8); filled >= 1; filled /= 2 {
			e.most, e.filled = most, filled
			if e.proven = e.grows(nil); e.proven {
				return e
			}
		}
	}
	return e
}

// grows bounds the values of all lines, calls observe with the operands of each, and reports
// whether nothing is rounded.
func (e *exactTensors) grows(observe func(l *line, of []growth)) bool {
	values, exact := make([]growth, len(e.types)), true
	for i := range values {
		values[i] = growth{most: e.most, unit: 1, origin: -1}
		if i < len(e.s.Tensors) && e.s.Tensors[i].Role.IsGiven() {
			values[i].origin = i
		}
		if e.uses[i].scale {
			values[i].most = 2
		}
	}
	written := make([]bool, len(values))
	for i := range e.s.Tensors {
		written[i] = e.s.Tensors[i].Role == schedule.Updated // ranks that do not overwrite it keep it
	}
	for i := range e.lines {
		l := &e.lines[i]
		var of []growth
		for _, p := range l.from {
			of = append(of, values[p.value])
		}
		if observe != nil {
			observe(l, of)
		}
		g, fits := e.collective(l, of), true
		if l.kernel != nil {
			g, fits = e.kernel(l.kernel, of)
		}
		t := e.types[l.to.value]
		exact = exact && fits && (!t.IsFloat() || g.fits(t))
		if at := l.to.value; written[at] { // the worse of both
			old := values[at]
			g = growth{max(g.most, old.most), min(g.unit, old.unit), -1}
		}
		values[l.to.value], written[l.to.value] = g, true
	}
	return exact
}

// fits reports whether every number that the growth allows is a number of a float type.
func (g growth) fits(t dtype.Type) bool {
	return g.bits(t.Precision()) && g.most <= t.Largest() && g.unit >= t.Smallest()
}

// bits reports whether the numbers have at most so many bits.
func (g growth) bits(n int) bool { return g.unit > 0 && g.most/g.unit <= math.Ldexp(1, n) }

// collective returns the growth of a collective's result; without an exact form, its unit is 0.
func (e *exactTensors) collective(l *line, of []growth) growth {
	if l.spec == nil || !l.spec.Kind.Reduces() {
		return of[0]
	}
	g, n := growth{of[0].most, of[0].unit, -1}, float64(l.spec.Ranks)
	switch l.spec.Op {
	case collective.Sum:
		g.most *= n
	case collective.Avg:
		g.unit = dividedBy(g.unit, n)
	case collective.PremulSum:
		g = g.times(l.spec.Factor)
		g.most *= n
	case collective.Prod:
		g.most, g.unit = math.Pow(g.most, n), math.Pow(g.unit, n)
	}
	return g
}

// times returns the growth after multiplication by a number: exact only if that is a power of two.
func (g growth) times(factor float64) growth {
	f := math.Abs(factor)
	g.most, g.unit = g.most*f, g.unit*f
	if fraction, _ := math.Frexp(f); fraction != 0.5 {
		g.unit = 0
	}
	return g
}

// dividedBy returns the unit after division by a power of two; 0 for another number.
func dividedBy(unit, n float64) float64 {
	if fraction, _ := math.Frexp(n); fraction != 0.5 {
		return 0
	}
	return unit / n
}

// kernel returns the growth of a kernel's result, and whether its intermediate sums fit.
func (e *exactTensors) kernel(o *kernel.Op, of []growth) (growth, bool) {
	switch {
	case o.Kind == kernel.Opaque: // a stand-in
		return growth{kernel.MostOfStandIn, 1, -1}, true
	case len(of) == 0 || !o.A.IsFloat():
		return growth{1, 0, -1}, true
	case o.Kind == kernel.Pad: // zeros behind what there is, or without them again
		return growth{of[o.Gradient].most, of[o.Gradient].unit, -1}, true
	case o.IsLayer():
		return growth{math.Inf(1), 0, -1}, false
	}
	wide := dtype.Float32
	if o.A == dtype.Float64 || o.B == dtype.Float64 {
		wide = dtype.Float64
	}
	g := growth{of[0].most, of[0].unit, -1}
	sum := g
	switch o.Kind {
	case kernel.Add:
		g = growth{of[0].most + of[1].most, min(of[0].unit, of[1].unit), -1}
		sum = g
	case kernel.Sum:
		g.most *= float64(o.In.Lengths()[o.Axis])
		sum = g
	case kernel.Scale:
		g = g.times(o.Factor)
		sum = g
	case kernel.Mean:
		n := float64(o.In.Lengths()[o.Axis])
		sum.most *= n
		g.unit = dividedBy(g.unit, n)
	case kernel.Matmul, kernel.ScaledMatmul:
		g.unit *= of[1].unit
		g.most *= of[1].most * float64(e.terms(o, of))
		for i, operand := range o.Operands()[2:] {
			if own := of[2+i]; operand.Name == "bias" {
				g.most, g.unit = g.most+own.most, min(g.unit, own.unit)
			} else {
				g.most, g.unit = g.most*own.most, g.unit*own.unit
			}
		}
		sum = g
	}
	return g, sum.bits(wide.Precision())
}

// terms bounds the nonzero products in a sum of a matmul.
func (e *exactTensors) terms(o *kernel.Op, of []growth) int64 {
	terms := o.K()
	for operand := range 2 {
		i := of[operand].origin
		if i < 0 {
			continue
		}
		switch columns := e.columns(i); {
		case alongRows(o, operand):
			if e.uses[i].rows && o.K()%columns == 0 { // rows of the operand are some of the tensor
				terms = min(terms, e.filled*(o.K()/columns))
			}
		case e.uses[i].columns && !e.uses[i].rows && columns == across(o, operand):
			rows := max(e.lengths[i]/columns, 1)
			terms = min(terms, e.filled*((o.K()+rows-1)/rows))
		}
	}
	return terms
}

// alongRows reports whether a matmul sums along the rows of an operand as it is stored.
func alongRows(o *kernel.Op, operand int) bool {
	if operand == 0 {
		return !o.TransposeA
	}
	return o.TransposeB
}

// across returns the length of a matmul operand's axis that is not summed over.
func across(o *kernel.Op, operand int) int64 {
	if operand == 0 {
		return o.M()
	}
	return o.N
}

// columns returns the length of a tensor's last axis.
func (e *exactTensors) columns(i int) int64 {
	shape := e.s.Tensors[i].Shape
	if len(shape) == 0 {
		return 1
	}
	return max(shape[len(shape)-1], 1)
}

// tensor makes a tensor's elements on a rank.
func (e *exactTensors) tensor(i int, seed uint64, rank int) []byte {
	g := numbers{seed: scramble(seed + golden)}
	own := g.stream(rank)
	values, columns := make([]float64, e.lengths[i]), e.columns(i)
	rows := int64(len(values)) / columns
	for at := range values {
		row, column := int64(at)/columns, int64(at)%columns
		h := word(own, int64(at))
		switch u := e.uses[i]; {
		case u.scale:
			values[at] = float64(1 + h>>63)
			continue
		case u.rows:
			if !e.chosen(scramble(own+uint64(row)), column, columns) {
				continue
			}
		case u.columns:
			if !e.chosen(scramble(own+uint64(column)), row, rows) {
				continue
			}
		}
		values[at] = float64(1 + (h>>1)%uint64(e.most))
		if h&1 != 0 && !e.uses[i].squares {
			values[at] = -values[at]
		}
		if e.layers && e.types[i].IsFloat() {
			values[at] /= 16
		}
	}
	return typeOf(e.types[i]).numbers(values)
}

// chosen reports whether the i-th of n places is filled: one random place in each of filled equal
// ranges.
func (e *exactTensors) chosen(h uint64, i, n int64) bool {
	stretch := (n + e.filled - 1) / e.filled
	at := i / stretch
	length := min(stretch, n-at*stretch)
	return i%stretch == int64(scramble(h+uint64(at))%uint64(length))
}
