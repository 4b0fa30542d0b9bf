package collsim

import (
	"fmt"

	"collsim/reference"
)

// jsonGradient is a Gradient in JSON.
type jsonGradient struct {
	Mode  string  `json:"mode"`
	Of    string  `json:"of"`
	By    string  `json:"by"`
	Scale float64 `json:"scale"`
	Mask  bool    `json:"mask"`
	Law   string  `json:"law"`
	Count any     `json:"law_count"` // null where the law is off
	Why   string  `json:"law_why,omitempty"`
}

func (g *Gradient) json() *jsonGradient {
	if g == nil {
		return nil
	}
	return &jsonGradient{Mode: g.Mode, Of: g.Of, By: g.By, Scale: g.Scale, Mask: g.Mask, Law: g.Law,
		Count: known(g.Law != Off, g.Count), Why: g.LawOff}
}

// words are what a heading says of a backward pass; nothing of others.
func (g *Gradient) words() string {
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
	return text
}

// gradientLines sum up what backward passes were held to.
func gradientLines(results []*Result) (lines []string) {
	var exact, off, wrong []*Result
	of := 0
	for _, r := range results {
		if r.Gradient == nil {
			continue
		}
		switch of++; r.Gradient.Law {
		case string(reference.NumbersExact):
			exact = append(exact, r)
		case Off:
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
