package report

import (
	"fmt"
	"strings"

	"collsim/algos/nccl"
	"collsim/internal/prose"
	"collsim/run"
)

// writeCosts prints NCCL's table of estimated costs for a call, as its log has it, with the time at
// the call's size. It says which entry was taken, and by which rule.
func writeCosts(b *strings.Builder, x *nccl.Costs) {
	if x == nil {
		return
	}
	rows := [][]string{{"NCCL's model", "latency", "bandwidth", "time", ""}, {"", "(us)", "(GB/s)",
		"(us)", ""}}
	for _, w := range x.Ways {
		row := []string{"  " + w.String(), fmt.Sprintf("%.1f", w.Latency),
			fmt.Sprintf("%.2f", w.Bandwidth), "off", w.Off}
		if w.Off == "" {
			row[3] = fmt.Sprintf("%.1f", w.Time)
			if w.Corrected != w.Bandwidth {
				row[4] = fmt.Sprintf("%.2f GB/s at this size", w.Corrected)
			}
		}
		if w.Way == x.Taken {
			row[4] = "taken: " + x.Decided
		}
		rows = append(rows, row)
	}
	for _, row := range rows {
		start := fmt.Sprintf("%-17s %9s %9s %9s  ", row[0], row[1], row[2], row[3])
		wrap(b, start, row[4])
	}
}

// costsValue makes the object of a cost table. An entry that is disabled has the reason and no
// time.
func costsValue(x *nccl.Costs) Value {
	if x == nil {
		return Value{}
	}
	return object(members{{"algorithm", Text(x.Taken.Algorithm.String())},
		{"protocol", Text(x.Taken.Protocol.String())}, {"decided", Text(x.Decided)},
		{"table", listOf(x.Ways, func(w nccl.Cost) Value {
			on := w.Off == ""
			return object(members{{"algorithm", Text(w.Algorithm.String())},
				{"protocol", Text(w.Protocol.String())}, {"latency_us", Number(w.Latency)},
				{"bandwidth_GBps", Number(w.Bandwidth)},
				{"bandwidth_at_size_GBps", known(on, Number(w.Corrected))},
				{"time_us", known(on, Number(w.Time))}, {"off", some(w.Off)}})
		})}})
}

// ThresholdsText formats the sizes at which NCCL changes its algorithm, protocol or channels, a
// table for each collective.
func ThresholdsText(list []run.Thresholds) string {
	var b strings.Builder
	for i, t := range list {
		if i > 0 {
			b.WriteString("\n")
		}
		p := t.Point
		head := p.Spec.Kind.String() + " " + t.Algorithm.String() + ", " +
			prose.Plural(p.Topology.Ranks, "rank") + ", " + p.Spec.Type.String()
		if p.Spec.Op != 0 {
			head += " " + run.OpOf(p.Spec)
		}
		for _, axes := range []string{axesText(p, true), axesText(p, false)} {
			if axes != "" {
				head += ", " + axes
			}
		}
		wrap(&b, "", head)
		rows := [][]string{{"from (B)", "picked", "channels", "threads"}}
		for _, at := range t.From {
			rows = append(rows, []string{fmt.Sprint(int64(at.Bytes)), at.String(),
				prose.Between(at.Channels[0], at.Channels[1], " to "),
				prose.Between(at.Threads[0], at.Threads[1], " to ")})
		}
		b.WriteString(prose.Table{Widths: []int{12, -1, -1, -1}, Rows: rows}.String())
	}
	return b.String()
}

// ThresholdsJSON writes thresholds as an object: "thresholds", each with a list "from".
func ThresholdsJSON(s *run.Scenario, list []run.Thresholds) ([]byte, error) {
	return encode(object(append(preamble(s), member{"thresholds",
		listOf(list, func(t run.Thresholds) Value {
			p := t.Point
			return object(members{{"point", axesOf(p)}, {"kind", Text(p.Spec.Kind.String())},
				{"algorithm", Text(t.Algorithm.String())}, {"ranks", Int(p.Spec.Ranks)},
				{"dtype", Text(p.Spec.Type.String())}, {"op", Text(run.OpOf(p.Spec))},
				{"from", listOf(t.From, func(at run.Threshold) Value {
					return object(members{{"bytes", Int(at.Bytes)}, {"count", Int(at.Count)},
						{"picked_algorithm", Text(at.Algorithm.String())},
						{"picked_protocol", Text(at.Protocol.String())},
						{"channels", listOf(at.Channels[:], Int[int])},
						{"threads", listOf(at.Threads[:], Int[int])}})
				})}})
		})})))
}
