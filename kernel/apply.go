package kernel

import (
	"fmt"

	"collsim/dtype"
	"collsim/internal/parallel"
)

// Apply computes the operation, as the package comment defines it. operands are those of Operands,
// as little-endian bytes; a mismatch is an *Error. The result is independent of the number of
// processors. An opaque operation has no result unless it lists operands.
func Apply(o Op, operands [][]byte) ([]byte, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	want := o.Operands()
	if len(operands) != len(want) {
		return nil, o.fail("the number of operands", len(operands),
			fmt.Sprintf("%d are expected", len(want)))
	}
	for i, t := range want {
		if int64(len(operands[i])) != t.Bytes() {
			return nil, o.fail("the size of "+t.Name, fmt.Sprintf("%d bytes", len(operands[i])),
				fmt.Sprintf("%d bytes, %v %v, are expected", t.Bytes(), t.Shape, t.Type))
		}
	}
	out := make([]byte, o.Written())
	o = InComponents(o)
	switch {
	case !o.HasResult():
		return nil, nil
	case o.Kind == Opaque:
		standIn(&o, out, operands)
	case o.isListed():
		o.applyLayer(out, operands)
	case o.Kind == Move:
		move(o, out, operands[0])
	case o.Kind == Expand:
		expand(o, out, operands[0])
	case o.Kind == Cast:
		cast(o, out, operands[0])
	case !o.A.IsFloat():
		compute[uint64](o, out, operands)
	case o.A == dtype.Float64 || o.B == dtype.Float64:
		compute[float64](o, out, operands)
	default:
		compute[float32](o, out, operands)
	}
	return out, nil
}

func compute[A accumulator](o Op, out []byte, operands [][]byte) {
	switch o.Kind {
	case Add:
		add[A](o, out, operands[0], operands[1])
	case Sum, Mean:
		sum[A](o, out, operands[0])
	case Scale:
		scale[A](o, out, operands[0])
	default:
		multiply(o, out, operands, tilerOf[A](o))
	}
}

// part is the number of elements that are processed at once.
const part = 4096

func add[A accumulator](o Op, out, a, b []byte) {
	ca, cb, co := codecOf(o.A), codecOf(o.B), codecOf(o.Out)
	parts(int(o.In.Lengths().Elements()), func() func(at, n int) {
		x, y := make([]A, part), make([]A, part)
		return func(at, n int) {
			load(ca, x[:n], a[at*o.A.Width():])
			load(cb, y[:n], b[at*o.B.Width():])
			for i := range n {
				x[i] += y[i]
			}
			store(co, out[at*o.Out.Width():], x[:n])
		}
	})
}

// move copies the rows of the axis, one after the other.
func move(o Op, out, a []byte) {
	width := o.A.Width()
	outer, length, run := int(o.outer()), int(o.length()), int(o.inner())*width
	parallel.Each(length, func() func(i int) {
		return func(i int) {
			for j := range outer {
				copy(out[(i*outer+j)*run:][:run], a[(j*length+i)*run:])
			}
		}
	})
}

// expand repeats the elements behind the new axis, once for each position on it.
func expand(o Op, out, a []byte) {
	run, times := int(o.inner())*o.A.Width(), int(o.N)
	parallel.Each(int(o.outer())*times, func() func(i int) {
		return func(i int) { copy(out[i*run:][:run], a[i/times*run:]) }
	})
}

// scale multiplies by a number, which is first rounded to the type of the products.
func scale[A accumulator](o Op, out, a []byte) {
	from, to, by := codecOf(o.A), codecOf(o.Out), A(o.Factor)
	parts(int(o.In.Lengths().Elements()), func() func(at, n int) {
		x := make([]A, part)
		return func(at, n int) {
			load(from, x[:n], a[at*o.A.Width():])
			for i := range n {
				x[i] *= by
			}
			store(to, out[at*o.Out.Width():], x[:n])
		}
	})
}

func cast(o Op, out, a []byte) {
	from, to := codecOf(o.A), codecOf(o.Out)
	parts(int(o.In.Lengths().Elements()), func() func(at, n int) {
		x, w := make([]float64, part), make([]uint64, part)
		return func(at, n int) {
			src, dst := a[at*o.A.Width():], out[at*o.Out.Width():]
			switch {
			case o.A.IsFloat():
				from.widen64(x[:n], src)
				to.narrow64(dst, x[:n])
			case o.Out.IsFloat():
				from.whole(w[:n], src)
				for i, u := range w[:n] {
					x[i] = nearest64(u, o)
				}
				to.narrow64(dst, x[:n])
			default:
				from.whole(w[:n], src)
				to.wrap(dst, w[:n])
			}
		}
	})
}

// nearest64 converts an integer to a float64 that the cast then rounds once more.
func nearest64(u uint64, o Op) float64 {
	switch {
	case o.Out != dtype.Float64:
		return toOdd(u, o.A.Signed())
	case o.A.Signed():
		return float64(int64(u))
	}
	return float64(u)
}

// sum adds along the axis. Each worker adds a part of the elements behind the axis, row by row.
func sum[A accumulator](o Op, out, a []byte) {
	inner, length := int(o.inner()), int(o.length())
	from, to := codecOf(o.A), codecOf(o.Out)
	across := (inner + part - 1) / part
	parallel.Each(int(o.outer())*across, func() func(i int) {
		total, more := make([]A, min(inner, part)), make([]A, min(inner*length, part))
		return func(i int) {
			outer, at := i/across, i%across*part
			n := min(part, inner-at)
			rows := 1 // rows that are contiguous and loaded at once
			if n == inner {
				rows = max(1, len(more)/n)
			}
			clear(total)
			for j := 0; j < length; j += rows {
				rows = min(rows, length-j)
				load(from, more[:rows*n], a[((outer*length+j)*inner+at)*o.A.Width():])
				addRows(total[:n], more[:rows*n], j == 0)
			}
			if o.Kind == Mean {
				divide(total[:n], length, o.A.Signed())
			}
			store(to, out[(outer*inner+at)*o.Out.Width():], total[:n])
		}
	})
}

// addRows adds rows to a total; with first, the total is still empty.
func addRows[A accumulator](total, rows []A, first bool) {
	if first {
		copy(total, rows)
		rows = rows[len(total):]
	}
	for ; len(rows) > 0; rows = rows[len(total):] {
		for i := range total {
			total[i] += rows[i]
		}
	}
}

func divide[A accumulator](total []A, n int, signed bool) {
	switch t := any(total).(type) {
	case []float32:
		dtype.Divide(t, n)
	case []float64:
		dtype.Divide(t, n)
	case []uint64:
		for i, u := range t {
			if t[i] = u / uint64(n); signed {
				t[i] = uint64(int64(u) / int64(n))
			}
		}
	}
}

// parts splits n elements into parts and calls the function that worker returns for each, in
// parallel.
func parts(n int, worker func() func(at, n int)) {
	parallel.Each((n+part-1)/part, func() func(i int) {
		work := worker()
		return func(i int) { work(i*part, min(part, n-i*part)) }
	})
}
