package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"collsim/internal/prose"
	"collsim/run"
	"collsim/unit"
)

// EstimateText prints the points of a scenario and their estimated cost, in 80 columns where that
// is possible. For a program it says how well the cost is known. A program with equal iterations
// may simulate one for all, which is only known once it runs.
func EstimateText(s *run.Scenario, list []*run.Estimate) string {
	var b strings.Builder
	comment(&b, "collsim "+run.Version, s.Name, prose.Plural(len(run.AllPoints(s)), "point"))
	rows := [][]string{{"steps", "messages", "time", "memory", "point"}}
	memory := unit.Bytes(0)
	for _, e := range list {
		if e.Skipped != "" {
			rows = append(rows, []string{"-", "-", "-", "-", e.Point.ID},
				[]string{fmt.Sprintf("#%42sskipped: %s", "", e.Skipped)})
			continue
		}
		memory = max(memory, e.Memory)
		name := e.Point.ID
		if e.Algorithms > 1 {
			name += " of " + prose.Plural(e.Algorithms, "algorithm")
		}
		if e.Parts > 0 {
			name += " of " + prose.Plural(e.Parts, "part")
		}
		rows = append(rows, []string{fmt.Sprint(e.Steps), fmt.Sprint(e.Messages), taken(e),
			held(e), name})
		if e.Refused != "" {
			rows = append(rows, []string{fmt.Sprintf("#%42srefused: %s", "", e.Refused)})
		}
	}
	b.WriteString(prose.Table{Widths: []int{10, 12, 10, 10, -2}, Marked: 1, Rows: rows}.String())
	seconds, text := spent(list)
	fmt.Fprintf(&b, "# in all %s on one core, with %s of memory; nothing was run\n", about(seconds),
		roughly(memory))
	if text != "" {
		b.WriteString("# " + text + "\n")
	}
	isProgram := func(e *run.Estimate) bool { return e.Parts > 0 }
	isUnforeseen := func(e *run.Estimate) bool { return isProgram(e) && e.Within > run.RoughlyKnown }
	switch {
	case slices.ContainsFunc(list, isUnforeseen):
		b.WriteString("# of programs without numbers, time and memory are known to a factor of five " +
			"only\n")
	case slices.ContainsFunc(list, isProgram):
		b.WriteString("# of programs, time and memory are known to a factor of three only\n")
	}
	for _, m := range marks {
		if slices.ContainsFunc(list, func(e *run.Estimate) bool {
			return timeMark(e) == m.mark || memoryMark(e) == m.mark
		}) {
			b.WriteString("# " + m.mark + " is known to a factor of " + m.factor + " only\n")
		}
	}
	return b.String()
}

// longRun is the estimated time of a run, in seconds, above which the estimate is reported.
const longRun = 5

// LongRun reports the estimated time of a run and how to shorten it. It is empty for runs up to
// five seconds.
func LongRun(list []*run.Estimate) string {
	seconds, text := spent(list)
	switch {
	case seconds <= longRun:
		return ""
	case text == "":
		return "about " + about(seconds) + " on one core"
	}
	return "about " + about(seconds) + " on one core, " + text
}

// spent returns the estimated seconds of all points together. If checks of numbers take a tenth or
// more of a long run, text says how to go without.
func spent(list []*run.Estimate) (seconds float64, text string) {
	numbers := 0.0
	for _, e := range run.Together(list) {
		seconds, numbers = seconds+e.Seconds, numbers+e.NumberSeconds
	}
	if seconds > longRun && numbers/seconds >= 0.1 {
		text = fmt.Sprintf("%.0f %% of it to check numbers: check.numbers = false does without",
			100*numbers/seconds)
	}
	return seconds, text
}

// marks lists the marks of uncertain estimates of a collective: times that may be off by more than
// half.
var marks = []struct {
	mark, factor string
	within       float64
}{{"~", "three", run.RoughlyKnown}, {"~~", "five", run.HardlyForeseen}}

// timeMark returns the mark of a printed time of a collective; empty if it is known well.
func timeMark(e *run.Estimate) string {
	for _, m := range marks {
		if e.Parts == 0 && e.Within == m.within && e.Seconds >= shortest {
			return m.mark
		}
	}
	return ""
}

// taken formats the time of a point, behind a mark where it is not known well.
func taken(e *run.Estimate) string {
	return strings.TrimLeft(timeMark(e)+" "+about(e.Seconds), " ")
}

// memoryMark returns the mark of a printed memory of a collective; empty if it is known well.
func memoryMark(e *run.Estimate) string {
	if e.Parts == 0 && e.MemoryWithin > run.WellKnown {
		return marks[0].mark
	}
	return ""
}

// held formats the memory of a point, behind a mark where it is not known well.
func held(e *run.Estimate) string {
	return strings.TrimLeft(memoryMark(e)+" "+roughly(e.Memory), " ")
}

// shortest is the least time, in seconds, that is printed as a number.
const shortest = 0.1

// about formats an estimated time with the digits that an estimate has.
func about(seconds float64) string {
	switch {
	case seconds < shortest:
		return "< 0.1 s"
	case seconds < 10:
		return fmt.Sprintf("%.1f s", seconds)
	case seconds < 1000:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 100*3600:
		return fmt.Sprintf("%.1f h", seconds/3600)
	}
	return fmt.Sprintf("%.0f days", seconds/86400)
}

// roughly formats an estimated size: at least 1 MiB, rounded up.
func roughly(b unit.Bytes) string {
	switch {
	case b <= unit.MiB:
		return "1 MiB"
	case b < unit.GiB:
		return fmt.Sprintf("%d MiB", (b+unit.MiB-1)/unit.MiB)
	}
	if gib := float64(b) / float64(unit.GiB); gib < 100 {
		return fmt.Sprintf("%.1f GiB", gib)
	}
	return fmt.Sprintf("%.0f GiB", float64(b)/float64(unit.GiB))
}

// EstimateJSON writes the estimates as an object. "points" has an object for each point, with these
// members. "skipped" is the reason why the point is left out, or null. "refused" is the reason why
// a run would be refused for the cost of fluid sharing, or null. "seconds" are within the factor
// "within", most likely; "memory", in bytes, is within "memory_within". "number_seconds" is the
// part of the seconds that checks of numbers take. "memory_of" has the memory of each stage besides
// the command. "algorithms", "steps" and "messages" are counts. "warnings" lists those on the
// scenario.
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
		{"skipped", some(e.Skipped)}, {"refused", some(e.Refused)},
		{"algorithms", Int(e.Algorithms)}, {"steps", Int(e.Steps)},
		{"messages", Int(e.Messages)}, {"seconds", rounded(e.Seconds)},
		{"within", rounded(e.Within)}, {"memory", Int(e.Memory)},
		{"memory_within", rounded(e.MemoryWithin)},
		{"number_seconds", rounded(e.NumberSeconds)}, {"memory_of", object(members{
			{"schedule", Int(e.Takes.Schedule)}, {"proof", Int(e.Takes.Proof)},
			{"simulation", Int(e.Takes.Simulation)}, {"numbers", Int(e.Takes.Numbers)}})}}...))
}

// rounded makes a number of seconds, rounded to the microsecond.
func rounded(seconds float64) Value { return Number(math.Round(seconds*1e6) / 1e6) }
