package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"collsim/fidelity"
	"collsim/internal/prose"
	"collsim/run"
	"collsim/unit"
)

// loggedColumns lists the measured time of a result in the file that its scenario names, and how
// far the simulated one is from it.
func loggedColumns() (all Layout) {
	type l = run.Logged
	shown := map[string]Column{
		"time_ps": loggedColumn("measured", "(us)", 10, func(l *l) string { return us(l.Time) }),
		"busbw_GBps": loggedColumn("measured_bw", "(GB/s)", 12, func(l *l) string {
			return fmt.Sprintf("%.2f", l.BusBW)
		}),
		"error": loggedColumn("error", "(%)", 7, func(l *l) string {
			return fmt.Sprintf("%+.1f", 100*l.Error)
		}),
	}
	list := partOf(loggedFields(), func(r *run.Result) *l { return r.Logged },
		func(r *run.Result) *l {
			if r.Logged == nil {
				r.Logged = &run.Logged{}
			}
			return r.Logged
		})
	for _, f := range list {
		name := f.name
		f.name, f.optional = "measured."+name, true
		c, s := inJSON(f).csv(8, "measured_"+name), shown[name]
		c.Heading, c.Unit, c.Width, c.Shown, c.Print = s.Heading, s.Unit, s.Width, s.Shown, s.Print
		all = append(all, c)
	}
	return all
}

// loggedColumn has what the table shows of a measured time.
func loggedColumn(heading, unit string, width int, text func(*run.Logged) string) Column {
	return Column{}.headed(heading, unit, width).shown(hasLog).printed(func(r *run.Result) string {
		if r.Logged == nil {
			return missing
		}
		return text(r.Logged)
	})
}

// loggedFields lists the members of a measured time. The error is simulated over measured, less 1;
// chose names what the library reported that it took.
func loggedFields() fields[run.Logged] {
	type l = run.Logged
	return fields[l]{
		wholeField("time_ps", func(l *l) *unit.Time { return &l.Time }),
		wholeField("spread_ps", func(l *l) *unit.Time { return &l.Spread }),
		numberField("busbw_GBps", func(l *l) *float64 { return &l.BusBW }),
		numberField("error", func(l *l) *float64 { return &l.Error }),
		textField("chose", func(l *l) *string { return &l.Chose }).ifSet(),
		wholeField("rows", func(l *l) *int { return &l.Rows }),
		ownField("at", aText(),
			func(l *l) Value { return Text(fmt.Sprintf("%s:%d", l.File, l.Line)) },
			func(l *l, v Value) {
				l.File = v.text
				if at := strings.LastIndex(v.text, ":"); at >= 0 {
					l.File = v.text[:at]
					l.Line, _ = strconv.Atoi(v.text[at+1:]) // else it differs from the line
				}
			}),
	}
}

// hasLog reports whether the scenario of a result names a file of measured times.
func hasLog(r *run.Result) bool { return r.Point.Measured.Name != "" }

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
