package collsim

import (
	"fmt"
	"slices"
	"strings"
)

// matrix is the times of one collective: a row a size, a column an algorithm.
type matrix struct {
	algorithms []string
	labels     []string // of the rows
	rows       [][]*Result
}

// writeMatrix prints the times of several algorithms beside each other, the best ones marked. Of
// columns that do not fit, more lines follow.
func writeMatrix(b *strings.Builder, results []*Result) {
	m := newMatrix(results)
	if len(m.algorithms) < 2 {
		return
	}
	label := len("size (B)")
	for _, l := range m.labels {
		label = max(label, len(l))
	}
	b.WriteString("#\n# time (us), * is the best\n")
	for from := 0; from < len(m.algorithms); {
		if from > 0 {
			b.WriteString("#\n")
		}
		width, to := label+2, from
		for ; to < len(m.algorithms); to++ {
			if width += m.width(to); width > columns && to > from {
				break
			}
		}
		m.write(b, label, from, to)
		from = to
	}
}

func newMatrix(results []*Result) *matrix {
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
			m.rows = append(m.rows, make([]*Result, len(m.algorithms)))
		}
		if c := column[r.Point.Algorithm.String()]; m.rows[i][c] == nil {
			m.rows[i][c] = r
		}
	}
	return m
}

// labels makes the label of a row: the size, and what of type, operator and root varies.
func labels(results []*Result) func(*Result) string {
	facts := []func(*Result) string{
		func(r *Result) string { return r.Point.Spec.Type.NCCL() },
		(*Result).op,
		func(r *Result) string { return fmt.Sprint("root ", r.root()) },
	}
	facts = slices.DeleteFunc(facts, func(fact func(*Result) string) bool {
		return !slices.ContainsFunc(results, func(r *Result) bool {
			return fact(r) != fact(results[0])
		})
	})
	return func(r *Result) string {
		text := fmt.Sprint(int64(r.Point.Spec.Bytes()))
		for _, fact := range facts {
			text += " " + fact(r)
		}
		return text
	}
}

// width is what a column takes, with a blank before it and the place for a *.
func (m *matrix) width(column int) int {
	w := len(m.algorithms[column])
	for _, row := range m.rows {
		if r := row[column]; r != nil {
			w = max(w, len(r.microseconds()))
		}
	}
	return w + 2
}

// write prints the columns from … to−1 of all rows.
func (m *matrix) write(b *strings.Builder, label, from, to int) {
	line := fmt.Sprintf("# %*s", label, "size (B)")
	for c := from; c < to; c++ {
		line += fmt.Sprintf("%*s ", m.width(c)-1, m.algorithms[c])
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
	for i, row := range m.rows {
		best := fastest(row)
		line := fmt.Sprintf("# %*s", label, m.labels[i])
		for c := from; c < to; c++ {
			text, mark := "", " "
			if r := row[c]; r != nil {
				text = r.microseconds()
				if r.Timed && r.Good() && r.Time == best {
					mark = "*"
				}
			}
			line += fmt.Sprintf("%*s%s", m.width(c)-1, text, mark)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}
