package proof

import (
	"encoding/binary"
	"slices"

	"collsim/collective"
	"collsim/dtype"
	"collsim/kernel"
)

// Kernels compute row by row where a row of the result depends on a row of some operands and on the
// whole of others. A row of a matmul depends on a row of A (and its scale) and on all of B. The
// rows of a result are elements of a source. The source is identified by the operation on one row,
// the operands read whole, and the values of the rows, wherever they are stored. So a matmul in
// blocks of rows equals one matmul, and a shard's result is the same after it has been gathered
// into any tensor.

// maxSlices bounds the slices that a sum over an axis, or a move, is divided into. A longer one is
// a kernel like others.
const maxSlices = 4096

// An operand is what a kernel reads row by row, width elements a row.
type operand struct {
	segs  []seg
	width int64
}

// A piece is a part of a row: n elements of a value. Row i begins at the value's element n·i + off.
type piece struct {
	n, off int64
	v      *value
}

// rows identifies a source that a kernel computes.
type rows struct {
	op     kernel.Op // of one row
	pieces []piece
	whole  []int32 // contents of the operands read whole
}

// apply returns the result of a kernel on its operands. REQUIRES: the operands have the kernel's
// sizes.
func (f *formulas) apply(o kernel.Op, in [][]seg) []seg {
	if o.Kind == kernel.Opaque || o.IsLayer() {
		return f.layer(o, in)
	}
	switch o.Kind {
	case kernel.Matmul, kernel.ScaledMatmul:
		return f.matmul(o, in)
	case kernel.Add:
		if o.A == o.B && o.A == o.Out {
			return f.sum(in)
		}
	case kernel.Cast:
		if o.A == o.Out {
			return in[0]
		}
	case kernel.Sum, kernel.Mean:
		return f.sumOver(o, in[0])
	case kernel.Expand:
		return f.expand(o, in[0])
	case kernel.Move:
		return f.move(o, in[0])
	}
	m := o.In.Lengths().Elements()
	o.In = kernel.ShapeOf()
	by := make([]operand, len(in))
	for i := range in {
		by[i] = operand{in[i], 1}
	}
	return f.rowwise(o, m, 1, by, nil)
}

// layer returns the result of a layer, row by row, or of an opaque kernel, as one row: all that is
// known is that it depends on all operands.
func (f *formulas) layer(o kernel.Op, in [][]seg) []seg {
	rows, shared := o.Rows()
	if rows == 0 {
		return nil
	}
	var by []operand
	var whole [][]seg
	for i, t := range o.Operands() {
		if slices.Contains(shared, i) {
			whole = append(whole, in[i])
		} else {
			by = append(by, operand{in[i], t.Shape.Elements() / rows})
		}
	}
	width := o.In.Lengths().Elements() / rows
	return f.rowwise(o.Row(), rows, width, by, whole)
}

// matmul returns the result of a matmul, row by row; of a transposed A, as one row.
func (f *formulas) matmul(o kernel.Op, in [][]seg) []seg {
	m, k := o.M(), o.K()
	if o.TransposeA { // every row depends on a column of A: the result is one row
		return f.rowwise(o, 1, m*o.N, []operand{{in[0], m * k}}, in[1:])
	}
	by, whole := []operand{{in[0], k}}, in[1:]
	if o.Scaling == kernel.RowWise {
		by = append(by, operand{in[2], 1})
		whole = append([][]seg{in[1]}, in[3:]...)
	}
	o.In = kernel.ShapeOf(k)
	return f.rowwise(o, m, o.N, by, whole)
}

// move returns the elements with an axis in front: the same values elsewhere. Those of many short
// runs are a source of their own, of all elements.
func (f *formulas) move(o kernel.Op, in []seg) (out []seg) {
	lengths := o.In.Lengths()
	outer, length := lengths[:o.Axis].Elements(), lengths[o.Axis]
	inner := lengths[o.Axis+1:].Elements()
	if outer == 1 {
		return in
	}
	if outer*length > maxSlices {
		n := lengths.Elements()
		return f.rowwise(o, 1, n, []operand{{in, n}}, nil)
	}
	for i := range length {
		for j := range outer {
			for _, g := range cut(in, (j*length+i)*inner, inner) {
				out = appendSeg(out, g)
			}
		}
	}
	return out
}

// expand returns the result of repeating an axis: a row for each index before the new axis.
func (f *formulas) expand(o kernel.Op, in []seg) []seg {
	lengths := o.In.Lengths()
	outer, inner := lengths[:o.Axis].Elements(), lengths[o.Axis:].Elements()
	o.In, o.Axis = kernel.ShapeOf(inner), 0
	return f.rowwise(o, outer, o.N*inner, []operand{{in, inner}}, nil)
}

// sumOver returns a sum or mean over an axis. Over the outermost axis it is the sum of the slices,
// as a collective computes it.
func (f *formulas) sumOver(o kernel.Op, in []seg) []seg {
	lengths := o.In.Lengths()
	outer, n := lengths[:o.Axis].Elements(), lengths[o.Axis]
	inner := lengths[o.Axis+1:].Elements()
	if outer != 1 || n == 0 || n > maxSlices {
		o.In, o.Axis = kernel.ShapeOf(n, inner), 0
		return f.rowwise(o, outer, inner, []operand{{in, n * inner}}, nil)
	}
	parts := make([][]seg, n)
	for i := range parts {
		parts[i] = cut(in, int64(i)*inner, inner)
	}
	sum := f.sum(parts)
	if o.Kind == kernel.Mean {
		factor := f.scaling(&collective.Spec{Op: collective.Avg, Ranks: int(n)})
		for i := range sum {
			sum[i].v = f.times(sum[i].v, factor)
		}
	}
	if o.A == o.Out {
		return sum
	}
	o.In, o.Axis = kernel.ShapeOf(), 0
	if o.Kind = kernel.Sum; o.A == dtype.Float32 || o.A == dtype.Float64 {
		o.Kind = kernel.Cast // of the sum, which is computed in that type, and rounded once more
	}
	return f.rowwise(o, inner, 1, []operand{{sum, 1}}, nil)
}

// sum adds lists of segments of equal length.
func (f *formulas) sum(parts [][]seg) []seg {
	if len(parts) == 1 {
		return parts[0]
	}
	half := len(parts) / 2 // a balanced tree: each term is in few intermediate sums
	return zip(nil, f.sum(parts[:half]), f.sum(parts[half:]), func(x, y seg) seg {
		return f.plus(collective.Sum, x, y)
	})
}

// rowwise returns m rows of a result, each of width elements. It advances by as many rows as every
// operand holds of one value.
func (f *formulas) rowwise(o kernel.Op, m, width int64, by []operand, whole [][]seg) (out []seg) {
	contents, spoils, bad := f.read(whole)
	for i := range by {
		by[i].segs = slices.Clone(by[i].segs)
	}
	var pieces, last []piece
	var source int32
	for width > 0 && m > 0 {
		n := int64(1)
		if pieces = pieces[:0]; by[0].width > 0 {
			n = together(by, m)
		}
		for i := range by {
			pieces = by[i].take(pieces, n)
		}
		at, value, wrong := place(pieces)
		switch m -= n; {
		case bad || wrong:
			if value == nil || spoils == spoilt {
				value = spoils
			}
			out = appendSeg(out, seg{n: n * width, v: value})
			continue
		case last == nil || !slices.Equal(pieces, last):
			source = f.rowSource(rows{o, slices.Clone(pieces), contents})
			last = append(last[:0], pieces...)
		}
		out = appendSeg(out, seg{n * width, &f.alone(source).value, at * width})
	}
	return out
}

// together returns how many of the next rows every operand holds of one value; 1 if a row has
// several values.
func together(by []operand, m int64) int64 {
	for _, o := range by {
		if o.width > 0 {
			m = min(m, o.segs[0].n/o.width)
		}
	}
	return max(m, 1)
}

// take appends the pieces of the next row, and advances by n rows. REQUIRES: n is 1, or the n rows
// are of one value.
func (o *operand) take(pieces []piece, n int64) []piece {
	for left := o.width; left > 0; {
		g := o.segs[0]
		k := min(left, g.n)
		pieces = append(pieces, piece{k, g.off, g.v})
		o.segs = skip(o.segs, k*n)
		left -= k
	}
	return pieces
}

// place returns the index of a row in its source, and makes its pieces those of row 0. If a value
// without a formula is in the row, wrong is true and value is spoilt or nil.
func place(pieces []piece) (at int64, value *value, wrong bool) {
	if len(pieces) > 0 {
		at = pieces[0].off / pieces[0].n
	}
	for i := range pieces {
		p := &pieces[i]
		p.off -= at * p.n
		if p.v == nil || p.v == spoilt {
			wrong = true
			if p.v != nil {
				value = spoilt
			}
		}
	}
	return at, value, wrong
}

// read interns the operands that a kernel reads whole. If a value without a formula is in them,
// wrong is true and value is spoilt or nil.
func (f *formulas) read(whole [][]seg) (contents []int32, value *value, wrong bool) {
	for _, segs := range whole {
		key := f.key[:0]
		for _, g := range segs {
			if g.v == nil || g.v == spoilt {
				wrong = true
				if g.v != nil {
					value = spoilt
				}
				continue
			}
			key = binary.AppendVarint(key, g.n)
			key = binary.AppendVarint(key, g.off)
			key = binary.AppendUvarint(key, g.v.tree)
		}
		f.key = key
		id, known := f.contents[string(key)]
		if !known {
			id = int32(len(f.whole))
			f.contents[string(key)] = id
			f.whole = append(f.whole, slices.Clone(segs))
		}
		contents = append(contents, id)
	}
	return contents, value, wrong
}

// rowSource returns the number of the source of these rows.
func (f *formulas) rowSource(r rows) int32 {
	op, known := f.kernels[r.op]
	if !known {
		op = int32(len(f.kernels))
		f.kernels[r.op] = op
	}
	key := binary.AppendVarint(f.key[:0], int64(op))
	for _, id := range r.whole {
		key = binary.AppendVarint(key, int64(id))
	}
	for _, p := range r.pieces {
		key = binary.AppendVarint(key, p.n)
		key = binary.AppendVarint(key, p.off)
		key = binary.AppendUvarint(key, p.v.tree)
	}
	f.key = key
	s, known := f.byRows[string(key)]
	if !known {
		s = f.add(source{rows: &r, typ: r.op.Out})
		f.byRows[string(key)] = s
	}
	return s
}
