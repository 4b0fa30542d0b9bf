package scenarios

import "collsim/collective"

// Backward returns the point of the backward pass. It has the same network and its own collective:
// the gradient of the point's, or for a local gradient the point's collective itself. Its name and
// its ID end in ":grad".
func (p *Point) Backward() *Point {
	b := *p
	b.ID += gradSuffix
	if b.Collective == "" {
		b.Collective = p.Spec.Kind.String()
	}
	b.Collective += gradSuffix
	b.Data, b.GradientData, b.Tensor, b.Gradient = p.GradientData, Files{}, nil, NoGradient
	b.Forward, b.Faults = p, nil
	if p.Gradient == FullGradient {
		b.Spec = b.TeamSpec(p.Spec.Ranks)
		b.Asked = b.Spec.Bytes()
	}
	return &b
}

// Local reports whether the point is that of a local gradient.
func (p *Point) Local() bool { return p.Forward != nil && p.Forward.Gradient == LocalGradient }

// Carried returns the point of a local gradient with the collective of the full one. Its inputs are
// the gradients of outputs, its outputs those of inputs.
func (p *Point) Carried() *Point {
	full := *p.Forward
	full.Gradient = FullGradient
	return full.Backward()
}

// gradSuffix is under what a gradient is registered, behind the name of the collective.
const gradSuffix = ":grad"

// TensorOf returns the communication on tensors of a team of so many ranks: Tensor, or the gradient
// for a backward pass. It is nil where the collective has elements and no tensors.
func (p *Point) TensorOf(ranks int) *collective.Communication {
	if p.Forward == nil || p.Forward.Gradient != FullGradient || p.Forward.Tensor == nil {
		return p.Tensor
	}
	g, err := p.Forward.Tensor.Gradient(ranks)
	if err != nil {
		panic("scenarios: the gradient of a point that had one: " + err.Error())
	}
	return g
}

// Flat returns the point without tensors: its elements are numbered in the collective's own order.
func (p *Point) Flat() *Point {
	f := *p
	if f.Tensor = nil; p.Forward != nil {
		f.Forward = p.Forward.Flat()
	}
	return &f
}

// gradientKey returns the key of a backward pass's file in place of the collective's own.
func gradientKey(key string) string {
	switch key {
	case "collective.input":
		return "collective.gradient_of_output"
	case "collective.output":
		return "collective.gradient_of_input"
	case "collective.compare":
		return "collective.compare_gradient"
	}
	return key
}

// backwardSpec returns the collective of the full gradient for a team of so many ranks.
func (p *Point) backwardSpec(ranks int) collective.Spec {
	g, err := collective.Gradient(p.TeamSpec(ranks))
	if err != nil {
		panic("scenarios: the gradient of a point that had one: " + err.Error())
	}
	return g.Spec
}
