package program

import (
	"fmt"
	"slices"
	"strconv"

	"collsim/collective"
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
	out := ""
	for _, part := range r.sharesOf(f) {
		steps, err := r.gradient(&part.kernel, f, to)
		if err != nil {
			return &Error{i, -1, "kernel", r.Name + ": " + err.Error()}
		}
		if len(steps) == 0 {
			b.contribute(i, f, grad)
			return nil
		}
		if out == "" {
			out = b.into(to.Name, f)
		}
		b.steps(i, steps, Op{Name: name, In: []string{grad}, Out: out, like: b.like(to.Name),
			Group: b.group(r, [][]int{part.ranks})})
	}
	b.contribute(i, f, out)
	return nil
}

// sharesOf returns the kernels that a flow is the gradient of. They are several where ranks add up
// different numbers of rows.
func (r *resolved) sharesOf(f *flow) (list []share) {
	adds := r.kernel.Kind == kernel.Sum || r.kernel.Kind == kernel.Mean
	if r.shares == nil || !adds || r.kernel.Axis > 0 {
		return []share{{r.kernel, f.ranks}}
	}
	for _, s := range r.shares {
		s.ranks = slices.DeleteFunc(slices.Clone(s.ranks), func(rank int) bool {
			return !slices.Contains(f.ranks, rank)
		})
		if len(s.ranks) > 0 {
			list = append(list, s)
		}
	}
	return list
}

// steps adds the kernels that lead from a gradient to a contribution: o reads it, and writes that.
func (b *backward) steps(i int, steps []gradientStep, o Op) {
	grad := o.In[0]
	for k, s := range steps {
		step := o
		step.Kernel, step.Type, step.Shape, step.In = s.kernel, s.typ, s.shape, []string{grad}
		if s.in != nil {
			step.In = slices.Clone(s.in)
			step.In[slices.Index(step.In, "")] = grad
		}
		if k < len(steps)-1 {
			step.Out, step.like = b.fresh(Tensor{}, GradientName(o.like.Name)), nil
		}
		b.add(i, step)
		grad = step.Out
	}
}

// A gradientStep is a kernel of a gradient: its operands, or nil if the gradient so far is the only
// one; the name of that is empty. An opaque kernel has the shape of its result, too.
type gradientStep struct {
	kernel string
	in     []string
	typ    dtype.Type
	shape  collective.Shape
}

// gradient returns the kernels that compute the gradient of an operand of a kernel from that of its
// result; none where the two are equal.
func (r *resolved) gradient(o *kernel.Op, f *flow, to Tensor) ([]gradientStep, error) {
	operand, typ := f.operand, to.Type
	switch {
	case o.Kind == kernel.Opaque:
		return r.opaqueGradient(f, to)
	case o.IsLayer():
		return r.layerGradient(operand, to)
	}
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
		return append(cast, expansion(o, typ)), nil
	case kernel.Mean:
		return []gradientStep{scaleBy(1/float64(o.In.Lengths()[o.Axis]), typ), expansion(o, typ)}, nil
	case kernel.Expand:
		return []gradientStep{{kernel: fmt.Sprintf("sum axis=%d", o.Axis), typ: typ}}, nil
	case kernel.Move: // the axes before it come round one by one
		var back []gradientStep
		for range o.Axis {
			back = append(back, gradientStep{kernel: fmt.Sprintf("move axis=%d", o.Axis), typ: typ})
		}
		return back, nil
	}
	return nil, fmt.Errorf("%v has no gradient", o.Kind)
}

// expansion returns the gradient of a sum over an axis.
func expansion(o *kernel.Op, typ dtype.Type) gradientStep {
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
	in := []string{"", other}
	if first {
		in = []string{other, ""}
	}
	return gradientStep{kernel: words[which], in: in, typ: typ}
}

// layerGradient returns the gradient of a layer by an operand: a kernel on the layer's operands and
// the gradient of its result.
func (r *resolved) layerGradient(operand int, to Tensor) ([]gradientStep, error) {
	if !r.kernel.HasGradient(operand) {
		return nil, fmt.Errorf("%v has no gradient by %s", r.kernel.Kind, to.Name)
	}
	return []gradientStep{{kernel: fmt.Sprintf("%s gradient=%d", r.Kernel, operand),
		in: append(slices.Clone(r.In), ""), typ: to.Type}}, nil
}

// opaqueGradient returns that of an opaque kernel: an opaque kernel with a part of the backward
// pass, which is one of the flows to its operands.
func (r *resolved) opaqueGradient(f *flow, to Tensor) ([]gradientStep, error) {
	back, err := r.backward()
	if err != nil {
		return nil, err
	}
	back = back.Part(f.place, f.place+1, f.flows)
	return []gradientStep{{kernel: fmt.Sprintf("opaque %s gradient=%d", back.Cost(), f.operand),
		in: append(slices.Clone(r.In), ""), typ: to.Type, shape: to.Shape}}, nil
}

// backward returns the cost of the backward pass of an opaque kernel that writes: what it states,
// or else twice that of the kernel.
func (r *resolved) backward() (kernel.Op, error) {
	if r.Backward == "" {
		back := kernel.Op{Kind: kernel.Opaque, Time: 2 * r.kernel.Time, Attributes: r.kernel.Attributes}
		for i := range back.Attributes {
			back.Attributes[i] *= 2
		}
		return back, back.Validate()
	}
	back, err := kernel.Parse(r.Backward)
	if err != nil || back.Kind != kernel.Opaque || back.HasResult() {
		return back, fmt.Errorf("backward = %q: opaque and a time, or FLOPs and bytes, are expected",
			r.Backward)
	}
	return back, nil
}
