package main

import (
	"strings"

	"collsim/fidelity"
	"collsim/plots"
	"collsim/report"
	"collsim/run"
	"collsim/unit"
)

// checkValidation refuses outputs of validate that cannot be written, before anything is
// executed.
func (a *app) checkValidation(o *validateFlags) error {
	for _, one := range []struct{ name, flag string }{{o.scatter, "--scatter"},
		{o.report, "--report"}} {
		if one.name == o.report && o.wantsPage() {
			continue // it is claimed
		}
		if one.name == "-" {
			return &usageError{Text: one.flag + " - would write no table to standard output",
				Hint: "give " + one.flag + " a file"}
		}
		if err := a.takeOne(one.name, one.flag); err != nil {
			return err
		}
	}
	if _, err := plots.FormatOf(o.scatter); o.scatter != "" && err != nil {
		return &usageError{File: o.scatter, Text: "a picture has no such format",
			Hint: "let the name end in .svg, .png or .pdf"}
	}
	return nil
}

// writeValidation writes what only validate writes.
func (a *app) writeValidation(reports []*run.Report, o *validateFlags, out *outputs) {
	var cases []fidelity.Case
	for _, r := range reports {
		cases = append(cases, r.Cases()...)
	}
	if o.scatter != "" && len(cases) > 0 {
		picture, err := a.scatter(cases, o.scatter, reports[0].Tolerance().TimeP90, out)
		if err != nil {
			err = &usageError{File: o.scatter, Text: err.Error()}
		} else {
			err = writeFile(o.scatter, picture)
		}
		out.lose(err)
	}
	if o.report != "" && !o.wantsPage() && len(reports) > 0 {
		text := report.ValidationMarkdown(a.commandLine(), reports...)
		out.lose(writeFile(o.report, []byte(text)))
	}
}

// scatter draws measured against simulated times, a series for each executor and algorithm, with
// a band for errors within a share.
func (a *app) scatter(cases []fidelity.Case, name string, within unit.Share,
	out *outputs) ([]byte, error) {
	format, err := plots.FormatOf(name)
	if err != nil {
		return nil, err
	}
	var series []plots.ScatterSeries
	at := map[string]int{}
	for i := range cases {
		c := &cases[i]
		if c.Measured <= 0 || c.Simulated <= 0 {
			continue // a logarithm has no place for them
		}
		label := c.Kind + " " + c.Algorithm
		if several(cases) {
			label = c.Executor + ": " + label
		}
		if _, ok := at[label]; !ok {
			at[label] = len(series)
			series = append(series, plots.ScatterSeries{Name: label, Look: len(series)})
		}
		s := &series[at[label]]
		s.Points = append(s.Points, plots.ScatterPoint{Measured: c.Measured, Simulated: c.Simulated,
			Spread: c.Spread})
	}
	return plots.Scatter(series, plots.ScatterOptions{Title: "simulated against measured times",
		Caption: a.commandLine() + ", collsim " + run.Version, Format: format, Figure: out.figure,
		Tolerance: within})
}

// several reports whether cases are of several executors.
func several(cases []fidelity.Case) bool {
	for i := range cases {
		if cases[i].Executor != cases[0].Executor {
			return true
		}
	}
	return false
}

// commandLine returns the command as it was typed.
func (a *app) commandLine() string { return "collsim " + strings.Join(a.args, " ") }
