package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"collsim/collective/calls"
	"collsim/formats/dumps"
	"collsim/internal/prose"
)

// Bounds of a text: what ranks have done last, findings besides the first, waits, and calls of the
// table before and behind the one that is found.
const (
	mostLast     = 6
	mostFindings = 5
	mostWaits    = 8
	callsBefore  = 2
	callsBehind  = 2
)

// HangText prints why ranks wait: the verdict, what the ranks at fault have done last, who waits
// for whom, and the calls around the one that is found.
func HangText(d *dumps.Dump, j *calls.Judgement) string {
	var b strings.Builder
	t := hangText{d, j, &b}
	if len(j.Findings) == 0 {
		writeLines(&b, "", prose.Wrap(t.nothing(), prose.Columns, "", "  "))
	} else {
		writeLines(&b, "", prose.Wrap(t.verdict(&j.Findings[0]), prose.Columns, "", "      "))
	}
	t.labelled("dumps", t.what())
	met := slices.IndexFunc(j.Findings, func(f calls.Finding) bool { return f.Meeting != nil })
	if met >= 0 {
		t.last(&j.Findings[met])
	}
	var waits, more []string
	for i := range j.Waits {
		if len(j.Waits) > 1 { // one wait is that of the verdict
			waits = append(waits, t.wait(&j.Waits[i]))
		}
	}
	for i := range j.Findings[min(1, len(j.Findings)):] {
		more = append(more, t.finding(&j.Findings[1+i]))
	}
	t.labelled("waits", bounded(waits, mostWaits)...)
	t.labelled("also", bounded(more, mostFindings)...)
	t.labelled("note", d.Notes...)
	if met >= 0 {
		t.table(j.Findings[met].Meeting)
	}
	return b.String()
}

// bounded cuts a list, and says how much is left out.
func bounded(list []string, most int) []string {
	if more := len(list) - most; more > 0 {
		return append(list[:most:most], fmt.Sprintf("%d more", more))
	}
	return list
}

// hangText writes about a judgement.
type hangText struct {
	*dumps.Dump
	*calls.Judgement
	b *strings.Builder
}

// labelled writes texts behind a label, each on lines of its own.
func (t *hangText) labelled(label string, texts ...string) {
	for _, text := range texts {
		writeLines(t.b, "# ", prose.Wrap(text, prose.Columns-2, fmt.Sprintf("%-9s", label),
			strings.Repeat(" ", 9)))
		label = ""
	}
}

// nothing says that no rank waits.
func (t *hangText) nothing() string {
	if t.number() == 0 {
		return "nothing hangs here: all ranks answer, and have called alike"
	}
	complete := "complete"
	if t.unstated() {
		complete = "made by all their ranks alike"
	}
	return fmt.Sprintf("nothing hangs here: every call is %s (%s of %s)", complete,
		prose.Plural(t.number(), "call"), prose.Plural(len(t.Ranks), "rank"))
}

// unstated reports whether no call has a state.
func (t *hangText) unstated() bool {
	for i := range t.Ranks {
		for j := range t.Ranks[i].Calls {
			if t.Ranks[i].Calls[j].State != calls.Unstated {
				return false
			}
		}
	}
	return true
}

// number counts the calls of all ranks.
func (t *hangText) number() (n int) {
	for i := range t.Ranks {
		n += len(t.Ranks[i].Calls)
	}
	return n
}

// what describes the files.
func (t *hangText) what() string {
	used := map[int]bool{}
	for _, m := range t.Meetings {
		used[m.Group] = true
	}
	if t.number() == 0 {
		return t.Form
	}
	return fmt.Sprintf("%s: %s of %s in %s", t.Form, prose.Plural(t.number(), "call"),
		prose.Plural(len(t.Ranks), "rank"), prose.Plural(len(used), "group"))
}

// last writes what the ranks of a finding have done last or, where calls differ, what all call.
func (t *hangText) last(f *calls.Finding) {
	ranks := f.Ranks
	if differs(f.Fault) {
		ranks = f.Waiting
	}
	var texts []string
	of := map[string][]int{}
	for _, rank := range ranks {
		text := t.done(rank, f)
		if of[text] == nil {
			texts = append(texts, text)
		}
		of[text] = append(of[text], rank)
	}
	slices.SortStableFunc(texts, func(a, b string) int { return cmp.Compare(len(of[a]), len(of[b])) })
	for i, text := range texts {
		texts[i] = ranksWord(of[text]) + ": " + text
	}
	t.labelled("last", bounded(texts, mostLast)...)
}

// differs reports whether a fault is of a call that differs from others.
func differs(f calls.Fault) bool {
	return f == calls.Differs || f == calls.Skipped || f == calls.Extra || f == calls.Swapped
}

// done says what a rank does in a meeting or, if it has not come there, what it has done last.
func (t *hangText) done(rank int, f *calls.Finding) string {
	at := slices.IndexFunc(t.Ranks, func(r calls.Rank) bool { return r.Number == rank })
	if at < 0 {
		return "nothing is known"
	}
	if i := slices.Index(f.Meeting.Ranks, rank); i >= 0 && f.Meeting.Calls[i] != nil &&
		f.Fault != calls.Crossed {
		return t.made(f.Meeting.Calls[i])
	}
	for i := range t.Waits {
		if slices.Contains(t.Waits[i].Ranks, rank) {
			m := t.Waits[i].Meeting
			return "waits in " + t.made(m.Calls[slices.Index(m.Ranks, rank)])
		}
	}
	r := &t.Ranks[at]
	if n := len(r.Calls); n > 0 {
		return t.made(&r.Calls[n-1])
	}
	for _, mark := range r.Marks {
		if mark.Group == f.Group {
			return fmt.Sprintf("#%d of %s", mark.Enqueued, t.group(mark.Group))
		}
	}
	return "no call"
}

// made describes a call with its state and where the program makes it.
func (t *hangText) made(c *calls.Call) string {
	text := fmt.Sprintf("%s%s of %s", t.title(c), detail(c), t.group(c.Group))
	if c.State != calls.Unstated {
		text += ", " + c.State.String()
	}
	if c.Frame != "" {
		text += ", at " + c.Frame
	}
	return text
}

// title names a call: "all_reduce #42".
func (t *hangText) title(c *calls.Call) string {
	switch {
	case c.Message() && c.Sends:
		return fmt.Sprintf("send to rank %d", c.Peer)
	case c.Message():
		return fmt.Sprintf("recv from rank %d", c.Peer)
	}
	return fmt.Sprintf("%s #%d", c.Name, c.Seq)
}

// detail describes what a call moves: " (bfloat16, 1,048,576 elements, root 0)".
func detail(c *calls.Call) string {
	var parts []string
	if c.Type != "" {
		parts = append(parts, c.Type)
	}
	if n := max(c.Count(), 0); n > 0 || c.Count() == 0 {
		parts = append(parts, elementsText(n))
	} else if c.Uneven && c.In >= 0 {
		parts = append(parts, elementsText(c.In))
	}
	if c.Op != "" && c.Op != "sum" {
		parts = append(parts, c.Op)
	}
	if c.Kind.Rooted() && c.Root >= 0 {
		parts = append(parts, fmt.Sprintf("root %d", c.Root))
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// elementsText writes a number of elements in groups of three digits.
func elementsText(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if n == 1 {
		return "1 element"
	}
	return digits + " elements"
}

// group names a group by its description or its name.
func (t *hangText) group(g int) string {
	one := &t.Groups[g]
	label := one.Name
	switch one.About {
	case "":
	case "communicator":
		return "communicator " + one.Name
	default:
		label = one.About
		for i := range t.Groups {
			if i != g && t.Groups[i].About == one.About {
				label = one.About + " " + one.Name
			}
		}
	}
	if label == "" {
		return "the group"
	}
	return fmt.Sprintf("group %q", label)
}

// sized names a group with the number of its ranks, where it is known.
func (t *hangText) sized(f *calls.Finding) string {
	n := len(t.Groups[f.Group].Ranks)
	if n == 0 && t.Groups[f.Group].About == "communicator" {
		return t.group(f.Group)
	}
	if f.Meeting != nil && n == 0 {
		n = len(f.Meeting.Ranks)
	}
	return fmt.Sprintf("%s (%s)", t.group(f.Group), prose.Plural(n, "rank"))
}
