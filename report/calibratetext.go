package report

import (
	"fmt"
	"math"
	"strings"

	"collsim/hw/calibrate"
	"collsim/run"
	"collsim/unit"
)

// TableFitsText formats the fits to published tables: latency, bandwidth and error for each range
// of sizes.
func TableFitsText(fits ...*run.TableFit) string {
	var b strings.Builder
	for i, f := range fits {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s, table %d: %s, as %v\n", f.Table.File, f.Number, f.Title(), f.Algorithm)
		b.WriteString(rangesText(f.Ranges, f.Notes))
	}
	return b.String()
}

// MachineFitText formats the fit to all tables of a machine. Sizes are those of messages.
func MachineFitText(m *run.MachineFit) string {
	var b strings.Builder
	b.WriteString(m.Title() + "; sizes are those of messages\n")
	for i, f := range m.Tables {
		fmt.Fprintf(&b, "  %d: %s, table %d: %s, as %v\n", i+1, f.Table.File, f.Number, f.Title(),
			f.Algorithm)
	}
	return b.String() + rangesText(m.Ranges, m.Notes)
}

// rangesText formats the fits to ranges of sizes. Where a launch was fitted, sizes are those of
// messages; else of calls.
func rangesText(r *calibrate.Ranges, notes []string) string {
	var b strings.Builder
	if r.Launch != nil {
		fmt.Fprintf(&b, "  %-22s %s\n", "launch of a call", estimateText(r.Launch, psText))
	}
	for i := range r.Ranges {
		one := &r.Ranges[i]
		e, from, to := one.Fit.Estimates, one.From, one.To
		if r.Launch != nil {
			from, to = one.MessageFrom, one.MessageTo
		}
		fmt.Fprintf(&b, "  %-22s latency %12s  bandwidth %12s\n", fmt.Sprintf("%v to %v", from, to),
			estimateText(&e[0], psText), estimateText(&e[1], rateText))
	}
	fmt.Fprintf(&b, "  error of %d points %v\n", r.Trained.Points, r.Trained)
	b.WriteString(heldOutText(r.HeldOut))
	for _, note := range notes {
		b.WriteString("  note: " + note + "\n")
	}
	return b.String()
}

func heldOutText(q calibrate.Quality) string {
	if q.Points == 0 {
		return "  no points were held out: there are too few\n"
	}
	return fmt.Sprintf("  of %d held out %v\n", q.Points, q)
}

// estimateText formats an estimate, or says that it is not known.
func estimateText(e *calibrate.Estimate, text func(float64) string) string {
	if !e.Known {
		return "not known"
	}
	return text(e.Value)
}

// psText formats a time in picoseconds. It rounds to four digits, since a fit is not more exact.
func psText(ps float64) string { return unit.Time(fourDigits(ps)).String() }

// rateText formats a time per byte, in picoseconds, as a rate, to four digits.
func rateText(perByte float64) string {
	if perByte < 1e-6 {
		return unit.Unlimited.String()
	}
	return unit.Rate(max(1, fourDigits(1e12/perByte))).String()
}

func fourDigits(v float64) int64 {
	if v <= 0 || v >= float64(unit.Forever) {
		return 0
	}
	unitOf := math.Pow10(max(0, int(math.Floor(math.Log10(v)))-3))
	return int64(math.Round(v/unitOf) * unitOf)
}

// perByte reports whether an estimate is a time per byte.
func perByte(e *calibrate.Estimate) bool { return strings.Contains(e.Name, "per byte") }

// CalibrationText formats the measurements and the fit of a calibration.
func CalibrationText(c *run.Calibration) string {
	var b strings.Builder
	b.WriteString("measured on " + c.RanOn.String() + "\n")
	if text := skewText(c.Skew); text != "" {
		b.WriteString(text + "\n")
	}
	for i := range c.Fit.Estimates {
		e := &c.Fit.Estimates[i]
		if !c.Campaign.Asks(i) {
			continue
		}
		name, text := e.Name, psText
		if perByte(e) {
			name, text = strings.Replace(name, "time per byte", "bandwidth", 1), rateText
		}
		name = strings.NewReplacer("copy bandwidth", "copy rate", "reduce bandwidth",
			"reduce rate").Replace(name)
		value := estimateText(e, text)
		if !e.Known {
			value += ", " + e.Why
		}
		fmt.Fprintf(&b, "  %-50s %s\n", name, value)
	}
	fmt.Fprintf(&b, "  error of %d points %v\n", c.Fit.Trained.Points, c.Fit.Trained)
	b.WriteString(heldOutText(c.Fit.HeldOut))
	for _, note := range c.AllNotes() {
		b.WriteString("  note: " + note + "\n")
	}
	return b.String()
}
