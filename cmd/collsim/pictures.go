package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"collsim/formats/perfetto"
	"collsim/plots"
	"collsim/run"
	"collsim/scenarios"
	"collsim/sim"
	"collsim/trace"
	"collsim/unit"
)

// drawing is a file that each result has for itself. A row is all that it takes: a flag of the
// drawing's name, and where a scenario has such a key, output.timeline, what that names.
type drawing struct {
	what  string                            // "timeline"
	usage string                            // of its flag
	key   func(scenarios.Output) string     // nil: no key names it
	ends  []string                          // of its file's name, one a format
	hint  string                            // what to do if the name ends otherwise
	text  func(of *subject) (string, error) // of -, on standard output; nil: there is none
	make  func(out *outputs, index int, of *subject, name string) ([]byte, error)
}

// subject has what a drawing shows.
type subject struct {
	point    *scenarios.Point
	title    string
	trace    *trace.Trace // nil of what came to no end
	devices  []string
	panels   []plots.Panel
	measured *trace.Trace // nil if it was not executed
	backward bool         // the forward pass has the name
	shows    string       // which part of the time; empty: all
}

// drawings returns the table of pictures.
func drawings() []drawing {
	return []drawing{
		{
			what: "timeline",
			usage: "draw each result to `FILE.svg`, .png or .pdf, with {algorithm}, {bytes}, … in its " +
				"name; - is text on standard output",
			key:  func(o scenarios.Output) string { return o.Timeline },
			ends: []string{".svg", ".png", ".pdf"},
			hint: "let the name end in .svg, .png or .pdf, or write - for text",
			text: timelineText,
			make: (*outputs).timeline,
		},
		{
			what:  "trace",
			usage: "write each result's timeline for Perfetto to `FILE.pftrace`, or .json",
			key:   func(o scenarios.Output) string { return o.Trace },
			ends:  []string{".pftrace", ".json"},
			hint:  "let the name end in .pftrace, which Perfetto shows best, or .json",
			make:  (*outputs).perfetto,
		},
	}
}

// registerDrawings adds their flags.
func (o *runFlags) registerDrawings(f *pflag.FlagSet) {
	o.drawn = map[string]*string{}
	for _, d := range drawings() {
		o.drawn[d.what] = f.String(d.what, "", d.usage)
	}
}

// pattern returns the name to which drawings of a scenario go, "" for none.
func (out *outputs) pattern(d drawing, index int) string {
	s, name := out.scenarios[index], *out.flags.drawn[d.what]
	if name != "" || d.key == nil {
		return name
	}
	return out.file(s, d.key(s.Output))
}

func placeholder() *regexp.Regexp { return regexp.MustCompile(`\{[^{}]*\}`) }

// fileOf returns the file to which a point's drawing goes, "" for none.
func (out *outputs) fileOf(d drawing, index int, p *scenarios.Point) (string, error) {
	pattern := out.pattern(d, index)
	flag := *out.flags.drawn[d.what]
	if pattern == "" || pattern == "-" && flag != "" {
		return pattern, nil
	}
	name := p.FileName(pattern)
	if unknown := placeholder().FindString(name); unknown != "" {
		var known []string
		for _, name := range p.Names() {
			known = append(known, "{"+name+"}")
		}
		for _, a := range p.Axes {
			known = append(known, "{"+a.Path+"}")
		}
		return "", &usageError{File: pattern, Text: unknown + " stands for nothing",
			Hint: "known: " + strings.Join(known, ", ")}
	}
	if !slices.Contains(d.ends, strings.ToLower(filepath.Ext(name))) {
		return "", &usageError{File: name, Text: "a " + d.what + " has no such format", Hint: d.hint}
	}
	if flag == "" {
		given := d.key(out.scenarios[index].Output)
		return name, out.mayWrite(index, p, "output."+d.what, given)
	}
	return name, nil
}

// draw draws a result, or a program. One that came to no end has no picture.
func (out *outputs) draw(d drawing, index int, of *subject) error {
	name, err := out.fileOf(d, index, of.point)
	if err != nil || name == "" || of.trace == nil {
		return err
	}
	if of, err = out.part.of(of); err != nil {
		return err
	}
	if of.backward && name != "-" {
		name = beside(name, "grad")
	}
	if name == "-" {
		text, err := d.text(of)
		out.drawn.WriteString("\n# " + of.point.ID + of.shows + "\n" + text)
		return err
	}
	content, err := d.make(out, index, of, name)
	if err != nil {
		return &usageError{File: name, Text: err.Error()}
	}
	return writeFile(name, content)
}

// resultSubject makes the subject of a result.
func resultSubject(r *run.Result) *subject {
	of := &subject{point: r.Point, trace: r.Trace, devices: r.Devices, backward: r.Gradient != nil,
		title: fmt.Sprintf("%v %v, %d ranks%s, %v: %s", r.Point.Spec.Kind, r.Algorithm,
			r.Point.Spec.Ranks, teamText(r.Teams), r.Point.Spec.Bytes(), short(r.Time))}
	of.addPanels(plots.Panel{Trace: r.Trace, Names: r.Devices, Path: path(r.Critical)}, r.Time,
		r.Measured)
	return of
}

// programSubject makes the subject of a program: a row for each of its streams.
func programSubject(s *run.Scenario, r *run.ProgramResult) *subject {
	what := fmt.Sprintf("%s, %d ranks", s.Name, r.Point.Topology.Ranks)
	for _, a := range r.Point.Axes {
		what += fmt.Sprintf(", %s = %v", a.Path, a.Value)
	}
	of := &subject{point: r.Point.Point, trace: r.Trace, devices: r.Devices,
		title: what + ": " + short(r.Time)}
	of.addPanels(plots.Panel{Trace: r.Trace, Names: r.Devices, Path: path(r.Critical),
		Ops: r.OpNames(), Turns: turnsOf(r)}, r.Time, r.Measured)
	return of
}

// turnsOf returns the turns of a pipeline as pictures have them; nil for other programs.
func turnsOf(r *run.ProgramResult) map[string]plots.Turn {
	all := r.Turns()
	if all == nil {
		return nil
	}
	turns := map[string]plots.Turn{}
	for _, name := range r.OpNames() {
		turns[name] = plots.Turn{Pass: all[name].Pass, Batch: all[name].Microbatch}
	}
	return turns
}

// addPanels makes the timelines of a subject: what was simulated, and below it what was measured,
// if it was.
func (of *subject) addPanels(simulated plots.Panel, took unit.Time, m *run.Measured) {
	gpu := of.point.Device.GPU
	simulated.SMs, simulated.HBM = int(gpu.SMs), gpu.HBM
	of.panels = []plots.Panel{simulated}
	if m == nil || m.Trace == nil {
		return
	}
	of.measured = m.Trace
	of.panels[0].Heading = "simulated: " + short(took)
	of.panels = append(of.panels, plots.Panel{
		Heading: fmt.Sprintf("measured: %s, the fastest of %d (median %s)", short(m.Fastest),
			m.Repetitions, short(m.Time)),
		Trace: m.Trace, Names: simulated.Names, Ops: simulated.Ops,
		Turns: simulated.Turns})
}

func timelineText(of *subject) (string, error) {
	return plots.TimelinesText(of.panels, plots.TextOptions{})
}

// path returns the critical path of a simulation, as a picture draws it.
func path(pieces []sim.Piece) []plots.Span {
	var spans []plots.Span
	for _, c := range pieces {
		if c.To > c.From && c.What != sim.Start {
			spans = append(spans, plots.Span{Rank: c.Rank, Lane: c.Lane, From: c.From, To: c.To})
		}
	}
	return spans
}

// timeline draws who did what when.
func (out *outputs) timeline(index int, of *subject, name string) ([]byte, error) {
	format, err := plots.FormatOf(name)
	if err != nil {
		return nil, err
	}
	return plots.Timelines(of.panels, plots.Options{
		Title: of.title,
		Caption: fmt.Sprintf("%s, seed %d, collsim %s", caption(out.scenarios[index], of.point),
			of.point.Seed, run.Version),
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

// perfetto writes a trace for Perfetto. A measured trace goes into a file of its own.
func (out *outputs) perfetto(_ int, of *subject, name string) ([]byte, error) {
	if of.measured != nil {
		name := beside(name, "measured")
		content, err := traceFile(of.measured, of.devices, name)
		if err != nil {
			return nil, err
		}
		out.lose(writeFile(name, content))
	}
	return traceFile(of.trace, of.devices, name)
}

// traceFile writes a trace in the format that its file's name asks for.
func traceFile(t *trace.Trace, devices []string, name string) ([]byte, error) {
	write := perfetto.Write
	if strings.ToLower(filepath.Ext(name)) == ".json" {
		write = perfetto.WriteJSON
	}
	var b bytes.Buffer
	err := write(&b, t, perfetto.Options{Devices: devices})
	return b.Bytes(), err
}

// beside names a second file of the same: x-grad.svg beside x.svg.
func beside(name, what string) string {
	ext := filepath.Ext(name)
	return strings.TrimSuffix(name, ext) + "-" + what + ext
}

// caption returns the command and the settings that give a result again.
func caption(s *run.Scenario, p *scenarios.Point) string {
	parts := append([]string{s.File}, s.Set...)
	if len(s.Points)+len(s.Programs) > 1 {
		parts = append(parts, p.ID)
	}
	return strings.Join(parts, ", ")
}

// short writes a time in the unit that its size asks for, to four digits.
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
