package kernel

// Tile is the part of the result that one block of a grid computes: so many rows and columns of a
// matmul's; of another operation's, Rows·Columns elements.
type Tile struct{ Rows, Columns int64 }

// Span is a set of elements of a tensor: Times runs of Length elements from At on, Stride apart.
type Span struct{ At, Length, Times, Stride int64 }

// Elements returns the number of elements.
func (s Span) Elements() int64 { return s.Length * s.Times }

// Block is a part of the grid: the elements of the result that it writes, the elements of each
// operand that these depend on, and its cost.
type Block struct {
	Out     Span
	In      []Span // in the order of Operands
	FLOPs   int64
	Read    int64 // bytes
	Written int64 // bytes
}

// Blocks returns the number of blocks of the grid: for a matmul, ⌈m / rows⌉ · ⌈n / columns⌉. A sum
// over an axis is cut between the other axes. Attention has one for each head and attentionRows
// queries of a sequence, or keys of a gradient by them, whatever the tile. An opaque operation has
// none. REQUIRES: Validate; a tile of at least 1 by 1.
func (o Op) Blocks(t Tile) int64 {
	switch o.Kind {
	case Matmul, ScaledMatmul:
		return over(o.M(), t.Rows) * over(o.N, t.Columns)
	case Sum, Mean:
		inner, size := o.inner(), t.Rows*t.Columns
		switch {
		case inner == 0:
			return 0
		case inner >= size:
			return o.outer() * over(inner, size)
		}
		return over(o.outer(), size/inner)
	case Move:
		inner, size := o.inner(), t.Rows*t.Columns
		switch {
		case inner == 0:
			return 0
		case inner >= size:
			return o.length() * o.outer() * over(inner, size)
		}
		return o.length() * over(o.outer(), size/inner)
	case Expand:
		inner, size := o.inner(), t.Rows*t.Columns
		switch {
		case inner == 0 || o.N == 0:
			return 0
		case inner >= size:
			return o.outer() * o.N * over(inner, size)
		case inner*o.N > size:
			return o.outer() * over(o.N, size/inner)
		}
		return over(o.outer(), size/(inner*o.N))
	case Opaque:
		return 0
	case Attention:
		return o.attentionBlocks()
	}
	if o.IsLayer() { // those of losses and of gradients by weights are cut as what they read
		return over(max(o.In.Lengths().Elements(), o.listed()[0].Shape.Elements()), t.Rows*t.Columns)
	}
	return over(o.In.Lengths().Elements(), t.Rows*t.Columns)
}

// over returns a / b, rounded up.
func over(a, b int64) int64 { return (a + b - 1) / b }

// Block returns the i-th block of the grid, in the order of the result's elements: for a matmul,
// along the columns first. Blocks at the edges are smaller. REQUIRES: 0 ≤ i < Blocks; no layer,
// whose blocks are taken for equal.
func (o Op) Block(t Tile, i int64) Block {
	var b Block
	switch o.Kind {
	case Matmul, ScaledMatmul:
		b = o.matmulBlock(t, i)
	case Sum, Mean:
		b = o.sumBlock(t.Rows*t.Columns, i)
	case Move:
		b = o.moveBlock(t.Rows*t.Columns, i)
	case Expand:
		b = o.expandBlock(t.Rows*t.Columns, i)
	default:
		size := t.Rows * t.Columns
		s := run(i*size, min(size, o.In.Lengths().Elements()-i*size))
		b = Block{Out: s, In: []Span{s}}
		if o.Kind == Add {
			b.In = append(b.In, s)
		}
	}
	for j, operand := range o.Operands() {
		b.Read += b.In[j].Elements() * int64(operand.Type.Width())
	}
	b.Written = b.Out.Elements() * int64(o.Out.Width())
	b.FLOPs = o.flopsOf(b.Out.Elements())
	return b
}

// run returns a span without gaps.
func run(at, length int64) Span { return Span{At: at, Length: length, Times: 1} }

func (o Op) matmulBlock(t Tile, i int64) Block {
	m, k, n := o.M(), o.K(), o.N
	across := over(n, t.Columns)
	row, column := i/across*t.Rows, i%across*t.Columns
	rows, columns := min(t.Rows, m-row), min(t.Columns, n-column)
	b := Block{
		Out: Span{row*n + column, columns, rows, n},
		In:  []Span{run(row*k, rows*k), {column, columns, k, n}},
	}
	if o.TransposeA {
		b.In[0] = Span{row, rows, k, m}
	}
	if o.TransposeB {
		b.In[1] = run(column*k, columns*k)
	}
	switch o.Scaling {
	case TensorWise:
		b.In = append(b.In, run(0, 1), run(0, 1))
	case RowWise:
		b.In = append(b.In, run(row, rows), run(column, columns))
	}
	if o.Bias != 0 {
		b.In = append(b.In, run(column, columns))
	}
	if o.ResultScale {
		b.In = append(b.In, run(0, 1))
	}
	return b
}

// moveBlock returns a block of a move: a part of the elements behind the axis at one position of
// it; or, if these are few, all of them for several positions of the axes before.
func (o Op) moveBlock(size, i int64) Block {
	outer, inner, length := o.outer(), o.inner(), o.length()
	if inner >= size {
		each := over(inner, size)
		run, from := i/each, i%each*size
		row, at := run/outer, run%outer
		n := min(size, inner-from)
		return Block{Out: Span{run*inner + from, n, 1, 0},
			In: []Span{{(at*length+row)*inner + from, n, 1, 0}}}
	}
	times := size / inner
	each := over(outer, times)
	row, at := i/each, i%each*times
	n := min(times, outer-at)
	return Block{Out: run((row*outer+at)*inner, n*inner),
		In: []Span{{(at*length + row) * inner, inner, n, length * inner}}}
}

// expandBlock returns a block of an expand: a part of the elements behind the new axis at one
// position of it; or all of them at several positions of the axis; or at all positions, for several
// of the axes before.
func (o Op) expandBlock(size, i int64) Block {
	outer, inner, times := o.outer(), o.inner(), o.N
	switch {
	case inner >= size:
		each := over(inner, size)
		row, from := i/each, i%each*size
		n := min(size, inner-from)
		return Block{Out: run(row*inner+from, n), In: []Span{run(row/times*inner+from, n)}}
	case inner*times > size:
		rows := size / inner
		each := over(times, rows)
		at, from := i/each, i%each*rows
		return Block{Out: run((at*times+from)*inner, min(rows, times-from)*inner),
			In: []Span{run(at*inner, inner)}}
	}
	each := size / (inner * times)
	at := i * each
	n := min(each, outer-at) * inner
	return Block{Out: run(at*times*inner, n*times), In: []Span{run(at*inner, n)}}
}

// sumBlock returns a block of a sum: a part of the elements behind the axis, or all of them,
// several times.
func (o Op) sumBlock(size, i int64) Block {
	outer, inner, length := o.outer(), o.inner(), o.length()
	if inner >= size {
		each := over(inner, size)
		at, from := i/each, i%each*size
		part := min(size, inner-from)
		return Block{Out: run(at*inner+from, part),
			In: []Span{{at*length*inner + from, part, length, inner}}}
	}
	each := size / inner
	at := i * each
	times := min(each, outer-at)
	return Block{Out: run(at*inner, times*inner),
		In: []Span{run(at*length*inner, times*length*inner)}}
}
