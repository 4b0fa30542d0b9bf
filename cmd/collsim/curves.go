package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"collsim/algos"
	"collsim/plots"
	"collsim/run"
	"collsim/scenarios"
	"collsim/unit"
)

// figure is a picture of curves: results of one file name, which differ in algorithm and size only.
type figure struct {
	index  int    // of the scenario
	name   string // of the file
	first  *scenarios.Point
	points map[onCurve]*scenarios.Point // all that will come
	series []plots.Series               // as the results come, one for each algorithm
	bound  plots.Series
}

// onCurve is a place in a figure.
type onCurve struct {
	algorithm string
	size      unit.Bytes
}

// curvesOf is the name that curves of a scenario go to, "" for none.
func (out *outputs) curvesOf(index int) string {
	if out.flags.curves != "" {
		return out.flags.curves
	}
	s := out.scenarios[index]
	return out.file(s, s.Output.Curves)
}

// join puts a point into its figure, before anything is run.
func (out *outputs) join(index int, p *scenarios.Point) error {
	pattern := out.curvesOf(index)
	if pattern == "" {
		return nil
	}
	for _, part := range []string{"{algorithm}", "{bytes}", "{count}", "{id}"} {
		if strings.Contains(pattern, part) {
			return &usageError{file: pattern, text: part + " would tear curves apart: a figure is over " +
				"all algorithms and sizes", hint: "put {kind}, {dtype} or a swept key into the name"}
		}
	}
	name := p.FileName(pattern)
	if unknown := placeholder.FindString(name); unknown != "" {
		return &usageError{file: pattern, text: unknown + " stands for nothing"}
	}
	if _, err := plots.FormatOf(name); err != nil {
		return &usageError{file: name, text: "curves have no such format",
			hint: "let the name end in .svg, .png or .pdf"}
	}
	f := out.figureOf(index, name)
	if f == nil {
		f = &figure{index: index, name: name, first: p, points: map[onCurve]*scenarios.Point{}}
		if s := out.scenarios[index]; out.flags.curves == "" {
			if err := out.mayWrite(index, p, "output.curves", s.Output.Curves); err != nil {
				return err
			}
		}
		err := out.app.take(name, "the curves of "+out.scenarios[index].File)
		if err != nil {
			return err
		}
		out.figures = append(out.figures, f)
	}
	other := f.first
	if rest(other) == rest(p) {
		key := onCurve{p.Algorithm.String(), p.Spec.Bytes()}
		if other = f.points[key]; other == nil {
			f.points[key] = p
			return nil
		}
	}
	return &usageError{file: name, text: fmt.Sprintf("%s and %s belong in different figures",
		other.ID, p.ID), hint: "choose with --only, or put what differs into the name: {kind}, " +
		"{dtype}, {op}, {ranks}, {name} or a swept key in braces"}
}

// figureOf is the figure of a file, nil if there is none yet.
func (out *outputs) figureOf(index int, name string) *figure {
	for _, f := range out.figures {
		if f.index == index && f.name == name {
			return f
		}
	}
	return nil
}

// rest is all of a point but algorithm and size.
func rest(p *scenarios.Point) string {
	s := p.Spec
	text := fmt.Sprintf("%s %v %v %v %v %d %d %v", p.Collective, s.Kind, s.Type, s.Op, s.Factor,
		s.Ranks, s.Root, s.InPlace)
	text += fmt.Sprint(p.Teams)
	for _, a := range p.Axes {
		_, key, _ := strings.Cut(a.Path, ".")
		if !slices.Contains([]string{"algorithm", "bytes", "count"}, key) {
			text += fmt.Sprintf(" %s=%v", a.Path, a.Value)
		}
	}
	return text
}

// plot adds a result to its figure. What took no time has no bandwidth, and a backward pass is
// another collective, which no figure was made for.
func (out *outputs) plot(index int, r *run.Result) {
	pattern := out.curvesOf(index)
	busbw, ok := r.BusBW()
	size := r.Point.Spec.Bytes()
	if pattern == "" || !ok || size < 1 || r.Gradient != nil {
		return
	}
	f := out.figureOf(index, r.Point.FileName(pattern))
	name := r.Point.Algorithm.String()
	at := slices.IndexFunc(f.series, func(s plots.Series) bool { return s.Name == name })
	if at < 0 {
		at = len(f.series)
		f.series = append(f.series, plots.Series{Name: name, Look: f.look(r.Point.Algorithm)})
	}
	insert(&f.series[at], size, busbw)
	best, ok := r.BoundBusBW()
	at = slices.Index(f.bound.X, size)
	switch {
	case ok && at < 0:
		insert(&f.bound, size, best)
	case ok: // algorithms with more lanes may have a higher one
		f.bound.Y[at] = max(f.bound.Y[at], best)
	}
}

// insert keeps sizes ascending.
func insert(s *plots.Series, x unit.Bytes, y float64) {
	at, _ := slices.BinarySearchFunc(s.X, x, cmp.Compare[unit.Bytes])
	s.X, s.Y = slices.Insert(s.X, at, x), slices.Insert(s.Y, at, y)
}

// looks are how many a colour has: plots' second eight have the same colours, with other markers.
const looks = 8

// look is an algorithm's place in the table of all, the same in every figure. Of one algorithm with
// several parameters, the second has the same colour and another marker. Those of libraries come
// after what is no algorithm's.
func (f *figure) look(a scenarios.Algorithm) int {
	var names []string
	add := func(table []algos.Algorithm) {
		for _, al := range table {
			if !slices.Contains(names, al.Name) {
				names = append(names, al.Name)
			}
		}
	}
	add(algos.Table())
	other := len(names) // a file's, or the fastest
	names = append(names, "")
	add(run.Algorithms())
	look := slices.Index(names, a.Name)
	if look < 0 {
		look = other
	}
	for slices.ContainsFunc(f.series, func(s plots.Series) bool { return s.Look == look }) {
		look += looks
	}
	return look
}

// writeFigures draws all curves. What has none is told, unless the run was interrupted.
func (out *outputs) writeFigures() {
	for _, f := range out.figures {
		switch {
		case len(f.series) > 0:
			out.lose(out.writeFigure(f))
		case !out.interrupted:
			out.lose(&usageError{file: f.name, text: "there are no curves: nothing took any time"})
		}
	}
}

// writeFigure draws the curves of a figure.
func (out *outputs) writeFigure(f *figure) error {
	format, err := plots.FormatOf(f.name)
	if err != nil {
		return err
	}
	series := f.series
	if len(f.bound.X) > 0 {
		f.bound.Name, f.bound.Bound = "bound", true
		series = append(slices.Clone(series), f.bound)
	}
	p, s := f.first, out.scenarios[f.index]
	content, err := plots.Curves(series, plots.CurveOptions{
		Title: fmt.Sprintf("%v on %d ranks%s: %s", p.Spec.Kind, p.Spec.Ranks,
			teamText(len(p.Teams)), s.Name),
		Caption: fmt.Sprintf("%s, seed %d, collsim %s",
			strings.Join(append([]string{s.File}, s.Set...), ", "), p.Seed, run.Version),
		Format: format,
		Figure: out.figure,
	})
	if err != nil {
		return &usageError{file: f.name, text: err.Error()}
	}
	return writeFile(f.name, content)
}
