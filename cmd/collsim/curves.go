package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"collsim/algos"
	"collsim/plots"
	"collsim/run"
	"collsim/scenarios"
	"collsim/unit"
)

// figure is a picture of curves: results of one file name, of the same collective. A curve is what
// only differs in the key that the figure is over.
type figure struct {
	indices []int  // of the scenarios
	name    string // of the file
	first   *scenarios.Point
	points  map[onCurve]string // the IDs of all points that will come
	facts   [][]fact           // of all points that will come
	over    []string           // the values of a key that is no number, in their order
	series  []plots.Series     // as the results come
	bounds  []plots.Series     // by what they are the bounds of
	logged  []plots.Series     // measured, by the group of results that they are held against
}

// onCurve is a place in a figure.
type onCurve struct {
	facts string // by which the curve differs from others
	x     unit.Bytes
}

// curvesOf returns the file for the curves of a scenario, "" for none.
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
		if strings.Contains(pattern, part) && (part != "{bytes}" || out.overSizes()) {
			return &usageError{File: pattern, Text: part + " would tear curves apart: a figure is over " +
				"all algorithms and sizes", Hint: "put {kind}, {dtype} or a swept key into the name"}
		}
	}
	name := p.FileName(pattern)
	if unknown := placeholder().FindString(name); unknown != "" {
		return &usageError{File: pattern, Text: unknown + " stands for nothing"}
	}
	if _, err := curveFormat(name); err != nil {
		return err
	}
	f := out.figureOf(name)
	if f == nil {
		f = &figure{name: name, first: p, points: map[onCurve]string{}}
		if err := out.app.take(name, "the curves of "+out.scenarios[index].File); err != nil {
			return err
		}
		out.figures = append(out.figures, f)
	}
	if !slices.Contains(f.indices, index) {
		f.indices = append(f.indices, index)
		if s := out.scenarios[index]; out.flags.curves == "" {
			if err := out.mayWrite(index, p, "output.curves", s.Output.Curves); err != nil {
				return err
			}
		}
	}
	x, err := out.across(f, p)
	if err != nil {
		return err
	}
	facts := out.facts(index, p)
	place := onCurve{fmt.Sprint(facts), x}
	other, taken := f.points[place]
	if rest(f.first) != rest(p) || f.first.Topology.Ranks == p.Topology.Ranks &&
		fmt.Sprint(f.first.Teams) != fmt.Sprint(p.Teams) {
		other, taken = f.first.ID, true
	}
	f.points[place], f.facts = p.ID, append(f.facts, facts)
	if !taken {
		return nil
	}
	return &usageError{File: name, Text: fmt.Sprintf("%s and %s belong in different figures", other,
		p.ID), Hint: "choose with --only, or put what differs into the name: {kind}, " +
		"{dtype}, {op}, {ranks}, {name} or a swept key in braces"}
}

// figureOf returns the figure of a file, nil if there is none yet.
func (out *outputs) figureOf(name string) *figure {
	for _, f := range out.figures {
		if f.name == name {
			return f
		}
	}
	return nil
}

// rest returns what all curves of a figure have in common.
func rest(p *scenarios.Point) string {
	s := p.Spec
	text := fmt.Sprintf("%s %v %v %v %v %d %v", p.Collective, s.Kind, s.Type, s.Op, s.Factor, s.Root,
		s.InPlace)
	for _, a := range p.Axes {
		table, key, _ := strings.Cut(a.Path, ".")
		if table == "collective" && !slices.Contains([]string{"algorithm", "bytes", "count"}, key) {
			text += fmt.Sprintf(" %s=%v", a.Path, a.Value)
		}
	}
	return text
}

// fact is a key and a value by which curves differ.
type fact struct{ key, value string }

// facts returns the facts of a point: its file, its algorithm, size and number of ranks, and the
// other swept keys. It leaves out the key that is the figure's axis.
func (out *outputs) facts(index int, p *scenarios.Point) []fact {
	over := out.flags.over
	list := []fact{{"algorithm", p.Algorithm.String()}, {"file", out.scenarios[index].File}}
	if shortKey(over) != "ranks" {
		list = append(list, fact{"ranks", fmt.Sprint(p.Topology.Ranks)})
	}
	if !out.overSizes() {
		list = append(list, fact{"bytes", p.Spec.Bytes().String()})
	}
	for _, a := range p.Axes {
		table, _, _ := strings.Cut(a.Path, ".")
		if table != "collective" && a.Path != "topology.ranks" && !is(a.Path, over) {
			list = append(list, fact{a.Path, a.Text})
		}
	}
	return list
}

// overSizes reports whether figures are over the size.
func (out *outputs) overSizes() bool {
	return slices.Contains([]string{"", "bytes", "count"}, out.flags.over)
}

// is reports whether a key is meant by its path, or by the last word of that.
func is(path, key string) bool { return path == key || shortKey(path) == key }

// shortKey returns the last word of a key's path.
func shortKey(path string) string { return path[strings.LastIndex(path, ".")+1:] }

// across returns a point's place on the axis of a figure: its value of the key, or, if that is no
// number, the index of the value among all.
func (out *outputs) across(f *figure, p *scenarios.Point) (unit.Bytes, error) {
	switch over := out.flags.over; over {
	case "", "bytes":
		return p.Spec.Bytes(), nil
	case "count":
		return unit.Bytes(p.Spec.Count), nil
	case "ranks", "topology.ranks":
		return unit.Bytes(p.Topology.Ranks), nil
	default:
		var swept []string
		for _, a := range p.Axes {
			swept = append(swept, a.Path)
			if !is(a.Path, over) {
				continue
			}
			at := slices.Index(f.over, a.Text)
			if at < 0 {
				at = len(f.over)
				f.over = append(f.over, a.Text)
			}
			return unit.Bytes(at + 1), nil
		}
		return 0, &usageError{Text: fmt.Sprintf("--over %.60q: %s sweeps no such key", over, p.ID),
			Hint: "known: " + strings.Join(append([]string{"bytes", "count", "ranks"}, swept...), ", ")}
	}
}

// groupOf returns the facts by which curves of a figure differ, without the algorithm.
func (f *figure) groupOf(facts []fact) string {
	var parts []string
	for _, one := range facts {
		switch varies := f.varies(one.key); {
		case one.key == "algorithm":
		case !varies:
		case one.key == "file":
			base := filepath.Base(strings.TrimPrefix(one.value, "example:"))
			parts = append(parts, strings.TrimSuffix(base, filepath.Ext(base)))
		case one.key == "ranks":
			parts = append(parts, one.value+" ranks")
		case one.key == "bytes":
			parts = append(parts, one.value)
		default:
			parts = append(parts, shortKey(one.key)+"="+one.value)
		}
	}
	return strings.Join(parts, ", ")
}

// varies reports whether points of a figure differ in a fact.
func (f *figure) varies(key string) bool {
	valueOf := func(facts []fact) fact {
		at := slices.IndexFunc(facts, func(one fact) bool { return one.key == key })
		if at < 0 {
			return fact{}
		}
		return facts[at]
	}
	return slices.ContainsFunc(f.facts, func(other []fact) bool {
		return valueOf(other) != valueOf(f.facts[0])
	})
}

// plot adds a result to its figure. What took no time has no bandwidth, and a backward pass is
// another collective, which no figure was made for.
func (out *outputs) plot(index int, r *run.Result) {
	pattern := out.curvesOf(index)
	if pattern == "" || r.Point.Spec.Bytes() < 1 || r.Gradient != nil {
		return
	}
	out.plotIn(out.figureOf(r.Point.FileName(pattern)), index, r)
}

// plotIn adds a result to a figure, unless it has no place on a logarithmic axis.
func (out *outputs) plotIn(f *figure, index int, r *run.Result) {
	busbw, ok := r.BusBW()
	x, err := out.across(f, r.Point)
	if !ok || err != nil || x < 1 {
		return
	}
	facts := out.facts(index, r.Point)
	group := f.groupOf(facts)
	of := curve(&f.series, r.Point.Algorithm.String(), group)
	if len(of.X) == 0 {
		of.Look = f.look(r.Point.Algorithm)
	}
	insert(of, x, busbw)
	if l := r.Logged; l != nil {
		of := curve(&f.logged, "measured", group)
		insert(of, x, l.BusBW) // several algorithms may have one measured time
	}
	if best, ok := r.BoundBusBW(); ok {
		b := curve(&f.bounds, "bound", group)
		if at := slices.Index(b.X, x); at >= 0 {
			b.Y[at] = max(b.Y[at], best) // algorithms with more lanes may have a higher one
		} else {
			insert(b, x, best)
		}
	}
}

// curve finds the curve of a name and group in a list, or adds it.
func curve(list *[]plots.Series, name, group string) *plots.Series {
	at := slices.IndexFunc(*list, func(s plots.Series) bool {
		return s.Name == name && s.Group == group
	})
	if at < 0 {
		at = len(*list)
		*list = append(*list, plots.Series{Name: name, Group: group})
	}
	return &(*list)[at]
}

// insert keeps sizes ascending. A size that the curve has stays as it is.
func insert(s *plots.Series, x unit.Bytes, y float64) {
	at, has := slices.BinarySearchFunc(s.X, x, cmp.Compare[unit.Bytes])
	if has {
		return
	}
	s.X, s.Y = slices.Insert(s.X, at, x), slices.Insert(s.Y, at, y)
}

// looks is the number of markers of each colour: plots' second eight have the same colours, with
// other markers.
const looks = 8

// look returns an algorithm's place in the table of all, the same in every figure. The second set
// of parameters of an algorithm has the same colour and another marker. Algorithms of libraries
// come last.
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
	for slices.ContainsFunc(f.series, func(s plots.Series) bool {
		return len(s.X) > 0 && s.Look == look && s.Name != a.String()
	}) {
		look += looks
	}
	return look
}

// writeFigures draws all curves. It reports a figure without curves, unless the run was
// interrupted.
func (out *outputs) writeFigures() {
	for _, f := range out.figures {
		switch {
		case len(f.series) > 0:
			out.lose(out.writeFigure(f))
		case !out.incomplete:
			out.lose(&usageError{File: f.name, Text: "there are no curves: nothing took any time"})
		}
	}
}

// writeFigure draws the curves of a figure.
func (out *outputs) writeFigure(f *figure) error {
	return drawCurves(f.name, f.withBounds(), out.curveOptions(f))
}

// curveFormat returns the format of a file for curves, by the end of its name.
func curveFormat(name string) (plots.Format, error) {
	format, err := plots.FormatOf(name)
	if err != nil {
		return format, &usageError{File: name, Text: "curves have no such format",
			Hint: "let the name end in .svg, .png or .pdf"}
	}
	return format, nil
}

// drawCurves writes a picture of curves in the format of its name.
func drawCurves(name string, all []plots.Series, o plots.CurveOptions) (err error) {
	if o.Format, err = curveFormat(name); err != nil {
		return err
	}
	content, err := plots.Curves(all, o)
	if err != nil {
		return &usageError{File: name, Text: err.Error()}
	}
	return writeFile(name, content)
}

// withBounds returns all curves: those simulated, those measured, and the bounds of their groups.
func (f *figure) withBounds() []plots.Series {
	all := slices.Clone(f.series)
	for _, m := range f.logged {
		m.Look = f.look(scenarios.Algorithm{Name: "measured"})
		all = append(all, m)
	}
	for _, b := range f.bounds {
		b.Bound = true
		all = append(all, b)
	}
	return all
}

func (out *outputs) curveOptions(f *figure) plots.CurveOptions {
	var names, files []string
	for _, i := range f.indices {
		s := out.scenarios[i]
		names, files = append(names, s.Name), append(files, append([]string{s.File}, s.Set...)...)
	}
	p, over := f.first, out.flags.over
	o := plots.CurveOptions{Caption: fmt.Sprintf("%s, seed %d, collsim %s", strings.Join(files, ", "),
		p.Seed, run.Version), Figure: out.figure, XNames: f.over}
	if o.XName = shortKey(over); over == "bytes" {
		o.XName = ""
	}
	ranks := fmt.Sprintf(" on %d ranks", p.Spec.Ranks)
	if shortKey(over) == "ranks" || f.varies("ranks") {
		ranks = ""
	}
	o.Title = fmt.Sprintf("%v%s%s: %s", p.Spec.Kind, ranks, teamText(len(p.Teams)),
		strings.Join(slices.Compact(names), ", "))
	return o
}
