package main

import (
	"errors"
	"fmt"
	"strings"

	"collsim/internal/output"
	"collsim/internal/prose"
	"collsim/plots"
	"collsim/report"
	"collsim/run"
	"collsim/scenarios"
)

// outputs knows where results go: flags win over the scenario's [output].
type outputs struct {
	app       *app
	flags     *runFlags
	scenarios []*run.Scenario
	figure    plots.Figure
	drawn     strings.Builder // timelines as text
	figures   []*figure       // curves, in the order in which they begin
	errors    []errorSeries   // of --numerics-plot
	table     func(...*run.Report) string
	playing   bool // schedules are played for real, too

	interrupted bool // not all results are there

	lost []*lostError // what could not be written
}

// newOutputs refuses what cannot be written, before anything is run; more may refuse further files.
// With more, measured traces are written beside simulated ones.
func (a *app) newOutputs(list []*run.Scenario, o *runFlags, more func() error) (*outputs, error) {
	out := &outputs{app: a, flags: o, scenarios: list, table: report.Table, playing: more != nil}
	if err := out.streams(); err != nil {
		return nil, err
	}
	var err error
	if out.figure, err = plots.FigureOf(o.figure); err != nil {
		return nil, &usageError{text: fmt.Sprintf("--figure %q: no figure of that name", o.figure),
			hint: "there are page, column and slide"}
	}
	for _, one := range []struct{ name, flag string }{{o.csv, "--csv"}, {o.links, "--links"}} {
		if err := a.takeOne(one.name, one.flag); err != nil {
			return nil, err
		}
	}
	for i := range list {
		if err := out.claim(i); err != nil {
			return nil, usage(err)
		}
	}
	if more != nil {
		if err := more(); err != nil {
			return nil, err
		}
	}
	return out, out.checkErrors()
}

// lose remembers that something could not be written; the rest is.
func (out *outputs) lose(err error) {
	var lost *lostError
	var wrong *usageError
	switch {
	case err == nil:
		return
	case errors.As(err, &lost):
	case errors.As(err, &wrong):
		lost = &lostError{wrong}
	default:
		lost = &lostError{&usageError{text: err.Error()}}
	}
	out.lost = append(out.lost, lost)
}

// missing is the first thing that could not be written, and how many more there are.
func (out *outputs) missing() error {
	switch n := len(out.lost); n {
	case 0:
		return nil
	case 1:
		return out.lost[0]
	default:
		first := *out.lost[0].usageError
		first.hint = "and so are " + prose.Plural(n-1, "other output")
		if n == 2 {
			first.hint = "and so is another output"
		}
		return &lostError{&first}
	}
}

// streams refuses several things on standard output.
func (out *outputs) streams() error {
	o := out.flags
	var taken []string
	for _, one := range []struct {
		wants bool
		flag  string
	}{{o.json, "--json"}, {o.jsonl, "--jsonl"}, {o.csv == "-", "--csv -"},
		{o.links == "-", "--links -"}} {
		if one.wants {
			taken = append(taken, one.flag)
		}
	}
	switch {
	case len(taken) > 1:
		return &usageError{text: taken[0] + " and " + taken[1] + " both want standard output",
			hint: "give " + strings.TrimSuffix(taken[1], " -") + " a file"}
	case o.timeline == "-" && len(taken) > 0:
		return &usageError{text: "--timeline - wants standard output, as " + taken[0] + " does",
			hint: "draw into a file: --timeline '{id}.svg'"}
	}
	for _, one := range []struct{ name, flag string }{{o.trace, "--trace"}, {o.curves, "--curves"},
		{o.errors, "--numerics-plot"}} {
		if one.name == "-" {
			return &usageError{text: one.flag + " - would write no text to standard output",
				hint: "give " + one.flag + " a file"}
		}
	}
	return nil
}

// claim claims the files of a scenario.
func (out *outputs) claim(index int) error {
	s := out.scenarios[index]
	for _, one := range []struct{ flag, name, key string }{
		{"", s.Output.JSON, "json"},
		{out.flags.csv, s.Output.CSV, "csv"},
		{out.flags.links, s.Output.Links, "links"},
	} {
		if one.flag != "" || one.name == "" {
			continue
		}
		key := "output." + one.key
		if err := out.mayWrite(index, nil, key, one.name); err != nil {
			return err
		}
		if err := out.app.take(out.file(s, one.name), key+" of "+s.File); err != nil {
			return err
		}
	}
	for _, p := range s.Points {
		if err := out.claimPoint(index, p); err != nil {
			return err
		}
	}
	return nil
}

// claimPoint claims the files that a point has for itself, and its place in a figure.
func (out *outputs) claimPoint(index int, p *scenarios.Point) error {
	for _, d := range drawings() {
		name, err := out.picture(d, index, p)
		if err != nil {
			return err
		}
		for _, name := range out.pictures(d, p, name) {
			err := out.app.take(name, "the "+d.what+" of "+p.ID)
			if many(err) {
				return out.manyPictures(name)
			}
			if err != nil {
				return err
			}
		}
	}
	if err := out.join(index, p); err != nil {
		return err
	}
	if err := out.claimData(index, p); err != nil || p.Gradient == scenarios.NoGradient {
		return err
	}
	return out.claimData(index, p.Backward())
}

// pictures are all files of a point that have to do with a drawing of this name.
func (out *outputs) pictures(d drawing, p *scenarios.Point, name string) []string {
	if name == "" || name == "-" {
		return nil
	}
	names := []string{name}
	if p.Gradient != scenarios.NoGradient {
		names = append(names, beside(name, "grad"))
	}
	if out.playing && d.what == "trace" {
		for _, name := range names {
			names = append(names, beside(name, "measured"))
		}
	}
	return names
}

// many reports whether an error is that of two results in one file.
func many(err error) bool {
	var clash *output.Clash
	return errors.As(err, &clash) && !clash.Kept
}

// manyPictures is the error of several results that would be drawn into one file.
func (out *outputs) manyPictures(name string) error {
	results := 0
	for _, s := range out.scenarios {
		results += len(s.Points)
	}
	return &usageError{file: name, text: fmt.Sprintf("%d results, one file", results),
		hint: "choose with --only, or put {algorithm} and {bytes} into the name ({id} tells all apart)"}
}

// file is the name of a file that the scenario names, relative to the scenario.
func (out *outputs) file(s *run.Scenario, name string) string {
	if name == "" {
		return ""
	}
	return s.Resolve(name)
}

// options are what running a scenario takes for its outputs.
func (out *outputs) options(index int) run.RunOptions {
	s := out.scenarios[index]
	o := run.RunOptions{Links: out.flags.links+s.Output.Links != "",
		Numerics: out.flags.numerics || out.flags.errors != ""}
	for _, d := range drawings() {
		o.Trace = o.Trace || out.pattern(d, index) != ""
	}
	return o
}

// take draws what a result has for itself, and keeps what it adds to a figure.
func (out *outputs) take(index int, r *run.Result) {
	for _, d := range drawings() {
		out.lose(out.draw(d, index, r))
	}
	out.plot(index, r)
	out.plotErrors(r)
	if out.flags.jsonl {
		line, err := report.JSONLine(out.scenarios[index], r)
		out.lose(err)
		out.app.printJSON(out.app.out, line)
	}
	out.lose(out.writeData(index, r))
}

// write writes the files of reports.
func (out *outputs) write(reports []*run.Report) {
	for _, t := range []struct {
		flag string
		key  func(scenarios.Output) string
		text func(...*run.Report) ([]byte, error)
	}{
		{out.flags.csv, func(o scenarios.Output) string { return o.CSV }, report.CSV},
		{out.flags.links, func(o scenarios.Output) string { return o.Links }, report.LinksCSV},
		{"", func(o scenarios.Output) string { return o.JSON }, report.JSON},
	} {
		out.writeTable(reports, t.flag, t.key, t.text)
	}
	out.writeFigures()
	out.lose(out.writeErrors())
}

// print prints reports, as the flags ask for.
func (out *outputs) print(reports []*run.Report) error {
	a := out.app
	var text []byte
	var err error
	switch {
	case out.flags.json:
		if text, err = report.JSON(reports...); err == nil {
			a.printJSON(a.out, text)
		}
		return err
	case out.flags.jsonl:
		if text, err = report.JSONSummary(reports...); err == nil {
			a.printJSON(a.out, text)
		}
		return err
	case out.flags.csv == "-":
		text, err = report.CSV(reports...)
	case out.flags.links == "-":
		text, err = report.LinksCSV(reports...)
	default:
		a.print(a.out, out.table(reports...)+out.drawn.String())
		return nil
	}
	if err == nil {
		a.printData(text)
	}
	return err
}

// writeTable writes one file where a flag says so, else one for each scenario that names one.
func (out *outputs) writeTable(reports []*run.Report, flag string,
	key func(scenarios.Output) string, text func(...*run.Report) ([]byte, error)) {
	write := func(name string, reports ...*run.Report) {
		content, err := text(reports...)
		if err == nil {
			err = writeFile(name, content)
		}
		out.lose(err)
	}
	switch flag {
	case "-":
		return
	case "":
	default:
		write(flag, reports...)
		return
	}
	for _, r := range reports {
		if name := out.file(r.Scenario, key(r.Scenario.Output)); name != "" {
			write(name, r)
		}
	}
}
