package report

import (
	"fmt"
	"math"
	"strings"

	"collsim/diagnose"
	"collsim/internal/prose"
	"collsim/unit"
)

// Bounds of a text: fits, and changes that are named of each.
const (
	mostCauses = 3
	mostGroups = 5
)

// DiagnosisText prints the nearest causes of a log, each with its distance, the call that it fits
// worst and what would confirm it; then the verdict.
func DiagnosisText(log string, d *diagnose.Diagnosis) string {
	var b strings.Builder
	first, last := d.Calls[0], d.Calls[len(d.Calls)-1]
	comment(&b, fmt.Sprintf("log      %s: %s of %s", log, prose.Plural(len(d.Calls), "call"),
		prose.Between(first.Size, last.Size, " to ")))
	comment(&b, fmt.Sprintf("causes   %s, %s that noise of %s does not hide from each other",
		prose.Plural(causesOf(d), "change"), prose.Plural(len(d.Fits), "table"), shareText(d.Noise)))
	b.WriteString("#\n")
	rows := [][]string{{"distance", "worst at", "by", "cause"}, {"(%)", "", "(%)", ""}}
	for i := range d.Fits[:min(mostCauses, len(d.Fits))] {
		rows = append(rows, fitRow(d, &d.Fits[i]))
	}
	b.WriteString(prose.Table{Widths: []int{10, 9, 7, -1}, Marked: 2, Rows: rows}.String())
	b.WriteString("#\n")
	for i := range d.Fits[:min(mostCauses, len(d.Fits))] {
		f := &d.Fits[i]
		label := map[bool]string{true: "cause 1", false: fmt.Sprintf("      %d", i+1)}[i == 0]
		writeLines(&b, "# ", prose.Wrap(causesText(f), prose.Columns-2, label+"  ", "         "))
		if test := f.Causes[0].Test; test != "" {
			writeLines(&b, "# ", prose.Wrap("look at "+test, prose.Columns-2, "         ", "         "))
		}
	}
	writeLines(&b, "# ", prose.Wrap(DiagnosisVerdict(d), prose.Columns-2, "verdict  ", "         "))
	return b.String()
}

// fitRow writes a line of the table.
func fitRow(d *diagnose.Diagnosis, f *diagnose.Fit) []string {
	text := f.Causes[0].Name()
	if more := len(f.Causes) - 1; more > 0 {
		text += fmt.Sprintf(", or %d more", more)
	}
	return []string{tenths(f.Distance), d.Calls[f.Worst].Size.String(),
		fmt.Sprintf("%+.1f", 100*f.Off), text}
}

// causesText names the causes of a fit: each change once, with its places.
func causesText(f *diagnose.Fit) string {
	var groups []string
	at := map[string][]string{}
	for _, c := range f.Causes {
		if _, known := at[c.Group]; !known {
			groups = append(groups, c.Group)
		}
		at[c.Group] = append(at[c.Group], c.Place)
	}
	for i, group := range groups {
		if at[group][0] != "" {
			groups[i] = group + " (" + strings.Join(at[group], ", ") + ")"
		}
	}
	if more := len(groups) - mostGroups; more > 0 {
		groups = append(groups[:mostGroups:mostGroups], fmt.Sprintf("%d more", more))
	}
	return strings.Join(groups, "; or ")
}

// DiagnosisVerdict says in a sentence what explains a log.
func DiagnosisVerdict(d *diagnose.Diagnosis) string {
	near := &d.Fits[0]
	asIs := "without a change it is off by " + shareText(d.AsIs.Distance)
	switch {
	case !d.Found:
		return fmt.Sprintf("none fits: the nearest is off by %s; %s", shareText(near.Distance), asIs)
	case d.Unchanged:
		return fmt.Sprintf("the scenario as it is fits: off by %s; the nearest fit by %s",
			shareText(d.AsIs.Distance), shareText(near.Distance))
	default:
		return fmt.Sprintf("cause 1 fits: off by %s; %s", shareText(near.Distance), asIs)
	}
}

func causesOf(d *diagnose.Diagnosis) (n int) {
	for i := range d.Fits {
		n += len(d.Fits[i].Causes)
	}
	return n
}

// tenths writes a share in per cent, shareText its sign, too.
func tenths(share float64) string {
	if math.IsInf(share, 0) {
		return missing
	}
	return fmt.Sprintf("%.1f", 100*share)
}

func shareText(share float64) string { return tenths(share) + " %" }

// DiagnosisCSV lists every cause of a diagnosis, the nearest fit first.
func DiagnosisCSV(d *diagnose.Diagnosis) string {
	var b strings.Builder
	b.WriteString("fit,distance,worst_bytes,worst_error,group,place\n")
	for i := range d.Fits {
		f := &d.Fits[i]
		for _, c := range f.Causes {
			fmt.Fprintf(&b, "%d,%.4f,%d,%.4f,%q,%q\n", i+1, f.Distance,
				int64(d.Calls[f.Worst].Size), f.Off, c.Group, c.Place)
		}
	}
	return b.String()
}

// DiagnosisJSON makes the object of a diagnosis. Times are in picoseconds.
func DiagnosisJSON(log string, d *diagnose.Diagnosis) ([]byte, error) {
	call := func(c diagnose.Call) Value {
		return object(members{{"kind", Text(c.Kind.String())}, {"bytes", Int(c.Size)},
			{"time_ps", Int(c.Time)}})
	}
	fit := func(f diagnose.Fit) Value { return fitValue(d, &f) }
	return encode(object(append(version(), members{{"log", Text(log)}, {"noise", Number(d.Noise)},
		{"found", Bool(d.Found)}, {"unchanged", Bool(d.Unchanged)}, {"as_is", fit(d.AsIs)},
		{"calls", listOf(d.Calls, call)}, {"fits", listOf(d.Fits, fit)}}...)))
}

// fitValue makes the object of a fit.
func fitValue(d *diagnose.Diagnosis, f *diagnose.Fit) Value {
	cause := func(c diagnose.Cause) Value {
		return object(members{{"group", Text(c.Group)},
			{"place", known(c.Place != "", Text(c.Place))},
			{"test", known(c.Test != "", Text(c.Test))},
			{"variant", known(c.Change != "", Text(c.Variant()))}})
	}
	timed := func(t unit.Time) Value { return known(t > 0, Int(t)) }
	near := !math.IsInf(f.Distance, 0)
	return object(members{{"distance", known(near, Number(f.Distance))},
		{"worst_bytes", known(near, Int(d.Calls[f.Worst].Size))},
		{"worst_error", known(near, Number(f.Off))}, {"causes", listOf(f.Causes, cause)},
		{"times_ps", listOf(f.Times, timed)}})
}
