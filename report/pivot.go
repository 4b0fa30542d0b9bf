package report

import (
	"fmt"
	"slices"
	"strings"

	"collsim/internal/nearest"
	"collsim/run"
	"collsim/scenarios"
)

// Pivot is a table of one fact of results: the values of one key across, of all else in which their
// points differ down.
type Pivot struct {
	heading string // of the fact
	column  Column // that has it
	printed bool   // as the table has it, rather than CSV
	across  dimension
	down    []dimension
	fixed   []string // what all points have in common, of what a reader asks for first
	points  []pointOf
	program func(*run.ProgramResult) Value // the fact of a program, where it alone has it
}

// PivotError is a table that cannot be made.
type PivotError struct {
	Text, Hint string
	Across     bool // the key is wrong, not the column
}

// Error is what is wrong, without what would help.
func (e *PivotError) Error() string { return "report: " + e.Text }

// pointOf is a point of a scenario.
type pointOf struct {
	scenario *run.Scenario
	point    *scenarios.Point
}

// dimension is a key in which points may differ.
type dimension struct {
	name string
	of   func(pointOf) label
}

// label is a value of a key: for a reader, and for a program.
type label struct{ text, raw string }

// plain is a value that is spelt in one way.
func plain(v any) label { return label{fmt.Sprint(v), fmt.Sprint(v)} }

// NewPivot makes the table of the points of scenarios: of the column of that name (a heading of the
// table: time, algbw, busbw, %bound, or a name of CSV or JSON), with the values of a key across: a
// swept path or its last word, or what points have without sweeping: bytes, count, ranks,
// algorithm, kind, dtype, op, root, in_place, collective, scenario. Without a key it is bytes if
// they differ, else the algorithm, the type or the last swept key. The error is a *PivotError.
func NewPivot(column, across string, list ...*run.Scenario) (*Pivot, error) {
	p := &Pivot{}
	if err := p.choose(column); err != nil {
		return nil, err
	}
	for _, s := range list {
		for _, one := range s.Programs {
			p.points = append(p.points, pointOf{s, one.Point})
		}
		for _, one := range s.Points {
			p.points = append(p.points, pointOf{s, one})
			if one.Gradient != scenarios.NoGradient {
				p.points = append(p.points, pointOf{s, one.Backward()})
			}
		}
	}
	all := p.dimensions(across == "count")
	if err := p.turn(all, across); err != nil {
		return nil, err
	}
	for _, d := range all {
		if common := d.of(p.points[0]).text; !p.differ(d) && common != "none" && common != "" &&
			slices.Contains([]string{"kind", "dtype", "op", "algorithm", "bytes"}, d.name) {
			p.fixed = append(p.fixed, common)
		}
	}
	return p, p.clash()
}

// choose finds the column of a name.
func (p *Pivot) choose(name string) error {
	var headings, others []string
	for _, c := range Columns() {
		switch short := strings.Trim(c.Heading, "#%"); {
		case c.Heading != "" && (name == c.Heading || name == short):
			p.heading = strings.TrimSpace(c.Heading + " " + c.Unit)
			p.column, p.printed = c, true
			return nil
		case name != "" && (name == c.CSV || name == c.Key):
			p.heading, p.column = name, c
			return nil
		}
		if c.Heading != "" {
			headings = append(headings, c.Heading)
		}
		if c.CSV != "" {
			others = append(others, c.CSV)
		}
	}
	for _, c := range programColumns() {
		if name == c.name {
			p.heading, p.column = name, only(func(*run.Result) Value { return Value{} })
			p.program = c.value
			return nil
		}
		others = append(others, c.name)
	}
	e := &PivotError{Text: "no column of that name",
		Hint: "there are " + strings.Join(headings, ", ") + ", and the columns of --csv"}
	if near := nearest.To(name, append(headings, others...), 1); len(near) > 0 {
		e.Hint = "did you mean " + near[0] + "? " + e.Hint
	}
	return e
}

// programCell is the fact of a program, empty where there is none.
func (p *Pivot) programCell(r *run.ProgramResult, raw bool) string {
	v := p.column.ofProgram(r)
	if p.program != nil {
		v = p.program(r)
	}
	switch {
	case v.kind == isNull:
		return ""
	case p.printed:
		return p.column.cell(resultOf(r))
	case raw:
		return p.column.spell(v)
	default:
		return v.String()
	}
}

// cell is the fact of a result, empty where there is none. A program reads it raw.
func (p *Pivot) cell(r *run.Result, raw bool) string {
	switch v := p.column.Value(r); {
	case v.kind == isNull:
		return ""
	case p.printed:
		return p.column.cell(r)
	case raw:
		return p.column.spelt(r)
	default:
		return v.String()
	}
}

// dimensions are the keys in which points may differ, in the order of scenarios: the outermost
// first.
func (p *Pivot) dimensions(byCount bool) []dimension {
	spec := func(name string, of func(*scenarios.Point) any) dimension {
		return dimension{name, func(o pointOf) label {
			switch {
			case !o.point.OfProgram():
				return plain(of(o.point))
			case name == "kind":
				return plain("program")
			}
			return label{}
		}}
	}
	list := []dimension{
		{"scenario", func(o pointOf) label { return plain(o.scenario.File) }},
		spec("collective", func(p *scenarios.Point) any { return p.Collective }),
	}
	list = append(list, p.axes()...)
	list = append(list,
		spec("kind", func(p *scenarios.Point) any { return p.Spec.Kind }),
		spec("dtype", func(p *scenarios.Point) any { return p.Spec.Type }),
		spec("op", func(p *scenarios.Point) any { return run.OpOf(p.Spec) }),
		spec("root", func(p *scenarios.Point) any { return rootOf(p.Spec) }),
		spec("in_place", func(p *scenarios.Point) any { return p.Spec.InPlace }),
		spec("algorithm", func(p *scenarios.Point) any { return p.Algorithm }))
	if byCount {
		return append(list, spec("count", func(p *scenarios.Point) any { return run.CountOf(p.Spec) }))
	}
	return append(list, dimension{"bytes", func(o pointOf) label { return size(o.point) }})
}

// size is what bytes said: what it was rounded down to depends on the number of ranks.
func size(p *scenarios.Point) label {
	if p.OfProgram() {
		return label{}
	}
	bytes := p.Spec.Bytes()
	if p.ByBytes {
		bytes = p.Asked
	}
	return label{strings.ReplaceAll(bytes.String(), " ", ""), fmt.Sprint(int64(bytes))}
}

// axes are what [sweep] has set, but for what is a dimension in any case. Their names are the last
// words of their paths where that tells them apart.
func (p *Pivot) axes() (list []dimension) {
	seen, words := map[string]bool{}, map[string]int{}
	for _, o := range p.points {
		for _, a := range o.point.Axes {
			if !seen[a.Path] && !hasColumn(a.Path) {
				words[lastWord(a.Path)]++
				list = append(list, dimension{a.Path, func(o pointOf) label { return o.axis(a.Path) }})
			}
			seen[a.Path] = true
		}
	}
	for i, d := range list {
		if word := lastWord(d.name); words[word] == 1 {
			list[i].name = word
		}
	}
	return list
}

// axis is the value that [sweep] has given a point.
func (o pointOf) axis(path string) label {
	for _, a := range o.point.Axes {
		if a.Path == path {
			return label{strings.ReplaceAll(a.Text, " ", ""), a.Text}
		}
	}
	return label{}
}

// lastWord is that of a key's path.
func lastWord(path string) string { return path[strings.LastIndex(path, ".")+1:] }

// turn says which dimension goes across and which go down.
func (p *Pivot) turn(all []dimension, across string) error {
	if len(p.points) == 0 {
		return &PivotError{Text: "there are no points"}
	}
	differ := slices.DeleteFunc(slices.Clone(all), func(d dimension) bool { return !p.differ(d) })
	last := all[len(all)-1] // the size
	if across == "" && !p.differ(last) {
		for _, d := range differ {
			if !slices.Contains([]string{"scenario", "collective", "kind", "op", "root"}, d.name) {
				last = d
			}
		}
	}
	ranks := dimension{"ranks", func(o pointOf) label { return plain(o.point.Topology.Ranks) }}
	word := lastWord(across)
	at := slices.IndexFunc(all, func(d dimension) bool { return d.name == across || d.name == word })
	switch {
	case across == "":
		p.across = last
	case across == "ranks" || across == "topology.ranks":
		p.across = ranks
	case at >= 0:
		p.across = all[at]
	default:
		names := []string{"ranks"}
		for _, d := range all {
			if d.name != "ranks" {
				names = append(names, d.name)
			}
		}
		e := &PivotError{Text: "the points have no such key", Across: true,
			Hint: "there are " + strings.Join(names, ", ")}
		if near := nearest.To(across, names, 1); len(near) > 0 {
			e.Hint = "did you mean " + near[0] + "? " + e.Hint
		}
		return e
	}
	p.down = slices.DeleteFunc(differ, func(d dimension) bool {
		return d.name == p.across.name || p.across.name == "ranks" && p.follows(d)
	})
	return nil
}

// differ reports whether points differ in a dimension.
func (p *Pivot) differ(d dimension) bool {
	return slices.ContainsFunc(p.points, func(o pointOf) bool {
		return d.of(o) != d.of(p.points[0])
	})
}

// follows reports whether a swept key of the network is known where the number of ranks is, as a
// shape is.
func (p *Pivot) follows(d dimension) bool {
	known := map[label]label{}
	for _, o := range p.points {
		if !slices.ContainsFunc(o.point.Axes, func(a scenarios.Axis) bool {
			return strings.HasPrefix(a.Path, "topology.") && lastWord(a.Path) == lastWord(d.name)
		}) {
			return false
		}
		ranks, mine := p.across.of(o), d.of(o)
		if before, there := known[ranks]; there && before != mine {
			return false
		}
		known[ranks] = mine
	}
	return true
}

// row is the place of a point down.
func (p *Pivot) row(o pointOf) string {
	var labels []string
	for _, d := range p.down {
		labels = append(labels, d.of(o).raw)
	}
	return strings.Join(labels, "\x00")
}

// clash refuses points that belong in one cell.
func (p *Pivot) clash() error {
	seen := map[[2]string]string{}
	for _, o := range p.points {
		cell := [2]string{p.row(o), p.across.of(o).raw}
		if other, taken := seen[cell]; taken {
			return &PivotError{Text: fmt.Sprintf("%s and %s belong in one cell", other, o.point.ID),
				Hint: "choose with --only, or give each [[collective]] a name"}
		}
		seen[cell] = o.point.ID
	}
	return nil
}
