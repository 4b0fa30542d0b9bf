package collsim

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// jsonComparison is a Comparison in JSON.
type (
	jsonComparison struct {
		File      string          `json:"file"`
		Equal     bool            `json:"equal"`
		Why       string          `json:"not_compared"` // why nothing was; empty where it was
		Elements  int64           `json:"elements"`
		Different int64           `json:"different"`
		Ranks     int             `json:"different_ranks"`
		First     *jsonDifference `json:"first"`
		// Wrong is null where there is no definition; ranks_agree, where ranks need not.
		Wrong      any           `json:"wrong"`
		WrongRanks int           `json:"wrong_ranks"`
		Outside    []jsonOutside `json:"outside"`
		RanksAgree any           `json:"ranks_agree"`
		Disagree   *jsonDisagree `json:"disagree"`
	}
	jsonDifference struct {
		Rank    int      `json:"rank"`
		Element int64    `json:"element"`
		Chunk   int      `json:"chunk"`
		Theirs  jsonBits `json:"theirs"`
		Ours    jsonBits `json:"ours"`
		Order   string   `json:"order"`
		Switch  bool     `json:"switch"`
		Tried   []string `json:"tried"`
		Gives   []string `json:"would_give_theirs"`
		Sample  int      `json:"would_give_elements"` // of how many elements that is true
	}
	jsonOutside struct {
		Rank    int      `json:"rank"`
		Element int64    `json:"element"`
		Theirs  jsonBits `json:"theirs"`
		Right   jsonBits `json:"right"`
		Looks   []string `json:"looks_like"`
	}
	jsonDisagree struct {
		Ranks    [2]int      `json:"ranks"`
		Elements int64       `json:"elements"`
		First    int64       `json:"first"`
		Theirs   [2]jsonBits `json:"theirs"`
	}
	jsonBits struct {
		Bits  string `json:"bits"`
		Value string `json:"value"`
	}
)

func (c *Comparison) json() *jsonComparison {
	if c == nil {
		return nil
	}
	j := &jsonComparison{File: c.File, Equal: c.Equal(), Why: c.Why, Elements: c.Elements,
		Different: c.Different, Ranks: c.Ranks, WrongRanks: c.WrongRanks, Outside: []jsonOutside{}}
	if c.Why == "" && !c.Undefined {
		j.Wrong = c.Wrong
	}
	if c.Why == "" && c.Shared {
		j.RanksAgree = c.Disagree == nil
	}
	for _, o := range c.Outside {
		j.Outside = append(j.Outside, jsonOutside{o.Rank, o.Element, jsonBits(o.Theirs),
			jsonBits(o.Right), orEmpty(o.Looks)})
	}
	if d := c.Disagree; d != nil {
		j.Disagree = &jsonDisagree{d.Ranks, d.Elements, d.First,
			[2]jsonBits{jsonBits(d.Theirs[0]), jsonBits(d.Theirs[1])}}
	}
	if d := c.First; d != nil {
		j.First = &jsonDifference{Rank: d.Rank, Element: d.Element, Chunk: d.Chunk,
			Theirs: jsonBits(d.Theirs), Ours: jsonBits(d.Ours), Order: d.Order, Switch: d.Switch,
			Tried: orEmpty(d.Tried), Gives: orEmpty(d.Gives),
			Sample: d.Sample}
	}
	return j
}

// maxOrder is how much of an order is printed; JSON has all of it.
const maxOrder = 600

// compareLines say how results compare with the files that they name.
func compareLines(results []*Result) (lines []string) {
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
		if shown++; shown > maxWrong {
			lines = append(lines, fmt.Sprintf("         and %d more", of-equal-maxWrong))
			break
		}
		if c.Why != "" {
			lines = append(lines, wrapped(fmt.Sprintf("compare  NOTHING is compared: %s with %s: %s",
				r.Point.ID, c.File, c.Why), columns-len("# "), "", "         ")...)
			continue
		}
		if !c.Equal() {
			lines = append(lines, fmt.Sprintf("compare  DIFFERS: %s: %d of %d elements, on %s, "+
				"from %s", r.Point.ID, c.Different, c.Elements, plural(c.Ranks, "rank"), c.File))
		}
		lines = append(lines, c.lines(r.Point.ID, c.File)...)
	}
	return lines
}

// lines say which elements are wrong, whether ranks agree, and where the order differs.
func (c *Comparison) lines(id, file string) (lines []string) {
	indented := func(text string) {
		for _, line := range wrapped(text, columns-len("#          "), "", "    ") {
			lines = append(lines, "         "+line)
		}
	}
	switch {
	case c.Undefined:
		indented("whether they are wrong nobody can tell: there is no definition")
	case c.Wrong == 0:
		indented("none is wrong: all lie within the bound of any order of additions")
	default:
		lines = append(lines, fmt.Sprintf("compare  WRONG: %s: %d of %d elements, on %s, in %s", id,
			c.Wrong, c.Elements, plural(c.WrongRanks, "rank"), file))
		for _, line := range c.suspicions() {
			indented(line)
		}
	}
	switch d := c.Disagree; {
	case d != nil:
		indented(fmt.Sprintf("their ranks DISAGREE: %d and %d in %s, the first is %d: %v and %v",
			d.Ranks[0], d.Ranks[1], plural(d.Elements, "element"), d.First, d.Theirs[0],
			d.Theirs[1]))
	case c.Shared:
		indented("their ranks agree, bit for bit")
	}
	if c.First == nil {
		return lines
	}
	if more := c.Different - c.Wrong; c.Wrong > 0 {
		indented(fmt.Sprintf("%s differ in order alone:", plural(more, "element")))
	}
	for _, line := range c.First.lines(file) {
		lines = append(lines, "         "+line)
	}
	return lines
}

// maxStrays is how many elements that look alike are printed.
const maxStrays = 3

// suspicions say what wrong elements look like, most of them first.
func (c *Comparison) suspicions() (lines []string) {
	var texts []string
	alike := map[string][]Outside{}
	for _, o := range c.Outside {
		text := o.likeness()
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
		if i == maxWrong {
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

// likeness is what an element looks like, in words.
func (o *Outside) likeness() string {
	n := len(o.Looks)
	if n == 0 {
		return "nothing that was tried: an input, 0, a partial sum, a rank missing or in twice"
	}
	text := strings.Join(o.Looks[:min(n, maxWrong)], ", or ")
	if n > maxWrong {
		text += fmt.Sprintf(", or %d more", n-maxWrong)
	}
	return text
}

// lines tell of the first element that differs.
func (d *Difference) lines(file string) []string {
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
	lines = append(lines, wrapped("order here: "+order, columns-len("#          "), "  ", "    ")...)
	if d.Switch {
		lines = append(lines, "  a switch combines some of these, in an order that is not published")
	}
	switch {
	case d.Tried == nil:
		return lines
	case len(d.Gives) == 0:
		text := "none gives " + d.Theirs.Bits + ": " + strings.Join(d.Tried, ", ")
		return append(lines, wrapped(text, columns-len("#          "), "  ", "    ")...)
	}
	theirs := d.Theirs.Bits
	if d.Sample > 1 {
		theirs += fmt.Sprintf(", and theirs in the next %s,", plural(d.Sample-1, "element"))
	}
	for i, one := range d.Gives {
		if i == maxWrong {
			return append(lines, fmt.Sprintf("  and %d more would", len(d.Gives)-i))
		}
		lines = append(lines, wrapped(theirs+" would come of "+one,
			columns-len("#          "), "  ", "    ")...)
	}
	return lines
}

// wrapped breaks a text at blanks into lines of at most width, with what stands before the first
// and before the others.
func wrapped(text string, width int, first, next string) (lines []string) {
	line := first
	for i, word := range strings.Split(text, " ") {
		switch {
		case i == 0 || line == next:
			line += word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			lines = append(lines, line)
			line = next + word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
