package plots

import (
	"collsim/trace"
	"collsim/unit"
)

// bar is one or more steps of a row.
type bar struct {
	x0, x1 length
	paint  int
	label  string // "" where none fits
	low    bool   // half as high
}

// level is how much is at work, from 0 to 1.
type level struct {
	x0, x1 length
	share  float64
}

// makeBars turns the steps of each row into bars. Longest is what the picture's longestLabels
// returned. It returns how many steps are hidden in a bar of several.
func (p *panel) makeBars(longest []string) (merged int) {
	for _, r := range p.rows {
		m := merger{panel: p, time: make([]unit.Time, kindCount+len(p.ops)),
			count: make([]int, kindCount+len(p.ops))}
		if p.of.content(r.track) == ofLevels {
			p.bars = append(p.bars, nil)
			continue
		}
		for _, i := range p.trace.On(r.track) {
			x0, x1 := p.x(i.Start), p.x(i.End)
			p.seen.waiting = p.seen.waiting || x0-p.x(i.Ready) >= barLeast
			if x1-x0 < barLeast {
				m.add(i, x0, x1)
				continue
			}
			m.flush()
			b := bar{x0: x0, x1: x1, paint: p.of.paint(i), low: p.of.isLow(i)}
			switch labels := p.of.labels(i, p.sliced); {
			case b.low:
				p.seen.low = true
			case p.of.content(i.Track) == ofBrackets:
				b.label = p.fitting(labels, labels, x1-x0-2)
			default:
				b.label = p.fitting(labels, longest, x1-x0-2)
			}
			p.seen.step(b.paint, b.label)
			m.bars = append(m.bars, b)
		}
		m.flush()
		p.bars = append(p.bars, m.bars)
		merged += m.merged
	}
	return merged
}

// makeLevels finds what rows show that have levels. Those that alone are too narrow to be seen are
// drawn as their mean.
func (p *panel) makeLevels() {
	for _, r := range p.rows {
		var list []level
		if p.of.content(r.track) == ofLevels {
			p.seen.levels = true
			list = p.levelsOn(p.trace.On(r.track))
		}
		p.levels = append(p.levels, list)
	}
}

func (p *panel) levelsOn(steps []trace.Interval) (list []level) {
	for n := 0; n < len(steps); {
		from, sum := steps[n].Start, 0.0
		to := from
		for n < len(steps) && (to == from || p.x(steps[n].End)-p.x(from) < barLeast) {
			sum += float64(float64(steps[n].Bytes) * float64(steps[n].End-steps[n].Start))
			to = steps[n].End
			n++
		}
		list = append(list, level{p.x(from), max(p.x(to), p.x(from)+barLeast),
			sum / float64(to-from) / wholeLevel})
	}
	return list
}

// longestLabels returns the labels of a step that are as long as those of any.
func (p *picture) longestLabels() []string {
	longest := trace.Interval{Kind: trace.Compute} // "C" is the widest letter
	for _, panel := range p.panels {
		for _, i := range panel.trace.Intervals {
			if panel.of.content(i.Track) != ofLane {
				continue
			}
			longest.Chunk, longest.Slice = max(longest.Chunk, i.Chunk), max(longest.Slice, i.Slice)
		}
	}
	return stepLabels(longest, p.sliced)
}

// fitting returns the first label for whose kind there is room, or "". The longest label of the
// kind must have room: bars of the same width shall tell as much, whatever the number in them.
func (p *picture) fitting(labels, longest []string, width length) string {
	for n, label := range labels {
		if p.faces.small.room(longest[len(longest)-len(labels)+n]) <= width {
			return label
		}
	}
	return ""
}

// merger draws neighbours together that alone are too narrow to be seen.
type merger struct {
	*panel
	bars   []bar
	merged int

	steps  int // in the bar that is being made
	x0, x1 length
	time   []unit.Time // of each paint in it
	count  []int
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
	m.time[m.of.paint(i)] += i.End - i.Start
	m.count[m.of.paint(i)]++
}

// flush ends the bar that is being made. It has the colour of the kind with most of the time, or
// of most steps, where none takes time.
func (m *merger) flush() {
	if m.steps == 0 {
		return
	}
	most := 0
	for k := range m.time {
		if m.time[k] > m.time[most] || m.time[k] == m.time[most] && m.count[k] > m.count[most] {
			most = k
		}
	}
	if m.steps > 1 {
		m.merged += m.steps
	}
	m.bars = append(m.bars, bar{x0: m.x0, x1: max(m.x1, m.x0+barLeast), paint: most})
	m.seen.step(most, "")
	clear(m.time)
	clear(m.count)
	m.steps = 0
}
