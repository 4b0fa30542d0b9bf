package scenarios

import "collsim/collective"

// Backward is the point of a backward pass: on the same network, with its own collective, which is
// the gradient of the point's, or with that itself for a local gradient. Its name, and its ID, end
// in ":grad".
func (p *Point) Backward() *Point {
	b := *p
	b.ID += gradSuffix
	if b.Collective == "" {
		b.Collective = p.Spec.Kind.String()
	}
	b.Collective += gradSuffix
	b.Data, b.Tensor, b.Gradient, b.forward = Files{}, nil, "", p
	if p.Gradient == "full" {
		b.Spec = b.TeamSpec(p.Spec.Ranks)
		b.Asked = b.Spec.Bytes()
	}
	return &b
}

// gradSuffix is under what a gradient is registered, behind the name of the collective.
const gradSuffix = ":grad"

// backwardSpec is the collective of the full gradient of a team of so many ranks.
func (p *Point) backwardSpec(ranks int) collective.Spec {
	g, err := collective.Gradient(p.TeamSpec(ranks))
	if err != nil {
		panic("scenarios: the gradient of a point that had one: " + err.Error())
	}
	return g.Spec
}
