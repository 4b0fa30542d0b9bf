package timeline

import (
	"slices"

	"collsim/sim/model"
	"collsim/trace"
)

// addGPUs adds the rows of streams and copy engines, and the number of busy SMs.
func addGPUs(t *trace.Trace, env *model.Env, log *model.Log) {
	for i := range log.Brackets {
		t.Rows = append(t.Rows, rowsOf(&log.Brackets[i])...)
	}
	slices.SortFunc(t.Rows, trace.CompareRows)
	t.Rows = slices.Compact(t.Rows)
	first := map[int32]int32{} // track of each rank's first lane
	for i, l := range log.Lanes {
		if l.Lane == 0 {
			first[l.Rank] = int32(i)
		}
	}
	of := newWaits(env, log)
	for i := range log.Brackets {
		b := &log.Brackets[i]
		waits := of.bracket(b, first[b.Rank]+b.Lane)
		for _, r := range rowsOf(b) {
			row, _ := slices.BinarySearchFunc(t.Rows, r, trace.CompareRows)
			t.Brackets = append(t.Brackets, trace.Bracket{Row: int32(row),
				Track: first[b.Rank] + b.Lane, Lanes: b.Lanes, Name: b.Name, Blocks: b.Blocks,
				Issued: b.Issued, Ready: b.Ready, Start: b.Begin, End: b.End, Waits: waits})
		}
	}
	t.SMs = make([][]trace.Level, len(log.Busy))
	for rank, list := range log.Busy {
		for _, l := range list {
			t.SMs[rank] = append(t.SMs[rank], trace.Level{At: l.At, Value: l.Value})
		}
	}
	t.Sort()
}

// rowsOf returns the rows that show a bracket: its stream and its copy engine.
func rowsOf(b *model.BracketRecord) []trace.Row {
	rows := []trace.Row{{Rank: b.Rank, Kind: trace.Stream, Number: b.Stream}}
	if b.CopyEngine >= 0 {
		rows = append(rows, trace.Row{Rank: b.Rank, Kind: trace.CopyEngine, Number: b.CopyEngine})
	}
	return rows
}
