package report

import (
	"fmt"
	"slices"

	"collsim/collective/calls"
	"collsim/formats/dumps"
)

// HangGrid makes the table of ranks: the calls in which each waits, and for whom, or its last one.
func HangGrid(d *dumps.Dump, j *calls.Judgement) []GridColumn {
	t := hangText{Dump: d, Judgement: j}
	rank, call, group := GridColumn{Name: "rank"}, GridColumn{Name: "call"},
		GridColumn{Name: "group", Key: true}
	state, frame, waits := GridColumn{Name: "state", Key: true}, GridColumn{Name: "at"},
		GridColumn{Name: "waits for"}
	row := func(number int, c *calls.Call, of string) {
		rank.add(fmt.Sprint(number), float64(number))
		call.Texts = append(call.Texts, t.title(c)+detail(c))
		group.Texts = append(group.Texts, t.group(c.Group))
		state.Texts, frame.Texts = append(state.Texts, c.State.String()), append(frame.Texts, c.Frame)
		waits.Texts = append(waits.Texts, of)
	}
	for i := range d.Ranks {
		r := &d.Ranks[i]
		rows := len(rank.Texts)
		for k := range j.Waits {
			w := &j.Waits[k]
			if slices.Contains(w.Ranks, r.Number) {
				m := w.Meeting
				row(r.Number, m.Calls[slices.Index(m.Ranks, r.Number)], ranksWord(w.For))
			}
		}
		if n := len(r.Calls); n > 0 && rows == len(rank.Texts) {
			row(r.Number, &r.Calls[n-1], "")
		}
	}
	return []GridColumn{rank, call, group, state, waits, frame}
}
