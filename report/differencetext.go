package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"collsim/internal/prose"
	"collsim/reference"
	"collsim/run"
)

// lineWidth is the width of a line of the summary, behind "# ". differenceWidth is that of a line
// about an element, which is indented.
const (
	lineWidth       = prose.Columns - len("# ")
	differenceWidth = prose.Columns - len("#          ")
)

// maxOrder is the most characters of an order of additions that are printed; JSON has all of it.
const maxOrder = 600

// compareLines reports how results compare with the files that they name.
func compareLines(results []*run.Result) (lines []string) {
	equal, of := 0, 0
	elements := int64(0)
	for _, r := range results {
		if r.Comparison == nil {
			continue
		}
		if of++; r.Comparison.Equal() {
			equal++
			elements += r.Comparison.Elements
		}
	}
	if equal > 0 {
		lines = append(lines, fmt.Sprintf("compare  %sthe same bits in all %d elements",
			share(equal, of), elements))
	}
	shown := 0
	for _, r := range results {
		c := r.Comparison
		if c == nil || c.Equal() && c.Wrong == 0 {
			continue
		}
		if shown++; shown > run.MaxWrong {
			lines = append(lines, fmt.Sprintf("         and %d more", of-equal-run.MaxWrong))
			break
		}
		if c.Why != "" {
			text := fmt.Sprintf("NOTHING is compared: %s with %s: %s", r.Point.ID, c.File, c.Why)
			lines = append(lines, prose.Wrap(text, lineWidth, "compare  ", "         ")...)
			continue
		}
		if !c.Equal() {
			lines = append(lines, fmt.Sprintf("compare  DIFFERS: %s: %d of %d elements, on %s, "+
				"from %s", r.Point.ID, c.Different, c.Elements, prose.Plural(c.Ranks, "rank"), c.File))
		}
		lines = append(lines, comparisonLines(c, r.Point.ID, c.File)...)
	}
	return lines
}

// comparisonLines reports the elements that are wrong, whether ranks agree, and where the order of
// additions differs.
func comparisonLines(c *run.Comparison, id, file string) (lines []string) {
	indented := func(text string) {
		words := strings.TrimLeft(text, " ")
		first := "         " + text[:len(text)-len(words)]
		lines = append(lines, prose.Wrap(words, lineWidth, first, "             ")...)
	}
	switch {
	case c.Altered:
		indented("whether they are wrong is not judged: they are scaled or masked afterwards")
	case c.Undefined:
		indented("whether they are wrong nobody can tell: there is no definition")
	case c.Wrong == 0:
		indented("none is wrong: all lie within the bound of any order of additions")
	default:
		lines = append(lines, fmt.Sprintf("compare  WRONG: %s: %d of %d elements, on %s, in %s", id,
			c.Wrong, c.Elements, prose.Plural(c.WrongRanks, "rank"), file))
		for _, line := range suspicions(c) {
			indented(line)
		}
	}
	switch d := c.Disagree; {
	case d != nil:
		indented(fmt.Sprintf("their ranks DISAGREE: %d and %d in %s, the first is %d: %v and %v",
			d.Ranks[0], d.Ranks[1], prose.Plural(d.Elements, "element"), d.First, d.Theirs[0],
			d.Theirs[1]))
	case c.Shared:
		indented("their ranks agree, bit for bit")
	}
	if c.First == nil {
		return lines
	}
	if more := c.Different - c.Wrong; c.Wrong > 0 {
		indented(fmt.Sprintf("%s differ in order alone:", prose.Plural(more, "element")))
	}
	for _, line := range differenceLines(c.First, file) {
		lines = append(lines, "         "+line)
	}
	return lines
}

// maxStrays is the most elements with one explanation that are printed.
const maxStrays = 3

// suspicions groups wrong elements by their likely explanation, the most frequent first.
func suspicions(c *run.Comparison) (lines []string) {
	var texts []string
	alike := map[string][]reference.Outside{}
	for _, o := range c.Outside {
		text := likeness(&o)
		if alike[text] == nil {
			texts = append(texts, text)
		}
		alike[text] = append(alike[text], o)
	}
	slices.SortStableFunc(texts, func(a, b string) int { return len(alike[b]) - len(alike[a]) })
	of := ""
	if int64(len(c.Outside)) < c.Wrong {
		of = fmt.Sprintf(" of the first %d", len(c.Outside))
	}
	for i, text := range texts {
		if i == run.MaxWrong {
			return append(lines, fmt.Sprintf("and %d more likenesses", len(texts)-i))
		}
		list, verb := alike[text], "look"
		if len(list) == 1 {
			verb = "looks"
		}
		lines = append(lines, fmt.Sprintf("%d%s %s like %s", len(list), of, verb, text))
		for k, o := range list {
			if k == maxStrays {
				lines = append(lines, fmt.Sprintf("  and %d more", len(list)-k))
				break
			}
			lines = append(lines, fmt.Sprintf("  rank %d element %d: %v; %v is right", o.Rank, o.Element,
				o.Theirs, o.Right))
		}
	}
	return lines
}

// likeness describes what a wrong element resembles, such as an input or a partial sum.
func likeness(o *reference.Outside) string {
	n := len(o.Looks)
	if n == 0 {
		return "nothing that was tried: an input, 0, a partial sum, a rank missing or in twice"
	}
	text := strings.Join(o.Looks[:min(n, run.MaxWrong)], ", or ")
	if n > run.MaxWrong {
		text += fmt.Sprintf(", or %d more", n-run.MaxWrong)
	}
	return text
}

// differenceLines describes the first element that differs.
func differenceLines(d *reference.Difference, file string) []string {
	lines := []string{fmt.Sprintf("rank %d element %d (chunk %d): %s has %v,", d.Rank, d.Element,
		d.Chunk, file, d.Theirs), fmt.Sprintf("  the schedule gives %v", d.Ours)}
	if d.Order == "" {
		return append(lines, "  the schedule is wrong: no order to tell")
	}
	order := d.Order
	if utf8.RuneCountInString(order) > maxOrder {
		order = order[:maxOrder] + " … (--json has all of it)"
	}
	if !strings.Contains(order, "+") && len(d.Tried) == 0 {
		return append(lines, "  it comes from "+order)
	}
	lines = append(lines, prose.Wrap("order here: "+order, differenceWidth, "  ", "    ")...)
	if d.Switch {
		lines = append(lines, "  a switch combines some of these, in an order that is not published")
	}
	if d.Tried == nil {
		return lines
	}
	for _, line := range explanations(d) {
		text := strings.TrimLeft(line, " ")
		indent := "  " + line[:len(line)-len(text)]
		lines = append(lines, prose.Wrap(text, differenceWidth, indent, indent+"  ")...)
	}
	return lines
}

// explanations names the changes of order that would give the file's values, for all elements that
// differ or for some.
func explanations(d *reference.Difference) (lines []string) {
	first := ""
	if d.Part {
		first = "the first "
	}
	differ := first + prose.Plural(d.Differ, "element") + " that differ"
	if d.Differ == 1 {
		differ += "s"
	}
	tried := strings.Join(d.Tried, ", ")
	if len(d.Gives) == 0 {
		return []string{fmt.Sprintf("none of these explains any of %s: %s", differ, tried)}
	}
	explains := fmt.Sprintf("explains all %s", differ)
	if !d.All() {
		lines = append(lines, "none of these explains all of theirs: "+tried)
		explains = fmt.Sprintf("explains %d of %s", d.Explains, differ)
		if d.Changes > 0 {
			explains += fmt.Sprintf(", and would change %d of %d that are equal", d.Changes, d.Equal)
		}
	}
	if len(d.Gives) == 1 {
		return append(lines, d.Gives[0]+" "+explains)
	}
	lines = append(lines, fmt.Sprintf("each of these %s:", explains))
	for i, one := range d.Gives {
		if i == run.MaxWrong {
			return append(lines, fmt.Sprintf("  and %d more", len(d.Gives)-i))
		}
		lines = append(lines, "  "+one)
	}
	return lines
}
