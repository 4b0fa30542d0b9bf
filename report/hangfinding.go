package report

import (
	"fmt"
	"slices"
	"strings"

	"collsim/collective/calls"
	"collsim/formats/dumps"
	"collsim/internal/prose"
)

// hangs reports whether ranks wait for what is wrong. Calls of another type or count may end.
func (t *hangText) hangs(f *calls.Finding) bool {
	field := f.Difference.Field
	mayEnd := f.Fault == calls.Differs && field != calls.KindField && field != calls.RootField
	return !f.Completed && !(mayEnd && t.unstated())
}

// verdict says what is wrong, and whether ranks wait for it.
func (t *hangText) verdict(f *calls.Finding) string {
	if t.hangs(f) {
		return "hang: " + t.finding(f)
	}
	return "mismatch: " + t.finding(f)
}

// finding says in a sentence what is wrong.
func (t *hangText) finding(f *calls.Finding) string {
	switch f.Fault {
	case calls.Silent:
		return fmt.Sprintf("%s of %s %s no more", ranksWord(f.Ranks), t.sized(f),
			verb(f.Ranks, "answers", "answer"))
	case calls.Missing:
		return t.missing(f)
	case calls.Crossed:
		return t.crossed(f)
	case calls.Stuck:
		return fmt.Sprintf("%s of %s is called alike by all, and does not end on %s: no call is "+
			"missing; look at the network and the GPUs", t.title(f.Call)+detail(f.Call), t.sized(f),
			ranksWord(f.Ranks))
	}
	text := t.differing(f)
	if f.Completed {
		text += "; it has completed all the same, with wrong results"
	}
	return text
}

// missing says who has not made a call, and who waits. Ranks without a log come last, unless all
// are without.
func (t *hangText) missing(f *calls.Finding) string {
	var ranks, unknown []int
	for _, rank := range f.Ranks {
		if t.logged(rank) {
			ranks = append(ranks, rank)
		} else {
			unknown = append(unknown, rank)
		}
	}
	if len(ranks) == 0 {
		ranks, unknown = unknown, nil
	}
	text := fmt.Sprintf("%s %s missing from %s%s of %s", ranksWord(ranks),
		verb(ranks, "is", "are"), t.title(f.Call), detail(f.Call), t.sized(f))
	if unknown != nil {
		text += "; nothing is known of " + ranksWord(unknown)
	}
	if rest := len(f.Meeting.Ranks) - len(f.Ranks); len(f.Waiting) == rest && rest > 1 {
		text += fmt.Sprintf("; the other %d wait", rest)
	} else if len(f.Waiting) > 0 {
		text += fmt.Sprintf("; %s %s", ranksWord(f.Waiting), verb(f.Waiting, "waits", "wait"))
	}
	if len(f.Waiting) > 0 {
		text += " for " + verb(f.Ranks, "it", "them")
	}
	return text
}

// logged reports whether there is a log of a rank.
func (t *hangText) logged(rank int) bool {
	return slices.ContainsFunc(t.Ranks, func(r calls.Rank) bool { return r.Number == rank })
}

// crossed says which ranks wait in another place than where they are awaited.
func (t *hangText) crossed(f *calls.Finding) string {
	next := f.Circle[1%len(f.Circle)]
	if len(f.Circle) > 2 || len(f.Ranks) > len(f.Circle)-1 && len(f.Ranks) > 1 {
		return fmt.Sprintf("%s wait for each other in a circle, from %s%s of %s on",
			ranksWord(f.Ranks), t.title(f.Call), detail(f.Call), t.sized(f))
	}
	there := next.Meeting.Calls[slices.Index(next.Meeting.Ranks, next.Ranks[0])]
	return fmt.Sprintf("%s %s in %s%s of %s for ranks that wait in %s%s of %s for %s",
		ranksWord(f.Ranks), verb(f.Ranks, "waits", "wait"), t.title(there), detail(there),
		t.group(there.Group), t.title(f.Call), detail(f.Call), t.sized(f),
		verb(f.Ranks, "it", "them"))
}

// differing says whose call differs, and how.
func (t *hangText) differing(f *calls.Finding) string {
	d := &f.Difference
	at := fmt.Sprintf("%s of %s", t.title(f.Call), t.sized(f))
	if d.Field == calls.KindField {
		at = fmt.Sprintf("call #%d of %s", f.Call.Seq, t.sized(f))
	}
	if f.Call.Message() {
		at = fmt.Sprintf("a message of %s from rank %d to rank %d", t.group(f.Group),
			f.Meeting.From, f.Meeting.To)
	}
	usual, odd := d.Values[0], d.Values[1]
	switch d.Field {
	case calls.SplitsField:
		return fmt.Sprintf("rank %d expects %s elements of rank %d in %s, which sends it %s",
			odd.Ranks[0], odd.Text, usual.Ranks[0], at, usual.Text)
	case calls.SumField:
		return fmt.Sprintf("in %s all ranks together send %s elements and expect %s", at, usual.Text,
			odd.Text)
	}
	theirs := f.Meeting.Calls[slices.Index(f.Meeting.Ranks, odd.Ranks[0])]
	switch f.Fault {
	case calls.Skipped:
		return fmt.Sprintf("%s %s out %s, and %s what is #%d of the others: %s%s",
			ranksWord(f.Ranks), verb(f.Ranks, "leaves", "leave"), t.title(f.Call)+detail(f.Call)+
				" of "+t.sized(f), verb(f.Ranks, "calls", "call"), f.Call.Seq+1, theirs.Name,
			detail(theirs))
	case calls.Extra:
		return fmt.Sprintf("%s %s %s%s as #%d of %s, one call more than the others, which call %s%s",
			ranksWord(f.Ranks), verb(f.Ranks, "makes", "make"), theirs.Name, detail(theirs),
			f.Call.Seq, t.sized(f), f.Call.Name, detail(f.Call))
	case calls.Swapped:
		return fmt.Sprintf("%s %s #%d and #%d of %s in the other order: %s%s first, where the others "+
			"call %s%s", ranksWord(f.Ranks), verb(f.Ranks, "makes", "make"), f.Call.Seq, f.Call.Seq+1,
			t.sized(f), theirs.Name, detail(theirs), f.Call.Name, detail(f.Call))
	}
	return t.unlike(f, at, theirs)
}

// unlike says whose call has another value, and what most have.
func (t *hangText) unlike(f *calls.Finding, at string, theirs *calls.Call) string {
	values := f.Difference.Values
	most := "the others"
	if n := len(values[0].Ranks); n > 1 {
		most = fmt.Sprintf("the other %d", n)
	}
	switch {
	case len(values) > 2 || len(values[0].Ranks) == len(values[1].Ranks) || f.Call.Message():
		var parts []string
		for _, v := range values {
			parts = append(parts, fmt.Sprintf("%s on %s", v.Text, ranksWord(v.Ranks)))
		}
		return fmt.Sprintf("the %s of %s differs: %s", f.Difference.Field, at,
			strings.Join(parts, ", "))
	case f.Difference.Field == calls.KindField:
		return fmt.Sprintf("%s %s %s%s of %s, %s %s%s", ranksWord(f.Ranks),
			verb(f.Ranks, "calls", "call"), t.title(theirs), detail(theirs), t.sized(f), most,
			f.Call.Name, detail(f.Call))
	}
	return fmt.Sprintf("%s %s %s with %s %s, %s with %s", ranksWord(f.Ranks),
		verb(f.Ranks, "calls", "call"), at, f.Difference.Field, values[1].Text, most, values[0].Text)
}

// wait says who waits where for whom.
func (t *hangText) wait(w *calls.Wait) string {
	at := w.Meeting.First()
	if len(w.Ranks) > 0 {
		at = w.Meeting.Calls[slices.Index(w.Meeting.Ranks, w.Ranks[0])]
	}
	text := fmt.Sprintf("%s in %s of %s", ranksWord(w.Ranks), t.title(at), t.group(at.Group))
	if len(w.For) == 0 {
		return text + ", which differ"
	}
	return text + " for " + ranksWord(w.For)
}

// verb chooses a form by the number of ranks.
func verb(ranks []int, one, several string) string {
	if len(ranks) == 1 {
		return one
	}
	return several
}

// ranksWord names ranks in a sentence: "rank 3", "ranks 0–2, 4 and 7".
func ranksWord(ranks []int) string {
	list := ranges(ranks)
	if len(ranks) == 0 {
		return "no rank"
	}
	if n := len(list); n > 1 {
		list = append(list[:n-2:n-2], list[n-2]+" and "+list[n-1])
	}
	text := strings.Join(list, ", ")
	if len(ranks) == 1 {
		return "rank " + text
	}
	if len(list) > mostRanges {
		return fmt.Sprintf("%s (%s, …)", prose.Plural(len(ranks), "rank"),
			strings.Join(list[:mostRanges], ", "))
	}
	return "ranks " + text
}

// mostRanges bounds the ranges of ranks in a sentence.
const mostRanges = 8

// ranges writes ascending ranks, those in a row as a range.
func ranges(ranks []int) (list []string) {
	for i := 0; i < len(ranks); {
		end := i
		for end+1 < len(ranks) && ranks[end+1] == ranks[end]+1 {
			end++
		}
		switch end - i {
		case 0:
			list = append(list, fmt.Sprint(ranks[i]))
		case 1:
			list = append(list, fmt.Sprint(ranks[i]), fmt.Sprint(ranks[end]))
		default:
			list = append(list, fmt.Sprintf("%d–%d", ranks[i], ranks[end]))
		}
		i = end + 1
	}
	return list
}

// HangVerdicts says in a sentence each what is wrong, the cause first; or that nothing hangs.
func HangVerdicts(d *dumps.Dump, j *calls.Judgement) (texts []string, bad bool) {
	t := hangText{Dump: d, Judgement: j}
	if len(j.Findings) == 0 {
		return []string{t.nothing()}, false
	}
	for i := range j.Findings {
		texts = append(texts, t.verdict(&j.Findings[i]))
	}
	return bounded(texts, mostFindings), true
}
