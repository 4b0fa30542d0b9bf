package plots

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"collsim/trace"
	"collsim/unit"
)

// TextOptions select how timelines are written as text. The zero value is the default.
type TextOptions struct {
	Width int  // of a line, 40 to 1000 columns; 0: 80, a terminal
	Rows  int  // the most lanes to show, of all timelines together, 1 to 512; 0: 64
	Each  bool // as in Options
}

// TimelinesText writes runs of the same schedule below each other as lines of ASCII, with rows
// chosen as by Timelines. A bar begins with the letter of the step's kind and its chunk, is filled
// with '-' and ends with '|'; '.' is waiting. A step shorter than a column shows its letter if the
// lane did nothing else in that column; others are counted in a note.
//
// Equal columns are equal times after the start. Each run has a heading; axis, legend and notes are
// common to all. It returns an error if there is no timeline, if one is not valid or if an option
// is out of range.
func TimelinesText(panels []Panel, o TextOptions) (string, error) {
	if o.Width == 0 {
		o.Width = 80
	}
	if o.Width < 40 || o.Width > 1000 {
		return "", fmt.Errorf("width = %d columns: 40 to 1000 is expected", o.Width)
	}
	most, err := checkPanels(panels, o.Rows)
	if err != nil {
		return "", err
	}
	panels, ops := rowTraces(shortened(panels))
	shown, note := rows(panels, most, o.Each)
	label := newTextLabels(shown)
	grid := textGrid{end: latest(panels), columns: o.Width - label.width, sliced: sliced(panels),
		seen: seen{ops: make([]bool, len(ops))}}

	var out strings.Builder
	for n, p := range panels {
		for _, line := range wrapText(p.Heading, o.Width) {
			writeLine(&out, line)
		}
		for _, r := range shown[n] {
			if r.gap {
				out.WriteString("...\n")
			}
			writeLine(&out, label.of(r)+grid.row(&p, r.track))
		}
		if len(p.Trace.Intervals) == 0 {
			writeLine(&out, "no steps")
		}
	}
	writeLine(&out, grid.axis(label.width))
	for _, line := range textLegend(&grid.seen, ops, o.Width) {
		writeLine(&out, line)
	}
	if grid.hidden > 0 {
		writeLine(&out, fmt.Sprintf("steps too short to be seen: %d", grid.hidden))
	}
	if note != "" {
		writeLine(&out, note)
	}
	for _, p := range panels {
		for _, what := range p.repeats {
			for _, line := range wrapText(what, o.Width) {
				writeLine(&out, line)
			}
		}
	}
	return out.String(), nil
}

func writeLine(out *strings.Builder, line string) {
	out.WriteString(strings.TrimRight(line, " "))
	out.WriteByte('\n')
}

// textLabels writes the labels of rows, padded to the same width, and two more columns before the
// bars.
type textLabels struct{ nodes, ranks, lanes, width int }

func newTextLabels(shown [][]row) textLabels {
	var l textLabels
	l.width = 10
	for _, r := range slices.Concat(shown...) {
		l.nodes, l.ranks = max(l.nodes, len(ascii(r.node))), max(l.ranks, len(rankText(r)))
		l.lanes = max(l.lanes, len(laneText(r)))
	}
	if l.ranks > 0 {
		l.width = len(l.of(row{}))
	}
	return l
}

func (l textLabels) of(r row) string {
	label := fmt.Sprintf("%-*s  ", l.ranks, rankText(r))
	if l.nodes > 0 {
		label = fmt.Sprintf("%-*s  ", l.nodes, ascii(r.node)) + label
	}
	if l.lanes > 0 {
		label += fmt.Sprintf("%-*s  ", l.lanes, laneText(r))
	}
	return label
}

func rankText(r row) string { return toASCII(strings.ReplaceAll(r.rank, "×", "x")) }

func laneText(r row) string { return ascii(strings.ReplaceAll(r.lane, "×", "x")) }

// ascii keeps a lane's name to 16 columns of one byte each.
func ascii(name string) string {
	name = toASCII(name)
	return name[:min(len(name), 16)]
}

func toASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}

// wrapText breaks a text into lines of at most a width: between words, and within words that are
// too long.
func wrapText(text string, width int) []string {
	var lines []string
	for _, word := range strings.Fields(text) {
		word = toASCII(word)
		if n := len(lines) - 1; n >= 0 && len(lines[n])+1+len(word) <= width {
			lines[n] += " " + word
			continue
		}
		for ; len(word) > width; word = word[width:] {
			lines = append(lines, word[:width])
		}
		lines = append(lines, word)
	}
	return lines
}

// textGrid maps time to columns. A column covers the time from its own to that of the next.
type textGrid struct {
	end     unit.Time
	columns int
	sliced  bool

	seen   seen // in the rows written so far
	hidden int  // steps that could not be shown
}

// column returns the column of a time: 0 to g.columns, rounded down.
func (g *textGrid) column(t unit.Time) int {
	if g.end == 0 {
		return 0
	}
	return int(float64(t) / float64(g.end) * float64(g.columns))
}

// span returns the columns at which a step's waiting begins, its bar begins, and its bar ends. A
// wait that is shorter than a column is left out: the bar begins where the one before it ended.
func (g *textGrid) span(i trace.Interval) (ready, start, end int) {
	ready, start, end = g.column(i.Ready), g.column(i.Start), g.column(i.End)
	if i.Start-i.Ready < g.end/unit.Time(g.columns) {
		start = ready
	}
	return ready, start, end
}

// row writes the steps of a lane. Steps without a column of their own are written last, so that
// they displace no others.
func (g *textGrid) row(p *Panel, track int32) string {
	cells, steps := bytes.Repeat([]byte{' '}, g.columns), p.Trace.On(track)
	if p.content(track) == ofLevels {
		g.seen.levels = true
		return g.levels(cells, steps)
	}
	write := func(cells []byte, i trace.Interval) {
		labels := p.labels(i, g.sliced)
		if p.content(track) == ofBrackets {
			for n := range labels {
				labels[n] = toASCII(labels[n])
			}
		}
		g.seen.step(p.paint(i), writeBar(cells, labels))
	}
	for _, i := range steps {
		ready, start, end := g.span(i)
		for c := ready; c < start; c++ {
			cells[c] = '.'
		}
		if start < end {
			write(cells[start:end], i)
		}
	}
	for _, i := range steps {
		_, start, end := g.span(i)
		if start < end {
			continue
		}
		start = min(start, g.columns-1)
		if cells[start] != ' ' && cells[start] != '.' {
			g.hidden++
			continue
		}
		write(cells[start:start+1], i)
	}
	g.seen.waiting = g.seen.waiting || bytes.ContainsRune(cells, '.')
	return string(cells)
}

// levels writes the mean busy share in each column: tenths from 1 to 9, # for all.
func (g *textGrid) levels(cells []byte, steps []trace.Interval) string {
	sums := make([]float64, g.columns)
	for _, i := range steps {
		from := float64(i.Start) / float64(g.end) * float64(g.columns)
		to := float64(i.End) / float64(g.end) * float64(g.columns)
		for c := int(from); c < g.columns && float64(c) < to; c++ {
			within := min(to, float64(c+1)) - max(from, float64(c))
			sums[c] += float64(within * float64(i.Bytes) / wholeLevel)
		}
	}
	for c, sum := range sums {
		switch tenths := int(math.Round(sum * 10)); {
		case tenths >= 10:
			cells[c] = '#'
		case tenths > 0 || sum > 0.005:
			cells[c] = byte('0' + max(tenths, 1))
		}
	}
	return string(cells)
}

// writeBar fills the cells of a bar: the longest label that leaves room for the '|' at its end (or
// else the letter), and '-'. It returns the label.
func writeBar(cells []byte, labels []string) string {
	for c := range cells {
		cells[c] = '-'
	}
	cells[len(cells)-1] = '|'
	for _, label := range labels {
		if len(label) < len(cells) || len(label) == 1 {
			copy(cells, label)
			return label
		}
	}
	panic("plots: a step without a letter")
}

// axis writes the time axis: a '|' at each tick, its time beside it, and the unit in the label
// column.
func (g *textGrid) axis(labelWidth int) string {
	a := newAxis(g.end, max(2, g.columns/9))
	line := []byte(fmt.Sprintf("%-*s", labelWidth, "time "+a.scale.name))
	line = append(line[:labelWidth], bytes.Repeat([]byte{' '}, g.columns)...)
	for _, t := range a.ticks() {
		mark := "|" + a.label(t)
		if at := labelWidth + g.column(t); at+len(mark) <= len(line) {
			copy(line[at:], mark)
		}
	}
	return string(line)
}

// textLegend explains the letters in use, in lines of at most a width.
func textLegend(has *seen, ops activities, width int) []string {
	var entries []string
	for _, k := range kinds() {
		if has.kinds[k] {
			entries = append(entries, lookOf(k).letter+" "+lookOf(k).name)
		}
	}
	passes := map[string]bool{}
	for n, one := range ops {
		switch {
		case !has.ops[n]:
		case one.turn == nil:
			entries = append(entries, opLetter(n)+" "+toASCII(one.name))
		case !passes[one.turn.Pass]:
			passes[one.turn.Pass] = true
			entries = append(entries, passLetter(one.turn.Pass)+" "+one.turn.Pass)
		}
	}
	if len(passes) > 0 {
		entries = append(entries, "the number is the microbatch")
	}
	if has.levels {
		entries = append(entries, "1-9 tenths at work, # all")
	}
	if has.waiting {
		entries = append(entries, ". waiting")
	}
	if numbers := has.numbers(); numbers != "" {
		entries = append(entries, numbers)
	}
	var lines []string
	for _, e := range entries {
		if n := len(lines) - 1; n >= 0 && len(lines[n])+3+len(e) <= width {
			lines[n] += "   " + e
		} else {
			lines = append(lines, e)
		}
	}
	return lines
}
