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
	"collsim/symmetry"
)

// A program computes more than one sum of inputs, so its values are formulas. A formula combines
// elements of sources by one operator. A source is a tensor that a rank is given in a call, or the
// result of a kernel, or a formula under another operator. Formulas and sources are interned: the
// same result, computed in any order and in any pieces, is the same value.

// A formula is a value of a program. The embedded value is what cells and segments hold; its tree
// is the formula's number.
type formula struct {
	value                // what cells and segments hold: its tree is the formula's number
	op     collective.Op // combines the terms: sum, prod, min or max; 0 if there is one term
	typ    dtype.Type
	groups []group // by offset, then by scale; the first offset is 0
}

// A group is the terms that share an offset and a scale: the multiset of their sources. For the
// element of a segment at off, they are elements off + group.off of these sources.
type group struct {
	off     int64
	scale   int32 // index in factors
	sources multiset
}

// A source is where elements come from. It is one of three: a given tensor, the rows of a kernel's
// result (rows), or a formula taken as a whole (of).
type source struct {
	given  schedule.Buffer // of a rank, in a call
	rank   int32
	call   int32
	rows   *rows    // computed by a kernel, row by row
	of     *formula // another formula, unscaled,
	scale  int32    // or times a factor, rounded
	typ    dtype.Type
	single *formula // the formula that is this source alone
}

// formulas holds all formulas and sources of a program.
type formulas struct {
	ranks     int
	name      func(schedule.Buffer) string
	list      []*formula // by number; 0 is unused
	byKey     map[string]*formula
	sums      map[sumKey]*formula
	sources   []source
	multisets multisets
	inputs    map[[2]int]int32 // of a call and a buffer: the source of rank 0
	wraps     map[[2]int32]int32
	factors   []*big.Rat
	byRatio   map[string]int32
	contents  map[string]int32 // of operands that kernels read whole
	whole     [][]seg
	kernels   map[kernel.Op]int32
	byRows    map[string]int32
	calls     symmetry.Colours[foldedCall] // of folded parts
	key       []byte
}

// A foldedCall is a collective on a rank of a team.
type foldedCall struct {
	of   collective.Key
	rank int
	fold *schedule.Fold
}

// A sumKey identifies a combination of two formulas, the second delta elements further.
type sumKey struct {
	op    collective.Op
	x, y  int32
	delta int64
}

// newFormulas returns the formulas of a schedule: none yet, and factor 0, which is 1.
func newFormulas(s *schedule.Schedule) *formulas {
	return &formulas{ranks: s.Spec.Ranks, name: s.BufferName, list: []*formula{nil},
		byKey: map[string]*formula{}, multisets: newMultisets(),
		sums: map[sumKey]*formula{}, inputs: map[[2]int]int32{}, wraps: map[[2]int32]int32{},
		factors: []*big.Rat{big.NewRat(1, 1)}, byRatio: map[string]int32{"1": 0},
		contents: map[string]int32{}, kernels: map[kernel.Op]int32{}, byRows: map[string]int32{},
		calls: symmetry.Colours[foldedCall]{}}
}

// of returns the formula of a value. REQUIRES: the value is neither nil nor spoilt.
func (f *formulas) of(v *value) *formula { return f.list[v.tree] }

// width returns the size of an element in bytes; 0 if it is not known.
func (f *formulas) width(v *value) int64 {
	if v == nil || v == spoilt {
		return 0
	}
	return int64(f.of(v).typ.Width())
}

// given returns the value of a buffer that a rank is given in a call.
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

// alone returns the formula of a single source.
func (f *formulas) alone(s int32) *formula {
	src := &f.sources[s]
	if src.single == nil {
		src.single = f.intern(0, src.typ, []group{{sources: f.multisets.of(s)}})
	}
	return src.single
}

// add appends a source and returns its number.
func (f *formulas) add(s source) int32 {
	f.sources = append(f.sources, s)
	return int32(len(f.sources)) - 1
}

// intern returns the formula of these terms, and keeps groups if it is new. REQUIRES: groups are in
// order.
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

// plus combines x and y. The result is spoilt if either is, else unknown if either is. REQUIRES:
// equal types.
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

// operand returns the formula to combine for a value. An operator may merge the terms of its own
// results, and a sum also scaled terms. Any other formula is wrapped as one source.
func (f *formulas) operand(op collective.Op, v *value) *formula {
	x := f.of(v)
	if x.op == op || x.op == 0 && (op == collective.Sum || x.groups[0].scale == 0) {
		return x
	}
	return f.wrap(x, 0)
}

// wrap returns a formula as a source of its own, times a factor.
func (f *formulas) wrap(x *formula, scale int32) *formula {
	key := [2]int32{int32(x.tree), scale}
	s, known := f.wraps[key]
	if !known {
		s = f.add(source{of: x, scale: scale, typ: x.typ})
		f.wraps[key] = s
	}
	return f.alone(s)
}

// moved appends groups with their offsets raised by by.
func moved(dst, groups []group, by int64) []group {
	for _, g := range groups {
		g.off += by
		dst = append(dst, g)
	}
	return dst
}

// inOrder sorts groups and joins those of equal offset and scale.
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

// times multiplies a value by a factor. A sum of floats distributes the factor over its terms.
// Integers are rounded, so their product is a new source; so are scaled products, minima and
// maxima.
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

// factor returns the number of a factor.
func (f *formulas) factor(r *big.Rat) int32 {
	text := r.RatString()
	i, known := f.byRatio[text]
	if !known {
		i = int32(len(f.factors))
		f.factors, f.byRatio[text] = append(f.factors, r), i
	}
	return i
}

// scaling returns the factor by which a collective scales: 1/ranks for an average, else its own.
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

// combining returns the operator that combines elements: that of an average is a sum.
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

// cut returns n elements of a list of segments, from off on.
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
