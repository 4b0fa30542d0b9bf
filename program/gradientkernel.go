package program

import (
	"fmt"
	"slices"
	"strconv"

	"collsim/dtype"
	"collsim/kernel"
)

// opaque adds the backward pass of an opaque kernel, as an op of the stated time. It reads the
// operands' gradients so far, so that it comes after them.
func (b *backward) opaque(i int) error {
	r := &b.ops[i]
	if r.Backward == "" {
		return &Error{i, -1, "kernel", r.Name + ": how long the backward pass of an opaque kernel " +
			"takes is not known: backward = \"opaque 0 s\", or another time, says so"}
	}
	op, err := kernel.Parse(r.Backward)
	if err != nil || op.Kind != kernel.Opaque {
		return &Error{i, -1, "backward", fmt.Sprintf("%s: backward = %q: opaque and a time are expected",
			r.Name, r.Backward)}
	}
	if op.Time == 0 {
		b.issue(r.Microbatch)
		return nil
	}
	o := Op{Name: r.Name + ":grad", Kernel: r.Backward, Group: r.Group}
	for _, name := range r.In {
		if at := b.now[name]; at != nil {
			_, names := b.classes(b.ranks[i], func(rank int) string { return at[rank] })
			o.In = append(o.In, slices.DeleteFunc(names, func(n string) bool {
				return n == "" || slices.Contains(o.In, n)
			})...)
		}
	}
	b.add(i, o)
	b.issue(r.Microbatch)
	return nil
}

// kernel adds the kernels that compute a contribution.
func (b *backward) kernel(i int, f *flow, name, grad string) error {
	r := &b.ops[i]
	to := r.in[f.operand]
	steps, err := r.gradient(f.operand, to.Type)
	if err != nil {
		return &Error{i, -1, "kernel", r.Name + ": " + err.Error()}
	}
	group := b.group(r, [][]int{f.ranks})
	for k, s := range steps {
		in, out := []string{grad}, ""
		if s.other != "" && s.first {
			in = []string{s.other, grad}
		} else if s.other != "" {
			in = []string{grad, s.other}
		}
		if k == len(steps)-1 {
			out = b.into(to.Name, f)
		} else {
			out = b.fresh(Tensor{}, GradientName(to.Name))
		}
		b.add(i, Op{Name: name, Kernel: s.kernel, In: in, Out: out, Type: s.typ, Group: group})
		grad = out
	}
	b.contribute(i, f, grad)
	return nil
}

// A gradientStep is a kernel of a gradient: its other operand, if any, and whether that comes
// first.
type gradientStep struct {
	kernel string
	other  string
	first  bool
	typ    dtype.Type
}

// gradient returns the kernels that compute the gradient by an operand from that of the result;
// none where the two are equal.
func (r *resolved) gradient(operand int, typ dtype.Type) ([]gradientStep, error) {
	o := &r.kernel
	cast := []gradientStep{{kernel: "cast", typ: typ}}
	if o.Out == typ {
		cast = nil
	}
	switch o.Kind {
	case kernel.Matmul:
		return []gradientStep{r.matmulGradient(operand, typ)}, nil
	case kernel.Add, kernel.Cast:
		return cast, nil
	case kernel.Scale:
		return []gradientStep{scaleBy(o.Factor, typ)}, nil
	case kernel.Sum:
		return append(cast, r.expansion(typ)), nil
	case kernel.Mean:
		return []gradientStep{scaleBy(1/float64(o.In.Lengths()[o.Axis]), typ), r.expansion(typ)}, nil
	case kernel.Expand:
		return []gradientStep{{kernel: fmt.Sprintf("sum axis=%d", o.Axis), typ: typ}}, nil
	case kernel.Move: // the axes before it come round one by one
		var back []gradientStep
		for range o.Axis {
			back = append(back, gradientStep{kernel: fmt.Sprintf("move axis=%d", o.Axis), typ: typ})
		}
		return back, nil
	}
	return nil, fmt.Errorf("%v has no gradient; matmul, add, cast, sum, mean, move, expand and scale "+
		"have one", o.Kind)
}

// expansion returns the gradient of a sum over an axis.
func (r *resolved) expansion(typ dtype.Type) gradientStep {
	o := &r.kernel
	return gradientStep{typ: typ,
		kernel: fmt.Sprintf("expand axis=%d times=%d", o.Axis, o.In.Lengths()[o.Axis])}
}

// scaleBy returns a multiplication by a number.
func scaleBy(factor float64, typ dtype.Type) gradientStep {
	return gradientStep{kernel: "scale by=" + strconv.FormatFloat(factor, 'g', -1, 64), typ: typ}
}

// matmulGradient returns the gradient of C = A·B by A, C'·Bᵀ, or by B, Aᵀ·C'. Operands that are
// stored transposed get transposed gradients.
func (r *resolved) matmulGradient(operand int, typ dtype.Type) gradientStep {
	a, b := r.kernel.TransposeA, r.kernel.TransposeB
	other := r.In[1-operand]
	words := []string{"matmul", "matmul transpose=a", "matmul transpose=b", "matmul transpose=ab"}
	which := 0
	set := func(left, right bool) {
		if left {
			which++
		}
		if right {
			which += 2
		}
	}
	first := false // the other operand stands before the gradient
	switch {
	case operand == 0 && !a: // C'·Bᵀ
		set(false, !b)
	case operand == 0: // B·C'ᵀ
		first = true
		set(b, true)
	case !b: // Aᵀ·C'
		first = true
		set(!a, false)
	default: // C'ᵀ·A
		set(true, a)
	}
	return gradientStep{kernel: words[which], other: other, first: first, typ: typ}
}
