package plots

import (
	"fmt"

	"collsim/internal/prose"
	"collsim/trace"
	"collsim/unit"
)

// bar is one step of a row, or several merged ones.
type bar struct {
	x0, x1 length
	paint  int
	label  string // "" where no label fits
	low    bool   // half as high
	hint   string // what a viewer shows
}

// level is the share of something that is busy for a time, from 0 to 1.
type level struct {
	x0, x1 length
	share  float64
}

// makeBars turns the steps of each row into bars. longest is the result of the picture's
// longestLabels. It returns the number of steps that are hidden in merged bars.
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
			b.hint = p.hintOf(i)
			p.seen.step(b.paint, b.label)
			m.bars = append(m.bars, b)
		}
		m.flush()
		p.bars = append(p.bars, m.bars)
		merged += m.merged
	}
	return merged
}

// hintOf describes a step: its rank and lane, what it does, its chunk, peer and size, and when.
func (p *panel) hintOf(i trace.Interval) string {
	if p.format != SVG {
		return ""
	}
	k := p.trace.Tracks[i.Track]
	text := fmt.Sprintf("rank %d, ", k.Rank)
	if p.of.content(i.Track) == ofBrackets {
		text += k.Name + ": " + p.of.labels(i, false)[0]
	} else {
		text += fmt.Sprintf("lane %d: %s", k.Lane, i.Name())
		if i.Chunk >= 0 {
			text += fmt.Sprintf(", chunk %d", i.Chunk)
		}
		if i.Peer >= 0 {
			text += fmt.Sprintf(", peer rank %d", i.Peer)
		}
		if i.Bytes > 0 {
			text += ", " + i.Bytes.String()
		}
	}
	text += fmt.Sprintf(", %v to %v", i.Start, i.End)
	if i.Start > i.Ready {
		text += fmt.Sprintf(", after waiting %v", i.Start-i.Ready)
	}
	return text
}

// makeLevels collects the levels of each row that shows any. Neighbours that alone are too narrow
// to be seen are drawn as their mean.
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

// levelsOn joins successive intervals until they are wide enough to be seen. The level of each
// group is their mean, weighted by time, as a share of wholeLevel.
func (p *panel) levelsOn(steps []trace.Interval) (list []level) {
	for n := 0; n < len(steps); {
		from, sum := steps[n].Start, 0.0
		to := from
		for n < len(steps) && (to == from || p.x(steps[n].End)-p.x(from) < barLeast) {
			// float64 rounds the product: no machine fuses it with the addition.
			sum += float64(float64(steps[n].Bytes) * float64(steps[n].End-steps[n].Start))
			to = steps[n].End
			n++
		}
		list = append(list, level{p.x(from), max(p.x(to), p.x(from)+barLeast),
			sum / float64(to-from) / wholeLevel})
	}
	return list
}

// longestLabels returns the labels of an imaginary step, each at least as long as the same label of
// any step.
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

// fitting returns the first label for which there is room, or "". It requires room for the longest
// label of that kind: bars of equal width then show the same kind of label, whatever their numbers.
func (p *picture) fitting(labels, longest []string, width length) string {
	for n, label := range labels {
		if p.faces.small.room(longest[len(longest)-len(labels)+n]) <= width {
			return label
		}
	}
	return ""
}

// merger merges neighbouring steps that alone are too narrow to be seen.
type merger struct {
	*panel
	bars   []bar
	merged int

	steps  int // number of steps in the bar in progress
	x0, x1 length
	time   []unit.Time // by paint, in that bar
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

// flush ends the bar in progress. Its paint is that with most of the time, or with most steps where
// none takes time.
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
	m.bars = append(m.bars, bar{x0: m.x0, x1: max(m.x1, m.x0+barLeast), paint: most,
		hint: prose.Plural(m.steps, "step") + " too narrow to be seen"})
	m.seen.step(most, "")
	clear(m.time)
	clear(m.count)
	m.steps = 0
}
