package trace

import "collsim/unit"

// Part returns what some ranks did from one time to another, which becomes 0 … to − from. Steps
// that reach out of it are cut. Messages stay where both of their steps do. Counters of links are
// left out.
//
// REQUIRES: the trace is sorted and has no Repeats; 0 <= from < to.
func (t *Trace) Part(has func(rank int32) bool, from, to unit.Time) *Trace {
	c := &cutter{Trace: t, has: has, from: from, to: min(to, t.End),
		tracks: make([]int32, len(t.Tracks)), steps: make([]int32, len(t.Intervals))}
	c.part.End = max(0, c.to-c.from)
	for n, k := range t.Tracks {
		if c.tracks[n] = -1; has(k.Rank) {
			c.tracks[n] = int32(len(c.part.Tracks))
			c.part.Tracks = append(c.part.Tracks, k)
		}
	}
	c.cutSteps()
	c.cutMessages()
	c.cutGPU()
	c.part.Sort()
	return &c.part
}

// cutter makes a part of a trace.
type cutter struct {
	*Trace
	part     Trace
	has      func(rank int32) bool
	from, to unit.Time
	tracks   []int32 // of the part, by those of the trace; −1: left out
	steps    []int32 // numbers on their tracks, from 1, by intervals of the trace; 0: left out
}

// at returns a time of the part.
func (c *cutter) at(t unit.Time) unit.Time { return min(max(t, c.from), c.to) - c.from }

// cutSteps adds the steps that are at work in the time, or without length and within it.
func (c *cutter) cutSteps() {
	last := make([]int32, len(c.part.Tracks))
	for n, i := range c.Intervals {
		touches := i.End > c.from && i.Start < c.to ||
			i.Start == i.End && c.from <= i.Start && i.End <= c.to
		if i.Track = c.tracks[i.Track]; i.Track < 0 || !touches {
			continue
		}
		i.Ready, i.Start, i.Done, i.End = c.at(i.Ready), c.at(i.Start), c.at(i.Done), c.at(i.End)
		last[i.Track]++
		c.steps[n] = last[i.Track]
		c.part.Intervals = append(c.part.Intervals, i)
	}
}

// cutMessages adds the messages whose steps the part has.
func (c *cutter) cutMessages() {
	first := make([]int, len(c.Tracks)) // interval of each track
	for n := len(c.Intervals) - 1; n >= 0; n-- {
		first[c.Intervals[n].Track] = n
	}
	step := func(track, n int32) int32 {
		if n == 0 || c.tracks[track] < 0 {
			return 0
		}
		return c.steps[first[track]+int(n)-1]
	}
	for _, m := range c.Messages {
		m.FromStep, m.ToStep = step(m.From, m.FromStep), step(m.To, m.ToStep)
		if m.FromStep == 0 || m.ToStep == 0 {
			continue
		}
		m.From, m.To = c.tracks[m.From], c.tracks[m.To]
		m.Sent, m.Arrived = c.at(m.Sent), c.at(m.Arrived)
		c.part.Messages = append(c.part.Messages, m)
	}
}

// cutGPU adds rows, brackets and the levels of GPUs.
func (c *cutter) cutGPU() {
	p, rows := &c.part, make([]int32, len(c.Rows))
	for n, r := range c.Rows {
		if rows[n] = -1; c.has(r.Rank) {
			rows[n] = int32(len(p.Rows))
			p.Rows = append(p.Rows, r)
		}
	}
	for _, b := range c.Brackets {
		if b.Row = rows[b.Row]; b.Row < 0 || b.End <= c.from || b.Start >= c.to {
			continue
		}
		b.Track = c.tracks[b.Track]
		b.Issued, b.Ready, b.Start, b.End = c.at(b.Issued), c.at(b.Ready), c.at(b.Start), c.at(b.End)
		waits := b.Waits
		b.Waits = nil
		for _, w := range waits {
			if w.From, w.To = c.at(w.From), c.at(w.To); w.From < w.To {
				b.Waits = append(b.Waits, w)
			}
		}
		p.Brackets = append(p.Brackets, b)
	}
	for _, list := range c.SMs {
		p.SMs = append(p.SMs, c.levels(list))
	}
	for _, one := range c.Memories {
		p.Memories = append(p.Memories, one.part(c.from, c.to))
	}
}

// levels returns the levels within the time; the last before it holds at its beginning.
func (c *cutter) levels(list []Level) (part []Level) {
	for _, l := range list {
		if l.At > c.to {
			break
		}
		l.At = c.at(l.At)
		if n := len(part) - 1; n >= 0 && part[n].At == l.At {
			part[n] = l
			continue
		}
		part = append(part, l)
	}
	return part
}

// part returns what a counter counts from one time to another.
func (c Counter) part(from, to unit.Time) Counter {
	_, begun := c.at(from)
	ends, _ := c.at(to)
	p := Counter{Name: c.Name, Samples: []Sample{{0, 0}}}
	for _, s := range c.Samples {
		if s.At > from && s.At < to {
			p.Samples = append(p.Samples, Sample{s.At - from, s.Value - begun})
		}
	}
	p.Samples = append(p.Samples, Sample{to - from, ends - begun})
	return p
}
