package report

import (
	"fmt"
	"slices"
	"strings"

	"collsim/internal/prose"
	"collsim/run"
)

// Winners is a map of who wins where: for each value of a key across and of one down, the fastest
// right result, and how far it is from the lower bound.
type Winners struct {
	XName, YName string   // the keys across and down
	X, Y         []string // their values
	Cells        [][]Winner
}

// Winner is the fastest result of a cell.
type Winner struct {
	Scenario *run.Scenario
	Best     *run.Result // nil: there is none
	Next     *run.Result // the second; nil: there is none
}

// Share returns the lower bound as a share of the winner's time, and whether it is known.
func (w *Winner) Share() (share float64, ok bool) {
	if w.Best == nil {
		return 0, false
	}
	return w.Best.BoundReached()
}

// text describes a winner and its distance from the bound: "ring 83 %".
func (w *Winner) text() string {
	if w.Best == nil {
		return "-"
	}
	return w.Best.Algorithm.String() + " " + w.Percent()
}

// Percent formats the share of the bound: "83 %".
func (w *Winner) Percent() string {
	share, ok := w.Share()
	if !ok {
		return missing
	}
	return percent(share) + " %"
}

// NewWinners makes the map of reports over two keys, which are named as those of a pivot. Without
// names these are the size, and the number of ranks, or else what differs besides. Results may
// differ in the algorithm, and the fastest counts; they differ in nothing else. The error is a
// *PivotError; Across is set if the key across is wrong.
func NewWinners(x, y string, reports ...*run.Report) (*Winners, error) {
	p := &Pivot{}
	for _, r := range reports {
		p.add(r.Scenario)
	}
	if len(p.points) == 0 {
		return nil, &PivotError{Text: "there are no points of collectives"}
	}
	across, down, err := p.keysOfMap(x, y)
	if err != nil {
		return nil, err
	}
	m := &Winners{XName: across.name, YName: down.name}
	at := map[[2]string]*Winner{}
	for _, o := range p.points {
		for _, one := range []struct {
			d    dimension
			list *[]string
		}{{across, &m.X}, {down, &m.Y}} {
			if text := one.d.of(o).text; !slices.Contains(*one.list, text) {
				*one.list = append(*one.list, text)
			}
		}
	}
	for _, r := range reports {
		for _, one := range r.Results {
			o := pointOf{r.Scenario, one.Point}
			cell := [2]string{across.of(o).text, down.of(o).text}
			if at[cell] == nil {
				at[cell] = &Winner{Scenario: r.Scenario}
			}
			at[cell].take(one)
		}
	}
	for _, y := range m.Y {
		var row []Winner
		for _, x := range m.X {
			w := at[[2]string{x, y}]
			if w == nil {
				w = &Winner{}
			}
			row = append(row, *w)
		}
		m.Cells = append(m.Cells, row)
	}
	return m, nil
}

// take takes in a result of the cell. Of equal times the first counts.
func (w *Winner) take(r *run.Result) {
	if perCall(r) == missing || !r.Good() || r.Gradient != nil {
		return
	}
	switch {
	case w.Best == nil:
		w.Best = r
	case r.PerCall() < w.Best.PerCall():
		w.Best, w.Next = r, w.Best
	case w.Next == nil || r.PerCall() < w.Next.PerCall():
		w.Next = r
	}
}

// keysOfMap returns the keys across and down. It refuses points that differ in a third.
func (p *Pivot) keysOfMap(x, y string) (across, down dimension, err error) {
	all := append(p.dimensions(x == "count" || y == "count"), ranksDimension())
	find := func(name string) (d dimension, err error) {
		at := slices.IndexFunc(all, func(d dimension) bool {
			return d.name == name || d.name == lastWord(name)
		})
		if at >= 0 {
			return all[at], nil
		}
		var names []string
		for _, d := range all {
			names = append(names, d.name)
		}
		return d, &PivotError{Text: fmt.Sprintf("%.60q: the points have no such key", name),
			Hint: "there are " + strings.Join(names, ", "), Across: name == x}
	}
	if x == "" {
		x = all[len(all)-2].name // the size
	}
	if across, err = find(x); err != nil {
		return across, down, err
	}
	if y == "" {
		y = p.besides(all, across)
	}
	if down, err = find(y); err != nil {
		return across, down, err
	}
	for _, d := range all {
		known := d.name == across.name || d.name == down.name || d.name == "algorithm"
		if !known && p.differ(d) && !p.determined(d, across, down) {
			return across, down, &PivotError{Text: fmt.Sprintf("points differ in %s, too: a map has "+
				"two keys", d.name), Hint: "choose with --only " + d.name + "=…, or by --x and --y"}
		}
	}
	return across, down, nil
}

// besides returns the key down: the ranks if they differ, else the last that does besides the key
// across and the algorithm; the ranks again if none does.
func (p *Pivot) besides(all []dimension, across dimension) string {
	name := "ranks"
	for _, d := range all {
		if d.name != across.name && d.name != "algorithm" && p.differ(d) {
			name = d.name // the ranks are the last of all
		}
	}
	return name
}

// determined reports whether two keys determine a third.
func (p *Pivot) determined(d, across, down dimension) bool {
	known := map[[2]string]string{}
	for _, o := range p.points {
		cell, mine := [2]string{across.of(o).raw, down.of(o).raw}, d.of(o).raw
		if before, there := known[cell]; there && before != mine {
			return false
		}
		known[cell] = mine
	}
	return true
}

// Text prints the map, for 80 columns: columns that do not fit follow in further blocks. Behind a
// winner stands the lower bound as a share of its time.
func (m *Winners) Text(reports ...*run.Report) string {
	var b strings.Builder
	var results []*run.Result
	for _, r := range reports {
		writeHead(&b, r.Scenario)
		results = append(results, r.Results...)
	}
	if sections := split(results, sectionOf); len(sections) == 1 {
		writeMachine(&b, sections[0][0])
	}
	b.WriteString("#\n")
	caption := fmt.Sprintf("winner, and the lower bound as a share of its time: %s across, %s down",
		m.XName, m.YName)
	writeLines(&b, "", prose.Wrap(caption, prose.Columns, "# ", "#   "))
	g := grid{labels: 1, rows: [][]string{append([]string{m.YName}, m.X...)}}
	for i, row := range m.Cells {
		line := []string{m.Y[i]}
		for _, w := range row {
			line = append(line, w.text())
		}
		g.rows = append(g.rows, line)
	}
	g.write(&b)
	writeSummary(&b, reports)
	return b.String()
}

// CSV writes a line for each cell: its keys, the winner with its time, bus bandwidth and share of
// the bound, and the second with its time.
func (m *Winners) CSV() ([]byte, error) {
	lines := [][]string{{m.YName, m.XName, "winner", "time_ps", "busbw_GBps", "bound_share", "next",
		"next_time_ps"}}
	for i, row := range m.Cells {
		for j, w := range row {
			line := []string{harmless(m.Y[i]), harmless(m.X[j]), "", "", "", "", "", ""}
			if w.Best != nil {
				line[2], line[3] = harmless(w.Best.Algorithm.String()), Int(w.Best.PerCall()).String()
				line[4] = rate(w.Best.BusBW()).String()
				line[5] = rate(w.Share()).String()
			}
			if w.Next != nil {
				line[6], line[7] = harmless(w.Next.Algorithm.String()), Int(w.Next.PerCall()).String()
			}
			lines = append(lines, line)
		}
	}
	return csvOf(lines)
}

// Grid makes the map as a table of a page: a row for each value down.
func (m *Winners) Grid() []GridColumn {
	columns := []GridColumn{{Name: m.YName, Key: true, Texts: m.Y}}
	for j, x := range m.X {
		c := GridColumn{Name: x}
		for i := range m.Cells {
			c.Texts = append(c.Texts, m.Cells[i][j].text())
		}
		columns = append(columns, c)
	}
	return columns
}
