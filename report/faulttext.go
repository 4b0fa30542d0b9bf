package report

import (
	"fmt"
	"strings"

	"collsim/internal/prose"
	"collsim/run"
	"collsim/unit"
)

// The lines of a result with faults: what became of each fault and, where the run hangs, why in the
// words of a job's dumps, who waits since when, who has ended, and what PyTorch's watchdog writes.

// mostHung bounds the lanes that wait in a text; JSON has them all, and all lines of the watchdog.
const mostHung = 6

// faultedLines lists what became of the faults of results, one after the other.
func faultedLines(results []*run.Result) (lines []string) {
	for _, r := range results {
		if r.Faulted == nil {
			continue
		}
		if len(results) > 1 {
			lines = append(lines, "point    "+r.Point.ID)
		}
		lines = append(lines, faultLines(r.Faulted, r.Time)...)
	}
	return lines
}

// faultLines lists what became of the faults of one run, which takes a time unless it hangs.
func faultLines(f *run.Faulted, time unit.Time) []string {
	var lines []string
	add := func(label string, texts ...string) {
		for _, text := range texts {
			lines = append(lines, prose.Wrap(text, prose.Columns-2, fmt.Sprintf("%-9s", label),
				strings.Repeat(" ", 9))...)
			label = ""
		}
	}
	for i := range f.Faults {
		add("fault", strikeText(&f.Faults[i]))
	}
	if !f.Hangs && time == f.Without {
		return lines
	}
	if !f.Hangs {
		add("delay", fmt.Sprintf("%s us: without it takes %s us", us(time-f.Without), us(f.Without)))
		return lines
	}
	add("without", us(f.Without)+" us")
	add("verdict", verdictsOf(f)...)
	add("waits", bounded(hungTexts(f.Waits), mostHung)...)
	add("ended", ranksWord(f.Ended))
	if len(f.Watchdog) == 0 {
		add("watchdog", "nobody is left who would notice")
		return lines
	}
	add("watchdog", fmt.Sprintf("of PyTorch, after its timeout, in %s; the first:",
		prose.Plural(len(f.Watchdog), "line")))
	return append(lines, f.Watchdog[0])
}

// strikeText says what became of a fault.
func strikeText(s *run.Strike) string {
	text := s.Fault.String()
	switch {
	case s.At < 0:
		return text + ", which does not come"
	case !s.Struck:
		return text + ", which changes nothing: it has begun all before, or begins nothing meanwhile"
	case s.Step >= 0 || s.Op != "" || s.Does == "drops":
		text += fmt.Sprintf(", which is at %s us", us(s.At))
	}
	return text
}

// hungTexts says who waits for whom since when, lanes of a rank that wait for the same in one.
func hungTexts(all []run.HungLane) (texts []string) {
	type wait struct {
		rank, on int
		what     string
	}
	var order []wait
	first, lanes := map[wait]*run.HungLane{}, map[wait]int{}
	for i := range all {
		w := wait{all[i].Rank, all[i].OnRank, all[i].For}
		if lanes[w]++; lanes[w] == 1 {
			first[w] = &all[i]
			order = append(order, w)
		}
	}
	for _, w := range order {
		f := first[w]
		what := f.Name
		if f.Chunk >= 0 {
			what += fmt.Sprintf(" chunk %d", f.Chunk)
		}
		text := fmt.Sprintf("rank %d since %s us for %s from rank %d: lane %d step %d, %s", w.rank,
			us(f.Since), w.what, w.on, f.Lane, f.Step, what)
		if more := lanes[w] - 1; more > 0 {
			text += ", and " + prose.Plural(more, "lane") + " more"
		}
		texts = append(texts, text)
	}
	return texts
}

// arrivedText says what it costs that ranks do not arrive together; empty where they do.
func arrivedText(a *run.Arrived, whole unit.Time) string {
	if a == nil {
		return ""
	}
	text := fmt.Sprintf("of ranks from %s us to %s us (rank %d): a rank is %s us before the last, on "+
		"average; where all come at once it takes %s us", us(a.First), us(a.Last), a.LastRank,
		us(a.Waits), us(a.Together))
	if whole > 0 {
		text += fmt.Sprintf(", here %s us from the first and %s us from the last", us(whole-a.First),
			us(whole-a.Last))
	}
	return text
}

// arrivedLines says it of results.
func arrivedLines(results []*run.Result) (lines []string) {
	for _, r := range results {
		if text := arrivedText(r.Arrived, r.Time); text != "" {
			lines = append(lines, prose.Wrap(among(r, results)+text, prose.Columns-2, "arrival  ",
				strings.Repeat(" ", 9))...)
		}
	}
	return lines
}

// among names a result among several.
func among(r *run.Result, of []*run.Result) string {
	if len(of) == 1 {
		return ""
	}
	return r.Point.ID + ": "
}
