package report

import (
	"fmt"
	"slices"
	"strings"

	"collsim/internal/prose"
	"collsim/run"
)

// matrix holds the times of one collective: a row a size, a column an algorithm.
type matrix struct {
	algorithms []string
	labels     []string // of the rows
	rows       [][]*run.Result
}

// writeMatrix prints the times of several algorithms side by side and marks the best ones. Columns
// that do not fit follow in further blocks of lines.
func writeMatrix(b *strings.Builder, results []*run.Result) {
	m := newMatrix(results)
	if len(m.algorithms) < 2 {
		return
	}
	label := len("size (B)")
	for _, l := range m.labels {
		label = max(label, len(l))
	}
	what := "time"
	if looped(results[0]) {
		what = "time of a call in the loop"
	}
	b.WriteString("#\n# " + what + " (us), * is the best\n")
	for from := 0; from < len(m.algorithms); {
		if from > 0 {
			b.WriteString("#\n")
		}
		width, to := label+2, from
		for ; to < len(m.algorithms); to++ {
			if width += m.width(to); width > prose.Columns && to > from {
				break
			}
		}
		m.write(b, label, from, to)
		from = to
	}
}

func newMatrix(results []*run.Result) *matrix {
	m := &matrix{}
	row, column := map[string]int{}, map[string]int{}
	for _, r := range results {
		if name := r.Point.Algorithm.String(); !slices.Contains(m.algorithms, name) {
			column[name] = len(m.algorithms)
			m.algorithms = append(m.algorithms, name)
		}
	}
	label := labels(results)
	for _, r := range results {
		l := label(r)
		i, ok := row[l]
		if !ok {
			i = len(m.rows)
			row[l] = i
			m.labels = append(m.labels, l)
			m.rows = append(m.rows, make([]*run.Result, len(m.algorithms)))
		}
		if c := column[r.Point.Algorithm.String()]; m.rows[i][c] == nil {
			m.rows[i][c] = r
		}
	}
	return m
}

// labels makes the function that labels a row: the size, and type, operator and root where these
// vary.
func labels(results []*run.Result) func(*run.Result) string {
	facts := []func(*run.Result) string{
		ncclType,
		func(r *run.Result) string { return run.OpOf(r.Point.Spec) },
		func(r *run.Result) string { return fmt.Sprint("root ", rootOf(r.Point.Spec)) },
	}
	facts = slices.DeleteFunc(facts, func(fact func(*run.Result) string) bool {
		return !slices.ContainsFunc(results, func(r *run.Result) bool {
			return fact(r) != fact(results[0])
		})
	})
	return func(r *run.Result) string {
		text := fmt.Sprint(int64(r.Point.Spec.Bytes()))
		for _, fact := range facts {
			text += " " + fact(r)
		}
		return text
	}
}

// width returns the width of a column, with a blank before it and room for a *.
func (m *matrix) width(column int) int {
	w := len(m.algorithms[column])
	for _, row := range m.rows {
		if r := row[column]; r != nil {
			w = max(w, len(perCall(r)))
		}
	}
	return w + 2
}

// write prints the columns from … to−1 of all rows.
func (m *matrix) write(b *strings.Builder, label, from, to int) {
	widths, head := []int{label + 2}, []string{"size (B)"}
	for _, name := range m.algorithms[from:to] {
		widths, head = append(widths, 1), append(head, name+" ")
	}
	rows := [][]string{head}
	for i, row := range m.rows {
		best := fastest(row)
		cells := []string{m.labels[i]}
		for _, r := range row[from:to] {
			text, mark := "", " "
			if r != nil {
				text = perCall(r)
				if text != missing && r.Good() && r.PerCall() == best {
					mark = "*"
				}
			}
			cells = append(cells, text+mark)
		}
		rows = append(rows, cells)
	}
	b.WriteString(prose.Table{Widths: widths, Marked: len(rows), Rows: rows}.String())
}
