package report

import (
	"fmt"

	"collsim/reference"
	"collsim/run"
)

// gradientValue makes the JSON object of a backward pass, null for a forward pass. Two passes mean
// that the collective runs once more, to give the output of max or min to the ranks that lack it.
// law_count is null if the gradients were not checked.
func gradientValue(g *run.Gradient) Value {
	if g == nil {
		return Value{}
	}
	all := members{{"mode", Text(g.Mode)}, {"of", Text(g.Of)}, {"by", Text(g.By)},
		{"scale", Number(g.Scale)}, {"mask", Bool(g.Mask)},
		{"passes", Int(g.Passes)}, {"law", Text(g.Law)},
		{"law_count", known(g.Law != run.Off, Int(g.Count))}}
	if g.LawOff != "" {
		all = append(all, member{"law_why", Text(g.LawOff)})
	}
	return object(all)
}

// gradientWords describes a backward pass in a heading; empty for forward passes.
func gradientWords(g *run.Gradient) string {
	if g == nil {
		return ""
	}
	text := ""
	switch g.By {
	case "transpose":
		text = ", run backwards"
	case "local":
		text = ", local gradient"
	}
	if g.Scale != 1 {
		text += fmt.Sprintf(", times %.6g", g.Scale)
	}
	if g.Mask {
		text += ", masked"
	}
	if g.Passes == 2 {
		text += ", in two passes"
	}
	return text
}

// gradientLines sums up the checks of backward passes.
func gradientLines(results []*run.Result) (lines []string) {
	var exact, off, wrong []*run.Result
	of := 0
	for _, r := range results {
		if r.Gradient == nil {
			continue
		}
		switch of++; r.Gradient.Law {
		case string(reference.NumbersExact):
			exact = append(exact, r)
		case run.Off:
			off = append(off, r)
		default:
			wrong = append(wrong, r)
		}
	}
	if n := len(exact); n > 0 {
		law := "<C x, y> = <x, Ct y>, in integers"
		if exact[0].Gradient.Mode == "local" {
			law = "each rank's share is its part of the full gradient"
		}
		lines = append(lines, fmt.Sprintf("gradient %s%s", share(n, of), law))
	}
	if n := len(off); n > 0 {
		lines = append(lines, fmt.Sprintf("gradient %snot checked: %s", share(n, of),
			off[0].Gradient.LawOff))
	}
	for _, r := range wrong {
		lines = append(lines, "gradient WRONG: "+r.Point.ID+": not the transpose of "+r.Gradient.Of)
	}
	return lines
}
