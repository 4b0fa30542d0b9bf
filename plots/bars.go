package plots

import (
	"collsim/trace"
	"collsim/unit"
)

// bar is one or more steps of a row.
type bar struct {
	x0, x1 length
	kind   trace.Kind
	label  string // "" where none fits
}

// makeBars turns the steps of each row into bars. Longest is what the picture's longestLabels
// returned. It returns how many steps are hidden in a bar of several.
func (p *panel) makeBars(longest []string) (merged int) {
	for _, r := range p.rows {
		m := merger{picture: p.picture}
		for _, i := range p.trace.On(r.track) {
			x0, x1 := p.x(i.Start), p.x(i.End)
			p.seen.waiting = p.seen.waiting || x0-p.x(i.Ready) >= barLeast
			if x1-x0 < barLeast {
				m.add(i, x0, x1)
				continue
			}
			m.flush()
			label := p.fitting(stepLabels(i, p.sliced), longest, x1-x0-2)
			p.seen.step(i.Kind, label)
			m.bars = append(m.bars, bar{x0, x1, i.Kind, label})
		}
		m.flush()
		p.bars = append(p.bars, m.bars)
		merged += m.merged
	}
	return merged
}

// longestLabels returns the labels of a step that are as long as those of any.
func (p *picture) longestLabels() []string {
	longest := trace.Interval{Kind: trace.Compute} // "C" is the widest letter
	for _, panel := range p.panels {
		for _, i := range panel.trace.Intervals {
			longest.Chunk, longest.Slice = max(longest.Chunk, i.Chunk), max(longest.Slice, i.Slice)
		}
	}
	return stepLabels(longest, p.sliced)
}

// fitting returns the first label for whose kind there is room, or "". The longest label of the
// kind must have room: bars of the same width shall tell as much, whatever the number in them.
func (p *picture) fitting(labels, longest []string, width length) string {
	for n, label := range labels {
		if p.faces.small.Width(longest[len(longest)-len(labels)+n]) <= width {
			return label
		}
	}
	return ""
}

// merger draws neighbours together that alone are too narrow to be seen.
type merger struct {
	*picture
	bars   []bar
	merged int

	steps  int // in the bar that is being made
	x0, x1 length
	time   [6]unit.Time // of each kind in it
	count  [6]int
}

func (m *merger) add(i trace.Interval, x0, x1 length) {
	if m.steps > 0 && x1-m.x0 > barLeast {
		m.flush()
	}
	if m.steps == 0 {
		m.x0 = x0
	}
	m.steps++
	m.x1 = x1
	m.time[i.Kind] += i.End - i.Start
	m.count[i.Kind]++
}

// flush ends the bar that is being made. It has the colour of the kind with most of the time, or
// of most steps, where none takes time.
func (m *merger) flush() {
	if m.steps == 0 {
		return
	}
	most := trace.Send
	for _, k := range kinds() {
		if m.time[k] > m.time[most] || m.time[k] == m.time[most] && m.count[k] > m.count[most] {
			most = k
		}
	}
	if m.steps > 1 {
		m.merged += m.steps
	}
	m.bars = append(m.bars, bar{m.x0, max(m.x1, m.x0+barLeast), most, ""})
	m.seen.step(most, "")
	*m = merger{picture: m.picture, bars: m.bars, merged: m.merged}
}
