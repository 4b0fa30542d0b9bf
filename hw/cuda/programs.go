package cuda

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/rank"
	"collsim/kernel"
	"collsim/schedule"
	"collsim/unit"
)

// An operation holds the sizes and operands of a program's kernel, in the layout of programs.cu.
type operation struct {
	rows, length, columns uint64
	from                  [6]uint64
	to                    uint64
}

// rowsOfThread is the number of rows of a matmul's result that a thread computes.
const rowsOfThread = 8

// programOf returns the compiled identity of an operation: everything but shapes and numbers.
func programOf(o kernel.Op) kernelName {
	o = inNumbers(o)
	o.In, o.N, o.Axis, o.Time, o.Factor = kernel.Shape{}, 0, 0, 0, 0
	o.Attributes = kernel.Op{}.Attributes // the cost of an opaque one
	return kernelName{program: o}
}

// programDefines lists the macros that select a program's kernel in programs.cu.
func programDefines(o *kernel.Op) (list []string) {
	define := func(is bool, text string) {
		if is {
			list = append(list, "-D"+text)
		}
	}
	named := o.Kind
	if o.Kind == kernel.ScaledMatmul {
		named = kernel.Matmul
	}
	define(true, "KIND_"+named.String())
	if o.Kind == kernel.Opaque {
		return list
	}
	if o.Kind == kernel.Move || o.Kind == kernel.Expand {
		define(true, fmt.Sprintf("ELEMENT=u%d", 8*o.A.Width()))
	}
	define(true, "A="+o.A.String())
	define(true, "OUT="+o.Out.String())
	define(o.B != 0, "B="+o.B.String())
	define(!o.A.IsFloat(), "WHOLE")
	define(!o.A.IsFloat() && o.A.Signed(), "SIGNED_A")
	define(o.A == dtype.Float64 || o.B == dtype.Float64, "DOUBLE")
	define(!o.Out.IsFloat(), "WHOLE_OUT")
	define(o.Out == dtype.Float64, "DOUBLE_OUT")
	define(o.Scaling == kernel.RowWise, "SCALING_row")
	define(o.Scaling == kernel.TensorWise, "SCALING_tensor")
	define(o.Bias != 0, "BIAS="+o.Bias.String())
	define(o.ResultScale, "RESULT_SCALE")
	define(o.TransposeA, "TRANSPOSED_A")
	define(o.TransposeB, "TRANSPOSED_B")
	return list
}

// operationOf returns the sizes of an operation, and the number of threads with work.
func operationOf(o *kernel.Op) (a operation, threads uint64) {
	switch o.Kind {
	case kernel.Matmul, kernel.ScaledMatmul:
		a = operation{rows: uint64(o.M()), length: uint64(o.K()), columns: uint64(o.N)}
		return a, (a.rows + rowsOfThread - 1) / rowsOfThread * a.columns
	case kernel.Sum, kernel.Mean, kernel.Move:
		shape := o.In.Lengths()
		a = operation{rows: uint64(shape[:o.Axis].Elements()), length: uint64(shape[o.Axis]),
			columns: uint64(shape[o.Axis+1:].Elements())}
		if o.Kind == kernel.Move {
			return a, a.rows * a.length * a.columns
		}
		return a, a.rows * a.columns
	case kernel.Expand:
		shape := o.In.Lengths()
		a = operation{rows: uint64(shape[:o.Axis].Elements()), length: uint64(o.N),
			columns: uint64(shape[o.Axis:].Elements())}
		return a, a.rows * a.length * a.columns
	case kernel.Scale:
		a = operation{rows: uint64(o.In.Lengths().Elements()), length: math.Float64bits(o.Factor)}
		return a, a.rows
	case kernel.Opaque:
		return operation{rows: uint64(o.Time / unit.Nanosecond)}, 1
	}
	a = operation{rows: uint64(o.In.Lengths().Elements())}
	return a, a.rows
}

// placeOf returns the index of a named operand in programs.cu.
func placeOf(name string) int {
	return map[string]int{"a": 0, "b": 1, "scale_a": 2, "scale_b": 3, "bias": 4,
		"scale_result": 5}[name]
}

// inNumbers returns an operation as the kernels have it: on the components of complex numbers, and
// on bytes where it moves bools.
func inNumbers(o kernel.Op) kernel.Op {
	o = kernel.InComponents(o)
	if o.A == dtype.Bool {
		o.A, o.Out = dtype.Uint8, dtype.Uint8
	}
	return o
}

// kernel plans the kernel of the loaded step. Fragmented operands are gathered first. A result that
// is fragmented or overlaps an operand is computed in scratch memory and copied.
func (p *execution) kernel(l *lane) error {
	o := p.step.Kernel
	in := inNumbers(*o)
	a, threads := operationOf(&in)
	if o.Kind == kernel.Opaque {
		return p.program(l, o, a, threads)
	}
	var read []run
	for i, want := range o.Operands() {
		runs, err := p.suits(l, want, &p.step.From[i].Region)
		if err != nil {
			return err
		}
		read = append(read, runs...)
		if len(runs) > 1 {
			if runs, err = p.gathered(l, runs); err != nil {
				return err
			}
		}
		if len(runs) > 0 {
			a.from[placeOf(want.Name)] = runs[0].at
		}
	}
	to, err := p.suits(l, o.Output(), &p.step.To[0])
	if err != nil || size(to) == 0 {
		return err
	}
	into := to
	if len(to) > 1 || overlaps(read, to) {
		if into, err = p.scratch(l, size(to)); err != nil {
			return err
		}
	}
	a.to = into[0].at
	if err := p.program(l, &in, a, threads); err != nil || into[0] == to[0] {
		return err
	}
	return p.pieces(l, work{copies: true}, []operand{{into, whole}}, [][]run{to})
}

// gathered copies runs to contiguous scratch memory.
func (p *execution) gathered(l *lane, runs []run) ([]run, error) {
	room, err := p.scratch(l, size(runs))
	if err != nil {
		return nil, err
	}
	return room, p.pieces(l, work{copies: true}, []operand{{runs, whole}}, [][]run{room})
}

// program plans the launch of a program's kernel. An opaque kernel, which only waits, has one
// thread a block.
func (p *execution) program(l *lane, o *kernel.Op, a operation, threads uint64) error {
	g := l.rank.gpu
	k, err := p.device.kernelsOf(g, programOf(*o))
	if err != nil {
		return err
	}
	launch := op{kind: launches, function: k.few, arguments: unsafe.Pointer(&a),
		blocks: g.blocks(threads, l.given), threads: threadsOfBlock}
	if o.Kind == kernel.Opaque {
		launch.blocks, launch.threads = uint32(max(l.given, 1)), 1
	}
	p.emit(l, launch)
	return nil
}

// suits returns where an operand or a result is stored. It reports one that has not the type and
// size that the kernel takes.
func (p *execution) suits(l *lane, want kernel.Tensor, g *schedule.Region) ([]run, error) {
	number := l.rank.number
	home, spans, err := l.rank.Suits(p.spot(l, number), want, g)
	if misfit := (*rank.Misfit)(nil); errors.As(err, &misfit) {
		return nil, hw.Malformed(number, l.index, int(l.cursor.Step), "compute %s", misfit.Text)
	}
	return l.rank.runs(home, spans), err
}

// overlaps reports whether a result overlaps an operand.
func overlaps(read, to []run) bool {
	for _, r := range read {
		for _, w := range to {
			if w.at < r.at+uint64(r.n) && r.at < w.at+uint64(w.n) {
				return true
			}
		}
	}
	return false
}
