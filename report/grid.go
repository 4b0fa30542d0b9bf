package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"collsim/compare"
	"collsim/diagnose"
	"collsim/internal/prose"
	"collsim/run"
	"collsim/unit"
)

// GridColumn is a column of a table as data, for a page that sorts and filters it. Texts and Values
// are as long as those of the other columns.
type GridColumn struct {
	Name, Unit string
	Key        bool      // a key in which rows differ
	Hidden     bool      // of interest to few
	Bar        bool      // a share from 0 to 1
	Low        bool      // the lowest is the best; elsewhere the highest
	Texts      []string  // as in the table of the terminal
	Values     []float64 // nil for texts alone; NaN where there is none
}

// ResultGrid makes the table of all results: the keys in which they differ, the columns of the
// terminal's table, then, hidden, further columns of CSV in which they differ.
func ResultGrid(reports ...*run.Report) []GridColumn {
	var results []*run.Result
	keys := &Pivot{}
	for _, r := range reports {
		for _, one := range r.Results {
			results = append(results, one)
			keys.points = append(keys.points, pointOf{r.Scenario, one.Point})
		}
	}
	if len(results) == 0 {
		return nil
	}
	var grid []GridColumn
	taken := map[string]bool{"count": true}
	for _, d := range keys.dimensions(false) {
		name := strings.ReplaceAll(d.name, "bytes", "size")
		taken[d.name] = true
		if name != "size" && !keys.differ(d) {
			continue
		}
		c := GridColumn{Name: name, Key: true}
		for i, o := range keys.points {
			c.Texts = append(c.Texts, d.of(o).text)
			if name == "size" {
				c.Values = append(c.Values, float64(results[i].Point.Spec.Bytes()))
			}
		}
		grid = append(grid, c)
	}
	for _, c := range Columns() {
		switch known := taken[c.CSV]; {
		case c.Heading != "" && !known && (c.Shown == nil || slices.ContainsFunc(results, c.Shown)):
			if one := c.grid(results); strings.Join(one.Texts, "") != "" {
				grid = append(grid, one)
			}
		case c.CSV != "" && c.Heading == "" && !known && c.CSV != "id":
			if one := c.grid(results); differ(one.Texts) {
				one.Name, one.Hidden = c.CSV, true
				grid = append(grid, one)
			}
		}
	}
	return grid
}

// grid makes the column of a table as data.
func (c Column) grid(results []*run.Result) GridColumn {
	g := GridColumn{Name: c.Heading, Unit: c.Unit,
		Low: c.Unit == "(us)" || strings.HasSuffix(c.CSV, "_ps") || strings.HasPrefix(c.Heading, "#")}
	numbers := true
	for _, r := range results {
		v := c.Value(r)
		text := ""
		if v.kind != isNull {
			text = v.String()
			if c.Print != nil && c.Heading != "" {
				text = c.Print(r)
			}
		}
		g.Texts = append(g.Texts, text)
		number := math.NaN()
		switch v.kind {
		case isInt:
			number = float64(v.whole)
		case isNumber:
			number = v.number
		case isNull:
		default:
			numbers = false
		}
		if g.Unit == "(us)" {
			number /= 1e6 // times are in picoseconds
		}
		g.Values = append(g.Values, number)
	}
	if !numbers {
		g.Values = nil
	}
	return g
}

func differ(texts []string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return text != texts[0] })
}

// mostLinks is the most links of a LinkGrid.
const mostLinks = 200

// LinkGrid makes the table of the links that carried anything, the busiest first, and says how many
// it leaves out. A share is that of the time.
func LinkGrid(links []run.LinkUse, took unit.Time) (grid []GridColumn, note string) {
	used := slices.DeleteFunc(slices.Clone(links), func(l run.LinkUse) bool { return l.Bytes == 0 })
	slices.SortStableFunc(used, func(a, b run.LinkUse) int {
		return int(max(min(b.Busy-a.Busy, 1), -1))
	})
	note = fmt.Sprintf("%d of %s carried anything", len(used), prose.Plural(len(links), "link"))
	if len(used) > mostLinks {
		note += fmt.Sprintf("; the %d busiest are shown, --links writes all", mostLinks)
		used = used[:mostLinks]
	}
	name, bytes := GridColumn{Name: "link"}, GridColumn{Name: "carried", Unit: "(B)"}
	busy := GridColumn{Name: "busy", Unit: "(%)", Bar: true}
	for _, l := range used {
		name.Texts = append(name.Texts, l.Name)
		bytes.add(fmt.Sprint(int64(l.Bytes)), float64(l.Bytes))
		share := math.NaN()
		if took > 0 {
			share = float64(l.Busy) / float64(took)
		}
		busy.add(fmt.Sprintf("%.1f", 100*share), share)
	}
	return []GridColumn{name, bytes, busy}, note
}

// add adds a row to a column.
func (g *GridColumn) add(text string, value float64) {
	g.Texts, g.Values = append(g.Texts, text), append(g.Values, value)
}

// ShareGrid makes the table of what the critical path of an explanation went into.
func ShareGrid(e *run.Explanation) []GridColumn {
	what, share := GridColumn{Name: "what"}, GridColumn{Name: "share", Unit: "(%)", Bar: true}
	took, note := GridColumn{Name: "time", Unit: "(us)"}, GridColumn{Name: "of"}
	tenths := tenthsOf(e.Shares, e.Result.Time)
	for i, s := range e.Shares {
		what.Texts = append(what.Texts, s.What.String())
		share.add(fmt.Sprintf("%d.%d", tenths[i]/10, tenths[i]%10), float64(tenths[i])/1000)
		took.add(us(s.Time), float64(s.Time)/1e6)
		note.Texts = append(note.Texts, shareNote(s, e.Result.Time))
	}
	return []GridColumn{what, share, took, note}
}

// CompareGrid makes the table of the calls that two tables have in common.
func CompareGrid(r *compare.Report) []GridColumn {
	call, size := GridColumn{Name: "call", Key: true}, GridColumn{Name: "size", Key: true}
	a := GridColumn{Name: "A", Unit: "(us)", Low: true}
	b := GridColumn{Name: "B", Unit: "(us)", Low: true}
	ratio := GridColumn{Name: "B / A", Low: true}
	busA := GridColumn{Name: "busbw A", Unit: "(GB/s)"}
	busB := GridColumn{Name: "busbw B", Unit: "(GB/s)"}
	for i := range r.Pairs {
		p := &r.Pairs[i]
		call.Texts = append(call.Texts, PairText(p))
		size.add(p.A.Size.String(), float64(p.A.Size))
		a.add(us(p.A.Time), float64(p.A.Time)/1e6)
		b.add(us(p.B.Time), float64(p.B.Time)/1e6)
		ratio.add(fmt.Sprintf("%.3f", p.Ratio), p.Ratio)
		busA.add(busText(&p.A.Row), p.A.BusBW)
		busB.add(busText(&p.B.Row), p.B.BusBW)
	}
	return []GridColumn{call, size, a, b, ratio, busA, busB}
}

// CauseGrid makes the table of all causes of a diagnosis, the nearest first.
func CauseGrid(d *diagnose.Diagnosis) []GridColumn {
	fit := GridColumn{Name: "fit", Low: true}
	distance := GridColumn{Name: "distance", Unit: "(%)", Low: true}
	worst, off := GridColumn{Name: "worst at"}, GridColumn{Name: "by", Unit: "(%)"}
	group, place := GridColumn{Name: "change", Key: true}, GridColumn{Name: "where"}
	test := GridColumn{Name: "look at"}
	for i := range d.Fits {
		f := &d.Fits[i]
		for _, c := range f.Causes {
			fit.add(fmt.Sprint(i+1), float64(i+1))
			distance.add(tenths(f.Distance), 100*f.Distance)
			worst.Texts = append(worst.Texts, d.Calls[f.Worst].Size.String())
			off.add(fmt.Sprintf("%+.1f", 100*f.Off), 100*f.Off)
			group.Texts, place.Texts = append(group.Texts, c.Group), append(place.Texts, c.Place)
			test.Texts = append(test.Texts, c.Test)
		}
	}
	return []GridColumn{fit, distance, group, place, worst, off, test}
}

// OpGrid makes the table of the ops of a program.
func OpGrid(r *run.ProgramResult) []GridColumn {
	op, stream, is := GridColumn{Name: "op"}, GridColumn{Name: "stream", Key: true},
		GridColumn{Name: "is"}
	times := []GridColumn{{Name: "start"}, {Name: "time"}, {Name: "exposed"}, {Name: "moving"},
		{Name: "waiting"}}
	for i, o := range r.Lowered.Ops {
		t := &r.Ops[i]
		name := opsText(o.Names)
		if r.Point.Iterations > 1 {
			name = fmt.Sprintf("%d: %s", o.Iteration, name)
		}
		op.Texts, stream.Texts = append(op.Texts, name), append(stream.Texts, o.Stream)
		is.Texts = append(is.Texts, withoutTypes(o.Became))
		exposed := (o.IsCall || len(o.Names) > 1) && t.IsOnRank
		for k, one := range []unit.Time{t.Start, t.End - t.Start, t.Exposed(), t.Moving, t.Waiting} {
			if k < 2 || exposed {
				times[k].add(micros(one), float64(one)/1e6)
			} else {
				times[k].add("", math.NaN())
			}
		}
	}
	for k := range times {
		times[k].Unit, times[k].Low = "(us)", true
	}
	return append([]GridColumn{op, stream, is}, times...)
}

// Summary lists what a report says below its rows: the outcome of the checks, what limits the time,
// and what was skipped. A text may have several lines.
func Summary(r *run.Report) (texts []string) {
	var lines []string
	if len(r.Results) > 0 {
		lines = summary(r.Results)
	}
	for _, one := range r.Programs {
		lines = append(lines, programSummary(one)...)
	}
	for _, line := range append(lines, skipLines([]*run.Report{r})...) {
		if rest, further := strings.CutPrefix(line, "         "); further && len(texts) > 0 {
			texts[len(texts)-1] += "\n         " + rest
			continue
		}
		texts = append(texts, line)
	}
	return texts
}
