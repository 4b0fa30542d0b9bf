package kernel

import (
	"slices"

	"collsim/dtype"
	"collsim/internal/parallel"
)

// A matmul is computed in tiles, over all of k at once, so that accumulators stay in registers.
// Columns of B are packed into panels in advance, rows of A in groups as needed. The part of a tile
// beyond the result's edge is zero, and discarded.
const (
	tileRows = 4
	taskRows = 32 // for one goroutine, while a panel is in its cache
)

// tiler computes tileRows rows and columns columns of a result, from 0 and with k ascending. rows
// and panel are packed by k; rows of the result are stride apart.
type tiler[A accumulator] struct {
	columns int
	tile    func(dst, rows, panel []A, stride int)
}

// tilerOf returns the machine's tiler for an op. Tilers differ in speed, not in bits.
func tilerOf[A accumulator](o Op) tiler[A] {
	single, double, whole := vectorTilers()
	for _, some := range []any{single, double, whole} {
		t, fits := some.(tiler[A])
		if fits && t.tile != nil && (o.A.IsFloat() || inHalves(o.A) && inHalves(o.B)) {
			return t
		}
	}
	return tiler[A]{plainColumns, plainTile[A]}
}

// inHalves reports whether numbers of a type of integers are those of 32 bits with signs.
func inHalves(t dtype.Type) bool { return t.Width() < 4 || t == dtype.Int32 }

// multiply computes a matmul, scaled or not.
func multiply[A accumulator](o Op, out []byte, operands [][]byte, by tiler[A]) {
	m, k, n := int(o.M()), int(o.K()), int(o.N)
	operands = upright(o, operands)
	panels := pack[A](o, operands[1], by.columns)
	across := (n + by.columns - 1) / by.columns
	stride := across * by.columns
	from, to, last := codecOf(o.A), codecOf(o.Out), epilogueOf[A](o, operands)
	parallel.Each((m+taskRows-1)/taskRows, func() func(i int) {
		row, rows := make([]A, k), make([]A, taskRows*k)
		total := make([]A, taskRows*stride)
		return func(i int) {
			first, count := i*taskRows, min(taskRows, m-i*taskRows)
			for r := range (count + tileRows - 1) / tileRows * tileRows {
				if clear(row); r < count {
					load(from, row, operands[0][(first+r)*k*o.A.Width():])
				}
				group := rows[r/tileRows*tileRows*k:]
				for x, v := range row {
					group[x*tileRows+r%tileRows] = v
				}
			}
			for p := range across {
				panel := panels[p*by.columns*k:][:by.columns*k]
				for r := 0; r < count; r += tileRows {
					by.tile(total[r*stride+p*by.columns:], rows[r*k:][:tileRows*k], panel, stride)
				}
			}
			for r := range count {
				values := total[r*stride:][:n]
				last(first+r, values)
				store(to, out[(first+r)*n*o.Out.Width():], values)
			}
		}
	})
}

// upright returns the operands of a matmul, transposed ones converted to their normal layout.
func upright(o Op, operands [][]byte) [][]byte {
	operands = slices.Clone(operands)
	for i, t := range o.Operands()[:2] {
		if i == 0 && o.TransposeA || i == 1 && o.TransposeB {
			out := make([]byte, len(operands[i]))
			move(Op{Kind: Move, In: ShapeOf(t.Shape...), Axis: 1, A: t.Type}, out, operands[i])
			operands[i] = out
		}
	}
	return operands
}

// pack packs B into panels of so many columns, row by row.
func pack[A accumulator](o Op, b []byte, columns int) []A {
	k, n, c := int(o.K()), int(o.N), codecOf(o.B)
	across := (n + columns - 1) / columns
	panels := make([]A, across*columns*k)
	parallel.Each(k, func() func(i int) {
		row := make([]A, n)
		return func(i int) {
			load(c, row, b[i*n*o.B.Width():])
			for p := range across {
				copy(panels[(p*k+i)*columns:][:columns], row[p*columns:])
			}
		}
	})
	return panels
}

// plainColumns lets the accumulators of two rows fit the registers of most processors.
const plainColumns = 4

// plainTile computes a tile in Go.
func plainTile[A accumulator](dst, rows, panel []A, stride int) {
	for r := 0; r < tileRows; r += 2 {
		var a, b, c, d, e, f, g, h A
		for p, q := panel, rows; len(p) >= plainColumns; p, q = p[plainColumns:], q[tileRows:] {
			w, z := (*[tileRows]A)(q), (*[plainColumns]A)(p)
			x, y := w[r%tileRows], w[(r+1)%tileRows]
			a += A(x * z[0])
			b += A(x * z[1])
			c += A(x * z[2])
			d += A(x * z[3])
			e += A(y * z[0])
			f += A(y * z[1])
			g += A(y * z[2])
			h += A(y * z[3])
		}
		s, t := (*[plainColumns]A)(dst[r*stride:]), (*[plainColumns]A)(dst[(r+1)*stride:])
		s[0], s[1], s[2], s[3] = a, b, c, d
		t[0], t[1], t[2], t[3] = e, f, g, h
	}
}

// epilogueOf returns the function that scales a row of sums and adds the bias, before it is
// rounded.
func epilogueOf[A accumulator](o Op, operands [][]byte) func(row int, values []A) {
	if o.Kind == Matmul {
		return func(int, []A) {}
	}
	var rest [][]A
	for i, t := range o.Operands()[2:] {
		values := make([]A, t.Shape.Elements())
		load(codecOf(t.Type), values, operands[2+i])
		rest = append(rest, values)
	}
	scaleA, scaleB, rest := rest[0], rest[1], rest[2:]
	var bias, result []A
	if o.Bias != 0 {
		bias, rest = rest[0], rest[1:]
	}
	if o.ResultScale {
		result = rest[0]
	}
	return func(row int, values []A) {
		for j, v := range values {
			if o.Scaling == RowWise {
				v = A(A(v*scaleA[row]) * scaleB[j])
			} else {
				v = A(A(v*scaleA[0]) * scaleB[0])
			}
			if bias != nil {
				v = A(v) + bias[j]
			}
			if result != nil {
				v *= result[0]
			}
			values[j] = v
		}
	}
}
