package report

import (
	"fmt"
	"math"
	"strings"

	"collsim/internal/prose"
	"collsim/run"
	"collsim/unit"
)

// EstimateText prints the points of a scenario with what there is to do, in 80 columns where that
// is possible. A program with equal iterations may simulate one for all, which is only known once
// it runs.
func EstimateText(s *run.Scenario, list []*run.Estimate) string {
	var b strings.Builder
	comment(&b, "collsim "+run.Version, s.Name, prose.Plural(len(run.AllPoints(s)), "point"))
	rows := [][]string{{"ranks", "steps", "messages", "bytes", "memory", "time", "point"}}
	for _, e := range list {
		ranks := fmt.Sprint(e.Point.Topology.Ranks)
		if e.Skipped != "" {
			rows = append(rows, []string{ranks, "-", "-", "-", "-", "-", e.Point.ID},
				[]string{fmt.Sprintf("#%42sskipped: %s", "", e.Skipped)})
			continue
		}
		name := e.Point.ID
		switch {
		case e.Parts > 0 && e.Algorithms > 1:
			name += " of " + prose.Plural(e.Parts, "part") + " and " +
				prose.Plural(e.Algorithms-1, "candidate")
		case e.Parts > 0:
			name += " of " + prose.Plural(e.Parts, "part")
		case e.Algorithms > 1:
			name += " of " + prose.Plural(e.Algorithms, "algorithm")
		}
		rows = append(rows, []string{ranks, fmt.Sprint(e.Steps), fmt.Sprint(e.Messages),
			roughly(e.Bytes), roughly(e.Memory), about(e.Seconds), name})
	}
	b.WriteString(prose.Table{Widths: []int{9, 11, 11, 9, 9, 9, -2}, Marked: 1, Rows: rows}.String())
	seconds, most, memory := run.Sum(list)
	fmt.Fprintf(&b, "# in all %s on one core (order of magnitude), at most %s; nothing was run\n",
		about(seconds), roughly(memory))
	if about(most) != about(seconds) {
		fmt.Fprintf(&b, "# or %s, if messages overtake each other: links or ranks differ\n",
			about(most))
	}
	return b.String()
}

// about formats a time in order of magnitude.
func about(seconds float64) string {
	m := run.Magnitude(seconds)
	if m < 1 {
		return "< 1 s"
	}
	return fmt.Sprintf("%.0f s", m)
}

// roughly formats a size in the largest unit that is not larger, rounded up.
func roughly(b unit.Bytes) string {
	n, name := float64(b), "B"
	for _, larger := range []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"} {
		if n < 1024 {
			break
		}
		n, name = n/1024, larger
	}
	if n < 10 && name != "B" {
		return fmt.Sprintf("%.1f %s", math.Ceil(n*10)/10, name)
	}
	return fmt.Sprintf("%.0f %s", math.Ceil(n), name)
}

// EstimateJSON writes the estimates as an object. "points" has an object for each point, with these
// members. "skipped" is the reason why the point is left out, or null. "algorithms", "steps",
// "messages" and "bytes_sent" are counts, of a program with those of the candidates for its calls.
// "memory", in bytes, is an upper bound on one core, and "memory_of" has that of each stage besides
// the command. "seconds" is a power of ten: an order of magnitude, the least 0.001. It may be
// "seconds_at_most" where links or ranks differ. "warnings" lists those on the scenario.
func EstimateJSON(s *run.Scenario, list []*run.Estimate) ([]byte, error) {
	return encode(object(append(preamble(s), member{"points", listOf(list, estimateValue)},
		member{"warnings", listOf(s.Notes, Text)})))
}

func estimateValue(e *run.Estimate) Value {
	who := identity(e.Point, e.Point.Algorithm)
	if e.Parts > 0 {
		who = members{{"id", Text(e.Point.ID)}, {"point", axesOf(e.Point)}, {"kind", Text("program")},
			{"ranks", Int(e.Point.Topology.Ranks)}, {"parts", Int(e.Parts)}}
	}
	return object(append(who, members{
		{"skipped", some(e.Skipped)}, {"algorithms", Int(e.Algorithms)}, {"steps", Int(e.Steps)},
		{"messages", Int(e.Messages)}, {"bytes_sent", Int(e.Bytes)},
		{"seconds", Number(run.Magnitude(e.Seconds))},
		{"seconds_at_most", Number(run.Magnitude(max(e.Seconds, e.MostSeconds)))},
		{"memory", Int(e.Memory)}, {"memory_of", object(members{
			{"schedule", Int(e.Takes.Schedule)}, {"proof", Int(e.Takes.Proof)},
			{"simulation", Int(e.Takes.Simulation)}, {"numbers", Int(e.Takes.Numbers)}})}}...))
}
