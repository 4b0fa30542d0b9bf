package proof

import (
	"cmp"
	"encoding/binary"
	"math/big"
	"slices"

	"collsim/collective"
	"collsim/dtype"
	"collsim/kernel"
	"collsim/schedule"
)

// A program computes more than one sum of inputs, so its values are formulas: a combination, by one
// operator, of elements of sources. A source is a tensor that a rank is given in a call, or what a
// kernel makes of other values, or a formula that another operator takes as it is. Formulas and
// sources are interned: the same computed twice, in whichever order and pieces, is the same value.

// formula is a value of a program.
type formula struct {
	value                // what cells and segments hold: its tree is the formula's number
	op     collective.Op // that combines the terms: sum, prod, min or max; 0 of a term alone
	typ    dtype.Type
	groups []group // by offset, then by scale; the first offset is 0
}

// group is terms that are elements at one offset, scaled alike, of the sources in a bag. Of the
// element of a segment at off, they are the elements off + group.off.
type group struct {
	off     int64
	scale   int32 // index in factors
	sources multiset
}

// source is where elements come from: one of three.
type source struct {
	given  schedule.Buffer // of a rank, in a call
	rank   int32
	call   int32
	rows   *rows    // what a kernel computes, row by row
	of     *formula // another formula as it is,
	scale  int32    // or, rounded, times a factor
	typ    dtype.Type
	single *formula // the source alone
}

// formulas are all values and sources of a program.
type formulas struct {
	ranks     int
	name      func(schedule.Buffer) string
	list      []*formula // by number; 0 is none
	byKey     map[string]*formula
	sums      map[sumKey]*formula
	sources   []source
	multisets multisets
	inputs    map[[2]int]int32 // of a call and a buffer, the source of rank 0
	wraps     map[[2]int32]int32
	factors   []*big.Rat
	byRatio   map[string]int32
	contents  map[string]int32 // of what a kernel reads whole
	whole     [][]seg
	kernels   map[kernel.Op]int32
	byRows    map[string]int32
	key       []byte
}

// sumKey is two formulas, the second so many elements further.
type sumKey struct {
	op    collective.Op
	x, y  int32
	delta int64
}

func newFormulas(s *schedule.Schedule) *formulas {
	return &formulas{ranks: s.Spec.Ranks, name: s.BufferName, list: []*formula{nil},
		byKey: map[string]*formula{}, multisets: newMultisets(),
		sums: map[sumKey]*formula{}, inputs: map[[2]int]int32{}, wraps: map[[2]int32]int32{},
		factors: []*big.Rat{big.NewRat(1, 1)}, byRatio: map[string]int32{"1": 0},
		contents: map[string]int32{}, kernels: map[kernel.Op]int32{}, byRows: map[string]int32{}}
}

// of is the formula of a value. REQUIRES: neither nil nor spoilt.
func (f *formulas) of(v *value) *formula { return f.list[v.tree] }

// width is the size of an element in bytes.
func (f *formulas) width(v *value) int64 {
	if v == nil || v == spoilt {
		return 0
	}
	return int64(f.of(v).typ.Width())
}

// given is what a rank is given in a call.
func (f *formulas) given(b schedule.Buffer, typ dtype.Type, rank, call int) *value {
	key := [2]int{call, int(b)}
	first, known := f.inputs[key]
	if !known {
		first = int32(len(f.sources))
		f.inputs[key] = first
		for r := range f.ranks { // neighbours: a sum over ranks is one run
			f.sources = append(f.sources, source{given: b, rank: int32(r), call: int32(call), typ: typ})
		}
	}
	return &f.alone(first + int32(rank)).value
}

// alone is the formula that is a source.
func (f *formulas) alone(s int32) *formula {
	src := &f.sources[s]
	if src.single == nil {
		src.single = f.intern(0, src.typ, []group{{sources: f.multisets.of(s)}})
	}
	return src.single
}

// add is a new source.
func (f *formulas) add(s source) int32 {
	f.sources = append(f.sources, s)
	return int32(len(f.sources)) - 1
}

// intern is the formula of these terms, which it keeps. REQUIRES: they are in order.
func (f *formulas) intern(op collective.Op, typ dtype.Type, groups []group) *formula {
	if len(groups) == 1 && f.multisets.isOne(groups[0].sources) {
		op = 0
	}
	key := append(f.key[:0], byte(op), byte(typ))
	for _, g := range groups {
		key = binary.AppendVarint(key, g.off)
		key = binary.AppendVarint(key, int64(g.scale))
		key = binary.AppendVarint(key, int64(g.sources))
	}
	f.key = key
	if known := f.byKey[string(key)]; known != nil {
		return known
	}
	x := &formula{op: op, typ: typ, groups: groups, value: value{tree: uint64(len(f.list))}}
	f.list = append(f.list, x)
	f.byKey[string(key)] = x
	return x
}

// plus is x and y combined. What is unknown stays so, and what is spoilt. REQUIRES: of one type.
func (f *formulas) plus(op collective.Op, x, y seg) seg {
	switch {
	case x.v == spoilt || y.v == spoilt:
		return seg{n: x.n, v: spoilt}
	case x.v == nil || y.v == nil:
		return seg{n: x.n}
	}
	a, b := f.operand(op, x.v), f.operand(op, y.v)
	from := min(x.off, y.off)
	if key := (sumKey{op, int32(a.tree), int32(b.tree), y.off - x.off}); f.sums[key] == nil {
		groups := append(moved(nil, a.groups, x.off-from), moved(nil, b.groups, y.off-from)...)
		f.sums[key] = f.intern(op, a.typ, f.inOrder(groups))
	}
	sum := f.sums[sumKey{op, int32(a.tree), int32(b.tree), y.off - x.off}]
	return seg{x.n, &sum.value, from}
}

// operand is a formula whose terms an operator may take apart: its own, and of a sum scaled ones.
func (f *formulas) operand(op collective.Op, v *value) *formula {
	x := f.of(v)
	if x.op == op || x.op == 0 && (op == collective.Sum || x.groups[0].scale == 0) {
		return x
	}
	return f.wrap(x, 0)
}

// wrap is a formula as a source of its own, times a factor.
func (f *formulas) wrap(x *formula, scale int32) *formula {
	key := [2]int32{int32(x.tree), scale}
	s, known := f.wraps[key]
	if !known {
		s = f.add(source{of: x, scale: scale, typ: x.typ})
		f.wraps[key] = s
	}
	return f.alone(s)
}

// moved appends groups, so many elements further.
func moved(dst, groups []group, by int64) []group {
	for _, g := range groups {
		g.off += by
		dst = append(dst, g)
	}
	return dst
}

// inOrder sorts groups and joins those that are one.
func (f *formulas) inOrder(groups []group) []group {
	slices.SortStableFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(a.off, b.off), cmp.Compare(a.scale, b.scale))
	})
	joined := groups[:0]
	for _, g := range groups {
		if n := len(joined); n > 0 && joined[n-1].off == g.off && joined[n-1].scale == g.scale {
			joined[n-1].sources = f.multisets.union(joined[n-1].sources, g.sources)
			continue
		}
		joined = append(joined, g)
	}
	return joined
}

// times is a value times a factor: of a sum of floats, its terms. Integers are rounded, so that the
// whole is something new; and so are products, minima and maxima.
func (f *formulas) times(v *value, factor int32) *value {
	if v == nil || v == spoilt || factor == 0 {
		return v
	}
	x := f.of(v)
	if !x.typ.IsFloat() || x.op != 0 && x.op != collective.Sum {
		return &f.wrap(x, factor).value
	}
	groups := slices.Clone(x.groups)
	for i := range groups {
		product := new(big.Rat).Mul(f.factors[groups[i].scale], f.factors[factor])
		groups[i].scale = f.factor(product)
	}
	return &f.intern(x.op, x.typ, f.inOrder(groups)).value
}

// factor is the number of a factor.
func (f *formulas) factor(r *big.Rat) int32 {
	text := r.RatString()
	i, known := f.byRatio[text]
	if !known {
		i = int32(len(f.factors))
		f.factors, f.byRatio[text] = append(f.factors, r), i
	}
	return i
}

// scaling is the factor by which a collective scales: one over the number of ranks, or its own.
func (f *formulas) scaling(spec *collective.Spec) int32 {
	if spec.Op == collective.Avg {
		return f.factor(big.NewRat(1, int64(spec.Ranks)))
	}
	r := new(big.Rat).SetFloat64(spec.Factor)
	if r == nil {
		r = new(big.Rat)
	}
	return f.factor(r)
}

// combining is the operator that a collective combines with.
func combining(op collective.Op) collective.Op {
	if op == collective.Avg || op == collective.PremulSum {
		return collective.Sum
	}
	return op
}

// zip appends the combination, element by element, of two lists of segments of equal length.
func zip(sum, a, b []seg, plus func(x, y seg) seg) []seg {
	var x, y seg
	for {
		for ; x.n == 0; a = a[1:] {
			if len(a) == 0 {
				return sum
			}
			x = a[0]
		}
		for ; y.n == 0; b = b[1:] {
			if len(b) == 0 {
				return sum
			}
			y = b[0]
		}
		z := plus(x, y)
		z.n = min(x.n, y.n)
		sum = appendSeg(sum, z)
		x.n, x.off, y.n, y.off = x.n-z.n, x.off+z.n, y.n-z.n, y.off+z.n
	}
}

// cut is the elements from off to before off+n of a list of segments.
func cut(segs []seg, off, n int64) (part []seg) {
	for _, g := range segs {
		if g.n <= off {
			off -= g.n
			continue
		}
		g.n, g.off, off = g.n-off, g.off+off, 0
		if g.n = min(g.n, n); g.n == 0 {
			break
		}
		n -= g.n
		part = append(part, g)
	}
	return part
}
