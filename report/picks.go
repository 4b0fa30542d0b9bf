package report

import (
	"fmt"
	"slices"
	"strings"

	"collsim/internal/prose"
	"collsim/run"
)

// pickedColumns lists algorithm, protocol and channels that NCCL's model has picked, as NCCL's log
// names them. Sends and receives have no algorithm, and their channels are those of a message.
func pickedColumns() Layout {
	list := fields[run.Result]{
		textField("picked_algorithm", func(r *run.Result) *string { return &r.Picked.Algorithm }),
		textField("picked_protocol", func(r *run.Result) *string { return &r.Picked.Protocol }),
		wholeField("picked_channels", func(r *run.Result) *int { return &r.Picked.Channels }),
		wholeField("picked_threads", func(r *run.Result) *int { return &r.Picked.Threads }),
	}
	var l Layout
	for _, f := range list {
		l = append(l, inJSON(f.ifSet()).csv(8, f.name))
	}
	return l
}

// samePick reports whether all results have picked the same, so that a heading can say it once.
func samePick(results []*run.Result) bool {
	return !slices.ContainsFunc(results, func(r *run.Result) bool {
		return r.Picked != results[0].Picked
	})
}

// writePicks writes a table of the picks for each size. For NCCL it has the names of its log, the
// time by its model and the fastest rejected entry; for others the pick in words. Equal rows are
// written once.
func writePicks(b *strings.Builder, results []*run.Result) {
	label := labels(results)
	rows, widths := [][]string{{"size (B)", "picked"}}, []int{2, -1}
	named := slices.ContainsFunc(results, func(r *run.Result) bool { return r.Picked.Algorithm != "" })
	if named {
		rows[0] = append(rows[0], "channels", "threads", "model (us)", "best other")
		widths = append(widths, 1, 1, 1, -1)
	}
	for _, r := range results {
		p := &r.Picked
		row := []string{label(r), orMissing(p.String())}
		if named {
			model := missing
			if p.Time > 0 {
				model = fmt.Sprintf("%.1f", float64(p.Time)/1e6)
			}
			row = []string{row[0], orMissing(strings.TrimSpace(p.Algorithm + " " + p.Protocol)),
				fmt.Sprint(p.Channels), fmt.Sprint(p.Threads), model, orMissing(p.Other)}
		}
		if !slices.ContainsFunc(rows, func(other []string) bool { return slices.Equal(row, other) }) {
			rows = append(rows, row)
		}
	}
	for _, row := range rows {
		widths[0] = max(widths[0], 2+len(row[0]))
	}
	b.WriteString("#\n" + prose.Table{Widths: widths, Marked: len(rows), Rows: rows}.String())
}

// orMissing returns a text, or N/A for an empty one.
func orMissing(text string) string {
	if text == "" {
		return missing
	}
	return text
}
