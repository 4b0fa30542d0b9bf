package report

import (
	"fmt"

	"collsim/reference"
	"collsim/run"
)

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
