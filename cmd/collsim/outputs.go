package main

import (
	"fmt"
	"strings"

	"collsim/plots"
	"collsim/report"
	"collsim/run"
	"collsim/scenarios"
)

// outputs knows where results go: flags win over the scenario's [output].
type outputs struct {
	flags     *runFlags
	scenarios []*run.Scenario
	figure    plots.Figure
	pictures  strings.Builder // timelines as text
	figures   []*figure       // curves, in the order in which they begin
	errors    []errorSeries   // of --numerics-plot
	table     func(...*run.Report) string
	playing   bool // schedules are played for real, too

	interrupted bool // not all results are there
}

// newOutputs refuses what cannot be written, before anything is run; more may refuse further files.
// With more, measured traces are written beside simulated ones.
func newOutputs(list []*run.Scenario, o *runFlags, more func(claims) error) (*outputs, error) {
	out := &outputs{flags: o, scenarios: list, table: report.Table, playing: more != nil}
	if err := out.streams(); err != nil {
		return nil, err
	}
	var err error
	if out.figure, err = plots.FigureOf(o.figure); err != nil {
		return nil, &usageError{text: fmt.Sprintf("--figure %q: no figure of that name", o.figure),
			hint: "there are page, column and slide"}
	}
	c := claims{}
	for _, one := range []struct{ name, flag string }{{o.csv, "--csv"}, {o.links, "--links"}} {
		if err := c.claim(one.name, one.flag); err != nil {
			return nil, err
		}
	}
	for i := range list {
		if err := out.claim(c, i); err != nil {
			return nil, err
		}
	}
	if more != nil {
		if err := more(c); err != nil {
			return nil, err
		}
	}
	return out, out.checkErrors(c)
}

// streams refuses several things on standard output.
func (out *outputs) streams() error {
	o := out.flags
	var taken []string
	for _, one := range []struct {
		wants bool
		flag  string
	}{{o.json, "--json"}, {o.csv == "-", "--csv -"}, {o.links == "-", "--links -"}} {
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

// claims knows the owner of each file to be written.
type claims map[string]string

func (c claims) claim(name, what string) error {
	if name == "" || name == "-" {
		return nil
	}
	if other, taken := c[name]; taken {
		return &usageError{text: fmt.Sprintf("%s and %s would both be written to %s", other, what,
			name)}
	}
	c[name] = what
	return nil
}

// claim claims the files of a scenario.
func (out *outputs) claim(c claims, index int) error {
	s := out.scenarios[index]
	for _, one := range []struct{ flag, name, key string }{
		{"", s.Output.JSON, "json"},
		{out.flags.csv, s.Output.CSV, "csv"},
		{out.flags.links, s.Output.Links, "links"},
	} {
		if one.flag == "" {
			if err := c.claim(out.file(s, one.name), "output."+one.key+" of "+s.File); err != nil {
				return err
			}
		}
	}
	for _, p := range s.Points {
		for _, d := range drawings() {
			name, err := out.picture(d, index, p)
			if err != nil {
				return err
			}
			if c.claim(name, "the "+d.what+" of "+p.ID) != nil {
				return out.manyPictures(name)
			}
			if out.playing && d.what == "trace" && name != "" {
				if err := c.claim(measuredName(name), "the measured trace of "+p.ID); err != nil {
					return err
				}
			}
		}
		if err := out.join(c, index, p); err != nil {
			return err
		}
		if err := out.claimData(c, index, p, p.Data.Input, p.GradientData.Input); err != nil {
			return err
		}
		if p.Gradient == scenarios.NoGradient {
			continue
		}
		err := out.claimData(c, index, p.Backward(), p.Data.Input, p.GradientData.Input)
		if err != nil {
			return err
		}
	}
	return nil
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
func (out *outputs) take(index int, r *run.Result) error {
	for _, d := range drawings() {
		if err := out.draw(d, index, r); err != nil {
			return err
		}
	}
	out.plot(index, r)
	out.plotErrors(r)
	return out.writeData(index, r)
}

// write writes the files of reports and returns what goes to standard output.
func (out *outputs) write(reports []*run.Report) (string, error) {
	for _, t := range []struct {
		flag string
		key  func(scenarios.Output) string
		text func(...*run.Report) ([]byte, error)
	}{
		{out.flags.csv, func(o scenarios.Output) string { return o.CSV }, report.CSV},
		{out.flags.links, func(o scenarios.Output) string { return o.Links }, report.LinksCSV},
		{"", func(o scenarios.Output) string { return o.JSON }, report.JSON},
	} {
		if err := out.writeTable(reports, t.flag, t.key, t.text); err != nil {
			return "", err
		}
	}
	if err := out.writeFigures(); err != nil {
		return "", err
	}
	if err := out.writeErrors(); err != nil {
		return "", err
	}
	var text []byte
	var err error
	switch {
	case out.flags.json:
		text, err = report.JSON(reports...)
	case out.flags.csv == "-":
		text, err = report.CSV(reports...)
	case out.flags.links == "-":
		text, err = report.LinksCSV(reports...)
	default:
		return out.table(reports...) + out.pictures.String(), nil
	}
	return string(text), err
}

// writeTable writes one file where a flag says so, else one for each scenario that names one.
func (out *outputs) writeTable(reports []*run.Report, flag string,
	key func(scenarios.Output) string, text func(...*run.Report) ([]byte, error)) error {
	write := func(name string, reports ...*run.Report) error {
		content, err := text(reports...)
		if err != nil {
			return err
		}
		return writeFile(name, content)
	}
	switch flag {
	case "-":
		return nil
	case "":
	default:
		return write(flag, reports...)
	}
	for _, r := range reports {
		if name := out.file(r.Scenario, key(r.Scenario.Output)); name != "" {
			if err := write(name, r); err != nil {
				return err
			}
		}
	}
	return nil
}
