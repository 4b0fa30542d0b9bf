package report

import (
	"fmt"
	"math"
	"strings"

	"collsim/fidelity"
	"collsim/internal/prose"
	"collsim/run"
)

// loggedColumns lists the measured time of a result in the file that its scenario names, and how
// far the simulated one is from it.
func loggedColumns() Layout {
	column := func(name string, of func(*run.Logged) Value) Column {
		return inJSON("measured."+name, logged(of)).optional().csv(8, "measured_"+name)
	}
	number := func(text func(*run.Logged) string) func(*run.Result) string {
		return func(r *run.Result) string {
			if r.Logged == nil {
				return missing
			}
			return text(r.Logged)
		}
	}
	return Layout{
		column("time_ps", func(l *run.Logged) Value { return Int(l.Time) }).
			headed("measured", "(us)", 10).shown(hasLog).printed(number(func(l *run.Logged) string {
			return us(l.Time)
		})),
		column("spread_ps", func(l *run.Logged) Value { return Int(l.Spread) }),
		column("busbw_GBps", func(l *run.Logged) Value { return Number(l.BusBW) }).
			headed("measured_bw", "(GB/s)", 12).shown(hasLog).printed(number(func(l *run.Logged) string {
			return fmt.Sprintf("%.2f", l.BusBW)
		})),
		// Simulated over measured, less 1.
		column("error", func(l *run.Logged) Value { return Number(l.Error) }).
			headed("error", "(%)", 7).shown(hasLog).printed(number(func(l *run.Logged) string {
			return fmt.Sprintf("%+.1f", 100*l.Error)
		})),
		// What the library reported to have chosen.
		column("chose", func(l *run.Logged) Value { return known(l.Chose != "", Text(l.Chose)) }),
		column("rows", func(l *run.Logged) Value { return Int(l.Rows) }),
		column("at", func(l *run.Logged) Value { return Text(fmt.Sprintf("%s:%d", l.File, l.Line)) }),
	}
}

// hasLog reports whether the scenario of a result names a file of measured times.
func hasLog(r *run.Result) bool { return r.Point.Measured.Name != "" }

// logged makes a fact of results with a measured time in a file.
func logged(of func(*run.Logged) Value) fact {
	return func(r *run.Result) Value {
		if r.Logged == nil {
			return Value{}
		}
		return of(r.Logged)
	}
}

// loggedLines sums up how far simulated times are from those in files of measured times, by class
// of size, and names rows of these files that no result has.
func loggedLines(reports []*run.Report) (lines []string) {
	wrap := func(parts []string) {
		lines = append(lines, prose.Fill(parts, " ", prose.Columns-2, "measured ", "         ")...)
	}
	for _, r := range reports {
		files := r.Unmatched()
		if len(files) == 0 {
			continue
		}
		var parts []string
		for class, errors := range r.LoggedErrors() {
			if len(errors) == 0 {
				continue
			}
			for i, e := range errors {
				errors[i] = math.Abs(e)
			}
			parts = append(parts, fmt.Sprintf("%s %.1f %% (p90 %.1f %%),",
				fidelity.SizeClasses()[class].Name, 100*fidelity.NearestRank(errors, 0.5),
				100*fidelity.NearestRank(errors, 0.9)))
		}
		if parts != nil {
			last := &parts[len(parts)-1]
			*last = strings.TrimSuffix(*last, ",")
			wrap(append([]string{"median error"}, parts...))
		}
		for _, u := range files {
			if u.Used < u.Rows {
				wrap(unmatchedText(u))
			}
			for _, note := range u.Notes {
				wrap(strings.Fields(note.String()))
			}
		}
	}
	return lines
}

// mostSizes is the number of sizes that are listed.
const mostSizes = 12

// unmatchedText says which rows of a file no result has, in parts.
func unmatchedText(u run.Unmatched) []string {
	parts := []string{fmt.Sprintf("%s: %d of %s are of no result here, of size", u.File,
		u.Rows-u.Used, prose.Plural(u.Rows, "row"))}
	for i, size := range u.Sizes {
		if i == mostSizes {
			return append(parts, fmt.Sprintf("and %d more", len(u.Sizes)-i))
		}
		text := size.String()
		if i < len(u.Sizes)-1 {
			text += ","
		}
		parts = append(parts, text)
	}
	return parts
}
