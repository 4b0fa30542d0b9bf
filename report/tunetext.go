package report

import (
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"collsim/algos/nccl"
	"collsim/internal/prose"
	"collsim/run"
	"collsim/unit"
)

// TuneText formats the best choice for each size beside NCCL's own, a table for each collective.
// all says whether every gain is written to files, or only those beyond the known error.
func TuneText(list []*run.Tuning, all bool) string {
	var b strings.Builder
	for i, t := range list {
		if i > 0 {
			b.WriteString("\n")
		}
		p := t.Point
		head := fmt.Sprintf("%v, %s on %s, %v", p.Spec.Kind, prose.Plural(t.Ranks, "rank"),
			prose.Plural(t.Nodes, "node"), p.Spec.Type)
		if p.Spec.Op != 0 {
			head += " " + run.OpOf(p.Spec)
		}
		for _, axes := range []string{axesText(p, true), axesText(p, false)} {
			if axes != "" {
				head += ", " + axes
			}
		}
		wrap(&b, "", head+": "+timesAre(t))
		rows := [][]string{{"", "fastest", "", "", "by itself", "", "", "gain", "error"},
			{"size", "", "ch", "(us)", "NCCL takes", "ch", "(us)", "(%)", "(%)"}}
		for i := range t.Sizes {
			rows = append(rows, tunedRow(&t.Sizes[i], all))
		}
		b.WriteString(prose.Table{Widths: []int{8, -1, 3, 9, -1, 3, 9, 6, 6}, Rows: rows}.String())
		tuneNotes(&b, t, all)
	}
	return b.String()
}

// timesAre describes the times that a tuning compares.
func timesAre(t *run.Tuning) string {
	if timeOf(t) == "call_ps" {
		return "times of a call in a loop (call_ps)"
	}
	return "times of one call alone (time_ps)"
}

// timeOf names the column of results that has the times of a tuning.
func timeOf(t *run.Tuning) string {
	if t.Point.Benchmark.Calls > 0 {
		return "call_ps"
	}
	return "time_ps"
}

// tunedRow formats a size of a tuning; it marks a gain that is written to files.
func tunedRow(t *run.Tuned, all bool) []string {
	row := []string{t.Bytes.String()}
	for _, c := range []run.TunedChoice{t.Best, t.Own} {
		row = append(row, c.Way.String(), fmt.Sprint(c.Used),
			fmt.Sprintf("%.2f", float64(c.Time)/float64(unit.Microsecond)))
	}
	mark := " "
	if t.Written(all) {
		mark = "*"
	}
	return append(row, fmt.Sprintf("%.1f%s", 100*t.Gain(), mark), fmt.Sprintf("%.0f", 100*t.Error))
}

// tuneNotes says which sizes of a table are written to files, and which lines NCCL would ignore.
func tuneNotes(b *strings.Builder, t *run.Tuning, all bool) {
	within, tried, passed := 0, 0, 0
	for i := range t.Sizes {
		s := &t.Sizes[i]
		if s.Gain() > 0 && !s.IsBeyond() {
			within++
		}
		tried, passed = tried+s.Tried, passed+s.RuledOut
	}
	text := "* is written to files: a gain beyond what simulations have been off by in public " +
		"tables (docs/fidelity-nccl.md)"
	switch {
	case all:
		text = "* is written to files, also where simulations are off by more"
	case within > 0:
		text += fmt.Sprintf("; %d within that, with --all alone", within)
	}
	wrap(b, "", text)
	wrap(b, "", fmt.Sprintf("%d choices simulated, %d ruled out by bounds", tried, passed))
	for i, c := range t.Off {
		if i > 0 && t.Off[i-1].Off == c.Off {
			continue
		}
		var ways []string
		for _, d := range t.Off {
			if d.Off == c.Off {
				ways = append(ways, d.Way.String())
			}
		}
		wrap(b, "", "NCCL ignores "+strings.Join(ways, ", ")+" in a tuner's file: "+c.Off)
	}
}

// TuneJSON writes tunings as an object: "tunings", each with "sizes" and the lines that NCCL
// ignores.
func TuneJSON(s *run.Scenario, list []*run.Tuning, all bool) ([]byte, error) {
	return encode(object(append(preamble(s), member{"tunings", listOf(list,
		func(t *run.Tuning) Value {
			p := t.Point
			return object(members{{"point", axesOf(p)}, {"kind", Text(p.Spec.Kind.String())},
				{"ranks", Int(t.Ranks)}, {"nodes", Int(t.Nodes)}, {"dtype", Text(p.Spec.Type.String())},
				{"op", Text(run.OpOf(p.Spec))}, {"time", Text(timeOf(t))},
				{"sizes", listOf(t.Sizes, func(x run.Tuned) Value { return tunedValue(&x, all) })},
				{"ignored", listOf(t.Off, func(c nccl.Cost) Value {
					return object(members{{"algorithm", Text(c.Algorithm.String())},
						{"protocol", Text(c.Protocol.String())}, {"why", Text(c.Off)}})
				})}})
		})})))
}

func tunedValue(t *run.Tuned, all bool) Value {
	choice := func(c run.TunedChoice) Value {
		return object(members{{"algorithm", Text(c.Algorithm.String())},
			{"protocol", Text(c.Protocol.String())},
			{"channels_set", known(c.Channels > 0, Int(c.Channels))}, {"channels", Int(c.Used)},
			{"time_ps", Int(c.Time)}})
	}
	return object(members{{"bytes", Int(t.Bytes)}, {"count", Int(t.Count)}, {"best", choice(t.Best)},
		{"nccl", choice(t.Own)}, {"gain", Number(t.Gain())}, {"error", Number(t.Error)},
		{"written", Bool(t.Written(all))}, {"simulated", Int(t.Tried)}, {"ruled_out", Int(t.RuledOut)}})
}

// TuneCSV writes a line for every size.
func TuneCSV(list []*run.Tuning, all bool) []byte {
	var b strings.Builder
	w := csv.NewWriter(&b)
	write := func(row ...string) { _ = w.Write(row) } // to memory
	write("kind", "dtype", "op", "ranks", "nodes", "bytes", "count", "algorithm", "protocol",
		"channels_set", "channels", "time_ps", "nccl_algorithm", "nccl_protocol", "nccl_channels",
		"nccl_time_ps", "gain", "error", "written", "time")
	for _, t := range list {
		p := t.Point
		for i := range t.Sizes {
			x := &t.Sizes[i]
			number := func(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }
			write(p.Spec.Kind.String(), p.Spec.Type.String(), run.OpOf(p.Spec), fmt.Sprint(t.Ranks),
				fmt.Sprint(t.Nodes), fmt.Sprint(int64(x.Bytes)), fmt.Sprint(x.Count),
				x.Best.Algorithm.String(), x.Best.Protocol.String(), fmt.Sprint(x.Best.Channels),
				fmt.Sprint(x.Best.Used), fmt.Sprint(int64(x.Best.Time)), x.Own.Algorithm.String(),
				x.Own.Protocol.String(), fmt.Sprint(x.Own.Used), fmt.Sprint(int64(x.Own.Time)),
				number(x.Gain()), number(x.Error), strconv.FormatBool(x.Written(all)),
				timeOf(t))
		}
	}
	w.Flush()
	return []byte(b.String())
}
