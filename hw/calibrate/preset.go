package calibrate

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"collsim/unit"
)

// A Head describes the origin of a preset.
type Head struct {
	Title  string // "8 × A100, NVLink"
	Source string // what was measured and on what, or who published it
}

// Preset formats a fit as the tables [topology] and [device] of a scenario. Figures that the data
// do not determine are marked with the reason: see Doubts. Every figure has its 95 % interval. It
// also has the median error of the points that it makes up by a tenth or more. All residuals
// follow. With several classes, it names the table of each.
//
// Bandwidth and latency are those of all pairs in both directions at once. If these are not known,
// the next known one is taken: one pair in both directions, all pairs in one direction, one pair
// alone. In collectives most ranks send and receive at once, so a wire that is faster alone never
// is. An idle wire may also pass the first bytes at no cost, as a token bucket does.
func (c *Campaign) Preset(h Head, f *Fit) string { return c.print(h, f).String() }

// Doubts lists the figures of the preset that the data do not determine, and the values used
// instead, one a line.
func (c *Campaign) Doubts(f *Fit) []string { return c.print(Head{}, f).doubts }

// print formats the preset.
func (c *Campaign) print(h Head, f *Fit) *printer {
	p := &printer{}
	p.head(h, f.Trained, f.HeldOut)
	seen := ""
	for i := range c.Classes {
		class := &c.Classes[i]
		first := i == 0 || class.table() != seen
		if seen = class.table(); first {
			p.table(seen)
		}
		if first && class.Preset != AsIs {
			p.printf("preset = %q\n", class.preset())
			if seen == "topology" {
				p.printf("ranks = %d\n", c.Ranks)
			}
		}
		if len(c.Classes) > 1 {
			p.printf("# %s: %d wires a message\n", class.Name, max(class.Wires, 1))
		}
		p.class(class, f, firstOfLinks+i*perClass, !first || class.Own)
	}
	p.table("device")
	p.time("launch", f, 0, 1)
	p.time("overhead", f, 1, 1)
	p.rate("copy_rate", f, 2)
	p.rate("reduce_rate", f, 3)
	p.residuals(f.Residuals)
	return p
}

// class writes the figures of a class whose parameters begin at an index. Quiet figures are
// comments.
func (p *printer) class(c *Class, f *Fit, at int, quiet bool) {
	itself := func(by int) int { return by }
	by, wires := carried(c, f, at, itself), float64(max(c.Wires, 1))
	uses := []string{byByte: "one pair, one way at a time", byDuplex: "one pair, both ways at once",
		byPairs: fmt.Sprintf("each of %d pairs, one way at a time", len(c.Pairs)),
		byAll:   fmt.Sprintf("each of %d pairs, both ways at once", len(c.Pairs))}
	p.quiet = quiet || c.Shaped > 0
	p.rate("bandwidth", f, at+by)
	if e := &f.Estimates[at+by]; e.Known {
		p.printf("# That is %s: most ranks of a\n"+
			"# collective send and receive at the same time.\n", uses[by])
		if c.Shaped > 0 {
			p.printf("# It is %s of the %s that the wires are shaped to. The network is built from\n"+
				"# the scenario's own bandwidth, so that stays.\n",
				percent(1e12/e.Value/float64(c.Shaped)), c.Shaped)
		}
	}
	p.quiet = quiet
	late := carried(c, f, at, latencyOf)
	p.time("latency", f, at+latencyOf(late), wires)
	if f.Estimates[at+latencyOf(late)].Known {
		p.printf("# That is a wire's, with %s.\n", uses[late])
	}
	p.quiet = false
	for use := byByte; use <= byAll && (len(c.Pairs) > 1 || use < byPairs); use++ {
		p.rateNote("bandwidth of "+uses[use], f, at+use)
		p.timeNote("latency of a wire with "+uses[use], f, at+latencyOf(use), wires)
	}
}

// carried returns the busiest use of the wires in which a figure is known.
func carried(c *Class, f *Fit, at int, figure func(by int) int) int {
	order := []int{byAll, byDuplex, byPairs, byByte}
	if len(c.Pairs) == 1 {
		order = []int{byDuplex, byByte}
	}
	for _, by := range order {
		if f.Estimates[at+figure(by)].Known {
			return by
		}
	}
	return order[0]
}

// table returns the scenario's table of the class.
func (c *Class) table() string {
	if c.Table == "" {
		return "topology"
	}
	return c.Table
}

// preset returns the preset of the class.
func (c *Class) preset() string {
	if c.Preset == "" {
		return "full-mesh"
	}
	return c.Preset
}

// A printer writes TOML. Quiet figures are comments.
type printer struct {
	strings.Builder
	quiet  bool
	doubts []string // unknown figures, and the values used instead
}

// printf appends formatted text.
func (p *printer) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// head writes where the figures come from, and the errors of the fit.
func (p *printer) head(h Head, trained, held Quality) {
	for _, text := range []string{h.Title, "Source: " + h.Source} {
		for line := range strings.Lines(text) {
			p.printf("# %s\n", strings.TrimSpace(line))
		}
	}
	p.printf("# Fitted to %d points: errors %s.\n", trained.Points, trained)
	if held.Points > 0 {
		p.printf("# Held out were %d points: errors %s.\n", held.Points, held)
	} else {
		p.printf("# No points were held out: there are too few.\n")
	}
}

// table begins a table.
func (p *printer) table(name string) { p.printf("\n[%s]\n", name) }

// String formats the errors, as in "1.2 % (median), 3.4 % (90th percentile)".
func (q Quality) String() string {
	return fmt.Sprintf("%s (median), %s (90th percentile)", percent(q.Median), percent(q.P90))
}

// percent formats a share.
func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + " %" }

// notKnown is the value of a figure that the data do not even bound. The reader of scenarios
// refuses it; without the key, it would take a default silently.
const notKnown = "not known"

// fastestLink is the highest link bandwidth that a scenario accepts.
const fastestLink = 8000 * unit.Rate(unit.GB)

// figure writes a key with its figure. A figure that the data only bound has the fit's value; one
// that they do not bound has a value that a scenario refuses. Both are doubts. Quiet figures are
// comments.
func (p *printer) figure(key string, f *Fit, parameter int, show func(float64) string) {
	e := &f.Estimates[parameter]
	value, line := show(e.Value), ""
	bound := ""
	if !math.IsInf(e.High, 1) {
		bound = " (95 %: beyond " + show(e.High) + ")"
		if !strings.Contains(e.Name, perByte) {
			bound = " (95 %: at most " + show(e.High) + ")"
		}
	}
	unlimited := key == "bandwidth" && e.Value < 1e12/float64(fastestLink)
	switch {
	case e.Known:
		line = fmt.Sprintf("%s = %q  # %s", key, value, p.support(f, parameter, show))
	case p.quiet:
		p.printf("# %s is not known: %s%s\n", key, e.Why, bound)
		return
	case math.IsInf(e.High, 1) || unlimited:
		line = fmt.Sprintf("%s = %q  # %s%s", key, notKnown, e.Why, bound)
		p.doubts = append(p.doubts, fmt.Sprintf("%s is not known: %s%s; the preset is refused until it "+
			"is given", key, e.Why, bound))
	default:
		line = fmt.Sprintf("%s = %q  # not known, %s%s: what the fit took", key, value, e.Why, bound)
		p.doubts = append(p.doubts, fmt.Sprintf("%s is not known: %s%s; the preset has %s, which the "+
			"fit took", key, e.Why, bound, value))
	}
	if p.quiet {
		line = "# " + line
	}
	p.printf("%s\n", line)
}

// support says what a fitted figure rests on. It formats the 95 % confidence interval, and the
// number and median error of the points that depend on the figure. show formats a value of the
// figure.
func (p *printer) support(f *Fit, parameter int, show func(float64) string) string {
	e, q := &f.Estimates[parameter], f.Depends(parameter)
	low, high := e.Low, e.High
	if strings.Contains(e.Name, perByte) {
		low, high = high, low // the slowest byte is the lowest rate
	}
	rests := fmt.Sprintf("%d points rest on it, median error %s", q.Points, percent(q.Median))
	switch q.Points {
	case 0:
		rests = "no point rests on it mostly"
	case 1:
		rests = "1 point rests on it, error " + percent(q.Median)
	}
	return fmt.Sprintf("95 %%: %s to %s; %s", show(low), show(high), rests)
}

// time writes a figure that is a time, divided by the number of wires.
func (p *printer) time(key string, f *Fit, parameter int, wires float64) {
	p.figure(key, f, parameter, func(v float64) string {
		return unit.Time(rounded(v / wires)).String()
	})
}

// rate writes a figure whose parameter is a time per byte.
func (p *printer) rate(key string, f *Fit, parameter int) { p.figure(key, f, parameter, rateOf) }

// rateOf formats the rate of a time per byte in picoseconds.
func rateOf(perByte float64) string {
	if perByte < 1e-6 {
		return unit.Unlimited.String()
	}
	return unit.Rate(max(1, rounded(1e12/perByte))).String()
}

// timeNote writes a time that no key of a scenario holds, as a comment.
func (p *printer) timeNote(what string, f *Fit, parameter int, wires float64) {
	p.note(what, f, parameter, func(v float64) string {
		return unit.Time(rounded(v / wires)).String()
	})
}

// rateNote writes a rate that no key of a scenario holds, as a comment.
func (p *printer) rateNote(what string, f *Fit, parameter int) {
	p.note(what, f, parameter, rateOf)
}

// note writes a figure as a comment.
func (p *printer) note(what string, f *Fit, parameter int, show func(float64) string) {
	if e := &f.Estimates[parameter]; e.Known {
		p.printf("# %s: %s (%s)\n", what, show(e.Value), p.support(f, parameter, show))
	} else {
		p.printf("# %s: not known, %s\n", what, e.Why)
	}
}

// rounded rounds a value to four digits; more would be noise.
func rounded(v float64) int64 {
	if v <= 0 || math.IsInf(v, 0) {
		return 0
	}
	digits, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 3, 64), 64)
	return int64(math.Round(min(digits, float64(unit.Forever-1))))
}

// residuals writes a table of measured and fitted times in comments.
func (p *printer) residuals(all []Residual) {
	p.printf("\n# point, measured, fitted, error; * was held out\n")
	widest := 0
	for _, r := range all {
		widest = max(widest, len([]rune(r.Name)))
	}
	for _, r := range all {
		held := ""
		if r.HeldOut {
			held = " *"
		}
		p.printf("# %-*s %12s %12s %+8.1f %%%s\n", widest, r.Name, unit.Time(rounded(r.Measured)),
			unit.Time(rounded(r.Predicted)), 100*r.Error, held)
	}
}
