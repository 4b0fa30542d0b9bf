package report

import "collsim/run"

// gradientFields lists the members of a backward pass. Two passes mean that the collective runs
// once more, to give the output of max or min to the ranks that lack it. law_count is null if the
// gradients were not checked.
func gradientFields() fields[run.Gradient] {
	type g = run.Gradient
	return fields[g]{
		textField("mode", func(g *g) *string { return &g.Mode }),
		textField("of", func(g *g) *string { return &g.Of }),
		textField("by", func(g *g) *string { return &g.By }),
		numberField("scale", func(g *g) *float64 { return &g.Scale }),
		boolField("mask", func(g *g) *bool { return &g.Mask }),
		wholeField("passes", func(g *g) *int { return &g.Passes }),
		textField("law", func(g *g) *string { return &g.Law }),
		wholeField("law_count", func(g *g) *int64 { return &g.Count }).when(func(g *g) bool {
			return g.Law != run.Off
		}),
		textField("law_why", func(g *g) *string { return &g.LawOff }).ifSet(),
	}
}
