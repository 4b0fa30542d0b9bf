package collsim

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// jsonComparison is a Comparison in JSON.
type (
	jsonComparison struct {
		File      string          `json:"file"`
		Equal     bool            `json:"equal"`
		Elements  int64           `json:"elements"`
		Different int64           `json:"different"`
		Ranks     int             `json:"different_ranks"`
		First     *jsonDifference `json:"first"`
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
	jsonBits struct {
		Bits  string `json:"bits"`
		Value string `json:"value"`
	}
)

func (c *Comparison) json() *jsonComparison {
	if c == nil {
		return nil
	}
	j := &jsonComparison{File: c.File, Equal: c.Different == 0, Elements: c.Elements,
		Different: c.Different, Ranks: c.Ranks}
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
		if of++; r.Comparison.Different == 0 {
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
		if c == nil || c.Different == 0 {
			continue
		}
		if shown++; shown > maxWrong {
			lines = append(lines, fmt.Sprintf("         and %d more", of-equal-maxWrong))
			break
		}
		lines = append(lines, fmt.Sprintf("compare  DIFFERS: %s: %d of %d elements, on %s, "+
			"from %s", r.Point.ID, c.Different, c.Elements, plural(c.Ranks, "rank"), c.File))
		for _, line := range c.First.lines(c.File) {
			lines = append(lines, "         "+line)
		}
	}
	return lines
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
