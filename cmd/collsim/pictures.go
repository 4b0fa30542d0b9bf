package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"collsim/formats/perfetto"
	"collsim/plots"
	"collsim/run"
	"collsim/scenarios"
	"collsim/sim"
	"collsim/unit"
)

// drawing is a file that each result has for itself.
type drawing struct {
	what string // "timeline"
	flag func(*runFlags) string
	key  func(scenarios.Output) string
	ends []string // of its file's name, one a format
	hint string   // what to do if the name ends otherwise
	make func(out *outputs, index int, r *run.Result, name string) ([]byte, error)
}

// drawings are all that there are.
func drawings() []drawing {
	return []drawing{
		{
			what: "timeline",
			flag: func(o *runFlags) string { return o.timeline },
			key:  func(o scenarios.Output) string { return o.Timeline },
			ends: []string{".svg", ".png", ".pdf"},
			hint: "let the name end in .svg, .png or .pdf, or write - for text",
			make: (*outputs).timeline,
		},
		{
			what: "trace",
			flag: func(o *runFlags) string { return o.trace },
			key:  func(o scenarios.Output) string { return o.Trace },
			ends: []string{".pftrace", ".json"},
			hint: "let the name end in .pftrace, which Perfetto shows best, or .json",
			make: (*outputs).perfetto,
		},
	}
}

// pattern is the name that drawings of a scenario go to, "" for none.
func (out *outputs) pattern(d drawing, index int) string {
	if name := d.flag(out.flags); name != "" {
		return name
	}
	s := out.scenarios[index]
	return out.file(s, d.key(s.Output))
}

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// picture is the file that a point's drawing goes to, "" for none.
func (out *outputs) picture(d drawing, index int, p *scenarios.Point) (string, error) {
	pattern := out.pattern(d, index)
	if pattern == "" || pattern == "-" && d.flag(out.flags) != "" {
		return pattern, nil
	}
	name := p.FileName(pattern)
	if unknown := placeholder.FindString(name); unknown != "" {
		known := []string{"{kind}", "{algorithm}", "{bytes}", "{count}", "{dtype}", "{op}", "{ranks}",
			"{name}", "{id}"}
		for _, a := range p.Axes {
			known = append(known, "{"+a.Path+"}")
		}
		return "", &usageError{file: pattern, text: unknown + " stands for nothing",
			hint: "known: " + strings.Join(known, ", ")}
	}
	if !slices.Contains(d.ends, strings.ToLower(filepath.Ext(name))) {
		return "", &usageError{file: name, text: "a " + d.what + " has no such format", hint: d.hint}
	}
	if d.flag(out.flags) == "" {
		given := d.key(out.scenarios[index].Output)
		return name, out.mayWrite(index, p, "output."+d.what, given)
	}
	return name, nil
}

// draw draws a result. One that came to no end has no picture.
func (out *outputs) draw(d drawing, index int, r *run.Result) error {
	name, err := out.picture(d, index, r.Point)
	if err != nil || name == "" || r.Trace == nil {
		return err
	}
	if r.Gradient != nil && name != "-" { // the forward pass has the name
		name = beside(name, "grad")
	}
	if name == "-" {
		text, err := plots.TimelinesText(panels(r), plots.TextOptions{})
		out.drawn.WriteString("\n# " + r.Point.ID + "\n" + text)
		return err
	}
	content, err := d.make(out, index, r, name)
	if err != nil {
		return &usageError{file: name, text: err.Error()}
	}
	return writeFile(name, content)
}

// panels are the timelines of a result: what was simulated, and below it what was measured, if it
// was.
func panels(r *run.Result) []plots.Panel {
	if r.Measured == nil || r.Measured.Trace == nil {
		return []plots.Panel{{Trace: r.Trace, Names: r.Devices, Path: path(r)}}
	}
	m := r.Measured
	return []plots.Panel{
		{Heading: "simulated: " + short(r.Time), Trace: r.Trace, Names: r.Devices, Path: path(r)},
		{Heading: fmt.Sprintf("measured: %s, the fastest of %d (median %s)", short(m.Fastest),
			m.Repetitions, short(m.Time)),
			Trace: m.Trace, Names: r.Devices},
	}
}

// path is the critical path of a simulation, as a picture draws it.
func path(r *run.Result) []plots.Span {
	var spans []plots.Span
	for _, c := range r.Critical {
		if c.To > c.From && c.What != sim.Start {
			spans = append(spans, plots.Span{Rank: c.Rank, Lane: c.Lane, From: c.From, To: c.To})
		}
	}
	return spans
}

// timeline is a picture of who did what when.
func (out *outputs) timeline(index int, r *run.Result, name string) ([]byte, error) {
	format, err := plots.FormatOf(name)
	if err != nil {
		return nil, err
	}
	return plots.Timelines(panels(r), plots.Options{
		Title: fmt.Sprintf("%v %v, %d ranks%s, %v: %s", r.Point.Spec.Kind, r.Algorithm,
			r.Point.Spec.Ranks, teamText(r.Teams), r.Point.Spec.Bytes(), short(r.Time)),
		Caption: fmt.Sprintf("%s, seed %d, collsim %s", caption(out.scenarios[index], r.Point),
			r.Point.Seed, run.Version),
		Format: format,
		Figure: out.figure,
	})
}

// teamText says that several teams are at work.
func teamText(teams int) string {
	if teams < 2 {
		return ""
	}
	return fmt.Sprintf(" in each of %d teams", teams)
}

// perfetto is a trace for Perfetto and its like. What was measured is in a file of its own.
func (out *outputs) perfetto(index int, r *run.Result, name string) ([]byte, error) {
	if r.Measured != nil && r.Measured.Trace != nil {
		measured := *r
		measured.Trace, measured.Measured = r.Measured.Trace, nil
		name := beside(name, "measured")
		content, err := out.perfetto(index, &measured, name)
		if err != nil {
			return nil, err
		}
		out.lose(writeFile(name, content))
	}
	write := perfetto.Write
	if strings.ToLower(filepath.Ext(name)) == ".json" {
		write = perfetto.WriteJSON
	}
	var b bytes.Buffer
	err := write(&b, r.Trace, perfetto.Options{Devices: r.Devices})
	return b.Bytes(), err
}

// beside is a file beside another that has more of the same: x-grad.svg beside x.svg.
func beside(name, what string) string {
	ext := filepath.Ext(name)
	return strings.TrimSuffix(name, ext) + "-" + what + ext
}

// caption is what it takes to get a result again.
func caption(s *run.Scenario, p *scenarios.Point) string {
	parts := append([]string{s.File}, s.Set...)
	if len(s.Points) > 1 {
		parts = append(parts, p.ID)
	}
	return strings.Join(parts, ", ")
}

// short is a time in the unit that its size asks for, to four digits.
func short(t unit.Time) string {
	for _, u := range []struct {
		of   unit.Time
		name string
	}{{unit.Second, "s"}, {unit.Millisecond, "ms"}, {unit.Microsecond, "us"},
		{unit.Nanosecond, "ns"}} {
		if t >= u.of {
			return fmt.Sprintf("%.4g %s", float64(t)/float64(u.of), u.name)
		}
	}
	return t.String()
}
