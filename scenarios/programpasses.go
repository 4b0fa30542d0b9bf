package scenarios

// programOrders lists the values of program.order.
func programOrders() []string { return []string{"as written", "1f1b"} }

// passes reads whether there is a backward pass, and in which order.
func (v *view) passes(p *ProgramPoint) bool {
	gradient, ok := fetchOr(v, "program.gradient", "none")
	order, ok1 := fetchOr(v, "program.order", "as written")
	stages, _, ok2 := fetch[[]string](v, "program.stages")
	p.Gradient, p.Order, p.Stages = gradient == "full", order, stages
	return ok && ok1 && ok2
}
