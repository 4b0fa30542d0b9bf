package main

import (
	"errors"
	"fmt"
	"strings"

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
	networks  []networkFigure // of --topology
	errors    []errorSeries   // of --numerics-plot
	table     func(...*run.Report) string
	rows      *report.Stream // prints the table as results come; nil: table does in the end
	pivot     *report.Pivot  // nil if none is asked for
	progress  *progress      // of the scenario that is being run; nil if none is
	executing bool           // schedules are executed, too

	incomplete bool // not all results are there
	inPlace    report.InPlace

	instead func(...*run.Report) string // prints in place of the table; nil: the table is printed

	fromLines bool // results are read back, and nothing is run

	csv *streamed // of results that are not kept; nil where CSV is written in the end

	onPage []onPage // results with timelines, of --report
	part   *part    // that timelines show; nil: all
	// divided has the part of each scenario that is run; nil: all of it
	divided []*run.Scenario

	lost []*lostError // what could not be written
}

// newOutputs refuses what cannot be written, before anything is run; more may refuse further files.
// With more, measured traces are written beside simulated ones.
func (a *app) newOutputs(list []*run.Scenario, o *runFlags, more func() error) (*outputs, error) {
	out := &outputs{app: a, flags: o, scenarios: list, table: report.Table, executing: more != nil}
	if err := out.streams(); err != nil {
		return nil, err
	}
	var err error
	if out.figure, err = plots.FigureOf(o.figure); err != nil {
		return nil, &usageError{Text: fmt.Sprintf("--figure %q: no figure of that name", o.figure),
			Hint: "there are page, column and slide"}
	}
	if out.part, err = parsePart(o.rows, o.window); err != nil {
		return nil, err
	}
	if err := out.ofCollectives(); err != nil {
		return nil, err
	}
	if err := out.newPivot(); err != nil {
		return nil, err
	}
	for _, one := range []struct{ name, flag string }{{o.csv, "--csv"}, {o.links, "--links"},
		{o.pivotTo, "--pivot-to"}} {
		if err := a.takeOne(one.name, one.flag); err != nil {
			return nil, err
		}
	}
	for i := range list {
		if err := out.claim(i); err != nil {
			return nil, usage(err)
		}
	}
	if err := out.claimNetworks(); err != nil {
		return nil, err
	}
	if more == nil || o.wantsPage() {
		if err := claimPage(a, o.report); err != nil {
			return nil, err
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
		lost = &lostError{&usageError{Text: err.Error()}}
	}
	out.lost = append(out.lost, lost)
}

// missing returns the first output that could not be written, with the number of the others.
func (out *outputs) missing() error {
	switch n := len(out.lost); n {
	case 0:
		return nil
	case 1:
		return out.lost[0]
	default:
		first := *out.lost[0].usageError
		first.Hint = "and so are " + prose.Plural(n-1, "other output")
		if n == 2 {
			first.Hint = "and so is another output"
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
	}{{o.asNCCLTests(), "--format"},
		{o.json, "--json"}, {o.jsonl, "--jsonl"}, {o.csv == "-", "--csv -"},
		{o.links == "-", "--links -"}, {o.pivot != "" && o.pivotTo == "-", "--pivot"}} {
		if one.wants {
			taken = append(taken, one.flag)
		}
	}
	if len(taken) > 1 {
		return &usageError{Text: taken[0] + " and " + taken[1] + " both want standard output",
			Hint: "give " + strings.TrimSuffix(taken[1], " -") + " a file" + pivotFile(taken[1])}
	}
	binary := []struct{ name, flag string }{{o.curves, "--curves"}, {o.errors, "--numerics-plot"},
		{o.topology, "--topology"}}
	for _, d := range drawings() {
		switch name, flag := *o.drawn[d.what], "--"+d.what; {
		case d.text == nil:
			binary = append(binary, struct{ name, flag string }{name, flag})
		case name == "-" && len(taken) > 0 && taken[0] != "--pivot":
			return &usageError{Text: flag + " - wants standard output, as " + taken[0] + " does",
				Hint: "draw into a File: " + flag + " '{id}" + d.ends[0] + "'"}
		}
	}
	for _, one := range binary {
		if one.name == "-" {
			return &usageError{Text: one.flag + " - would write no text to standard output",
				Hint: "give " + one.flag + " a file"}
		}
	}
	return nil
}

// file returns the name of a file that the scenario names, relative to the scenario, ""
// where flags alone say what is written.
func (out *outputs) file(s *run.Scenario, name string) string {
	if name == "" || out.flags.flagsAlone {
		return ""
	}
	return s.Resolve(name)
}

// options returns the options of a run that the outputs need.
func (out *outputs) options(index int) run.RunOptions {
	s := out.scenarios[index]
	drawn := out.drawsAll(index)
	o := run.RunOptions{Trace: drawn, Links: drawn || out.flags.links+s.Output.Links != "",
		Numerics: out.flags.numerics || out.flags.errors != "", Drop: out.drops()}
	for _, d := range drawings() {
		o.Trace = o.Trace || out.pattern(d, index) != ""
	}
	return o
}

// take draws what a result has for itself, and keeps what it adds to a figure.
func (out *outputs) take(index int, r *run.Result) {
	for _, d := range drawings() {
		out.lose(out.draw(d, index, resultSubject(r)))
	}
	out.keep(resultSubject(r), r.Links, r.Time)
	out.plot(index, r)
	out.plotErrors(r)
	if out.flags.jsonl {
		line, err := report.JSONLine(out.scenarios[index], r)
		out.lose(err)
		out.beside(func() { out.app.printJSON(out.app.out, line) })
	}
	if out.csv != nil {
		out.csv.add(out.scenarios[index], r)
	}
	if out.rows != nil {
		out.rows.Take(r)
	}
	out.lose(out.writeData(index, r))
}

// stream has the table printed as results come, if it is what standard output is for.
func (out *outputs) stream() {
	if o := out.flags; !o.asNCCLTests() && !o.json && !o.jsonl && o.csv != "-" && o.links != "-" &&
		!out.pivoting() {
		out.rows = report.NewStream(func(text string) {
			out.beside(func() { out.app.print(out.app.out, text) })
		})
	}
}

// beside prints to standard output, which may be the terminal that progress is on.
func (out *outputs) beside(print func()) {
	if out.progress == nil {
		print()
		return
	}
	out.progress.aside(print)
}

// begin prepares for the run of a scenario, whose progress p shows.
func (out *outputs) begin(s *run.Scenario, p *progress) {
	out.progress = p
	if out.rows != nil {
		out.rows.Begin(s)
	}
}

// end says that it has come to its end, with what there is; nil is nothing.
func (out *outputs) end(r *run.Report) {
	out.progress = nil
	if out.rows != nil && r != nil {
		out.rows.End(r)
	}
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
		if out.csv == nil || t.flag != out.csv.name {
			out.writeTable(reports, t.flag, t.key, t.text)
		}
	}
	if out.csv != nil {
		out.lose(out.csv.end())
	}
	out.writePivot(reports)
	out.writeFigures()
	out.writePage(reports)
	out.lose(out.writeErrors())
}

// print prints reports, as the flags ask for.
func (out *outputs) print(reports []*run.Report) error {
	a := out.app
	var text []byte
	var err error
	switch {
	case out.instead != nil:
		a.print(a.out, out.instead(reports...))
		return nil
	case out.flags.asNCCLTests():
		return out.printNCCLTests(reports)
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
	case out.pivoting():
		text := out.pivot.Text(reports...)
		if out.executing { // executions have more to say than rows: bits that differ, times outside
			text = out.table(reports...) + "\n" + text
		}
		a.print(a.out, text+out.drawn.String())
		return nil
	case out.rows != nil:
		out.rows.Close()
		a.print(a.out, out.drawn.String())
		return nil
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
