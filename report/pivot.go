package report

import (
	"fmt"
	"slices"
	"strings"

	"collsim/internal/nearest"
	"collsim/run"
	"collsim/scenarios"
)

// Pivot is a table of one column of results. The values of one key run across; all other keys that
// differ among points run down.
type Pivot struct {
	heading string // of the column
	column  Column // the fact in the cells
	printed bool   // formatted as in the table, rather than as in CSV
	across  dimension
	down    []dimension
	fixed   []string // main facts that all points have in common
	points  []pointOf
	program func(*run.ProgramResult) Value // the fact of a program, where results have none
}

// PivotError reports a table that cannot be made, and a hint.
type PivotError struct {
	Text, Hint string
	Across     bool // the key is wrong, rather than the column
}

// Error returns the text without the hint.
func (e *PivotError) Error() string { return e.Text }

// pointOf is a point of a scenario.
type pointOf struct {
	scenario *run.Scenario
	point    *scenarios.Point
}

// dimension is a key that may differ among points.
type dimension struct {
	name string
	of   func(pointOf) label
}

// label spells a value of a key twice: for a reader, and for a program.
type label struct{ text, raw string }

// plain makes a label whose two spellings are equal.
func plain(v any) label { return label{fmt.Sprint(v), fmt.Sprint(v)} }

// NewPivot makes the table of a column of the points of scenarios. The column is named by a heading
// of the table (time, algbw, busbw, %bound) or by its name in CSV or JSON. The key whose values run
// across is a swept path or its last word, or one that every point has: bytes, count, ranks,
// algorithm, kind, dtype, op, root, in_place, collective, scenario. An empty key stands for bytes
// if they differ, else for the algorithm, the type or the last swept key. The error is a
// *PivotError.
func NewPivot(column, across string, list ...*run.Scenario) (*Pivot, error) {
	p := &Pivot{}
	if err := p.choose(column); err != nil {
		return nil, err
	}
	for _, s := range list {
		for _, one := range s.Programs {
			p.points = append(p.points, pointOf{s, one.Point})
		}
		p.add(s)
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

// add adds the points of a scenario's collectives.
func (p *Pivot) add(s *run.Scenario) {
	for _, one := range s.Points {
		p.points = append(p.points, pointOf{s, one})
		if one.Gradient != scenarios.NoGradient {
			p.points = append(p.points, pointOf{s, one.Backward()})
		}
	}
}

// ranksDimension makes the key of the number of all ranks.
func ranksDimension() dimension {
	return dimension{"ranks", func(o pointOf) label { return plain(o.point.Topology.Ranks) }}
}

// choose finds the column with a name.
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

// programCell returns the cell of a program, empty if it has no value; raw as CSV spells it.
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

// cell returns the cell of a result, empty if it has no value; raw as CSV spells it.
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

// dimensions lists the keys that may differ among points, in the order of scenarios: the outermost
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

// size labels a point by the bytes that the scenario asked for, since the size after rounding down
// depends on the number of ranks.
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

// axes lists the swept keys that are not dimensions anyway. They are named by the last words of
// their paths where these are unique.
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

// axis returns the value of a swept key at a point.
func (o pointOf) axis(path string) label {
	for _, a := range o.point.Axes {
		if a.Path == path {
			return label{strings.ReplaceAll(a.Text, " ", ""), a.Text}
		}
	}
	return label{}
}

// lastWord returns the last word of a key's path.
func lastWord(path string) string { return path[strings.LastIndex(path, ".")+1:] }

// turn decides which dimension runs across and which run down.
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
	ranks := ranksDimension()
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

// follows reports whether a swept key of the network is determined by the number of ranks, as a
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

// row returns the key of the row that a point belongs to.
func (p *Pivot) row(o pointOf) string {
	var labels []string
	for _, d := range p.down {
		labels = append(labels, d.of(o).raw)
	}
	return strings.Join(labels, "\x00")
}

// clash refuses points that belong to one cell.
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
