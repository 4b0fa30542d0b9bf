package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"collsim/collective/calls"
	"collsim/internal/prose"
)

// table writes the calls of a group around a meeting, with the ranks of each: a line for each way
// in which ranks call it.
func (t *hangText) table(at *calls.Meeting) {
	var list []*calls.Meeting
	for _, m := range t.Meetings {
		if m.Group == at.Group && (m.From < 0) == (at.From < 0) {
			list = append(list, m)
		}
	}
	if at.From < 0 {
		slices.SortStableFunc(list, func(a, b *calls.Meeting) int {
			return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Part, b.Part))
		})
	}
	found := slices.Index(list, at)
	first := max(0, found-callsBefore)
	list = list[first:min(len(list), found+callsBehind+1)]
	columns := t.columns(list)
	rows := [][]string{append([]string{"", "call"}, columns...)}
	for _, m := range list {
		rows = append(rows, t.rows(m, m == at, columns)...)
	}
	widths := []int{2, -8}
	for range columns {
		widths = append(widths, -8)
	}
	fmt.Fprintf(t.b, "#\n# calls of %s\n", t.group(at.Group))
	t.b.WriteString(prose.Table{Widths: widths, Marked: 1, Rows: rows}.String())
}

// missingColumn heads the ranks that have not made a call.
const missingColumn = "missing"

// columns lists the states that calls are in.
func (t *hangText) columns(list []*calls.Meeting) (names []string) {
	has := map[string]bool{}
	for _, m := range list {
		has[missingColumn] = has[missingColumn] || m.Missing != nil
		for _, c := range m.Calls {
			if c != nil {
				has[stateWord(c)] = true
			}
		}
	}
	for _, name := range []string{"called", "completed", "started", "scheduled", missingColumn} {
		if has[name] {
			names = append(names, name)
		}
	}
	return names
}

// stateWord names the state of a call.
func stateWord(c *calls.Call) string {
	if c.State == calls.Unstated {
		return "called"
	}
	return c.State.String()
}

// rows writes the ranks of a meeting by their state.
func (t *hangText) rows(m *calls.Meeting, found bool, columns []string) (rows [][]string) {
	var ways []string
	ranks := map[[2]string][]int{}
	for i, c := range m.Calls {
		if c == nil {
			continue
		}
		way := t.title(c) + detail(c)
		if !slices.Contains(ways, way) {
			ways = append(ways, way)
		}
		key := [2]string{way, stateWord(c)}
		ranks[key] = append(ranks[key], m.Ranks[i])
	}
	mark := map[bool]string{true: ">"}[found]
	for i, way := range ways {
		if i == 0 {
			ranks[[2]string{way, missingColumn}] = m.Missing
		}
		row := []string{mark, way}
		for _, column := range columns {
			of := slices.Sorted(slices.Values(ranks[[2]string{way, column}]))
			row = append(row, rangesCell(of))
		}
		rows = append(rows, row)
	}
	return rows
}

// rangesCell writes ranks in a cell.
func rangesCell(ranks []int) string {
	const most = 4
	list := ranges(ranks)
	if len(list) > most {
		return fmt.Sprintf("%d ranks", len(ranks))
	}
	return strings.Join(list, ",")
}
