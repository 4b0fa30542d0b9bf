package trace

import (
	"cmp"
	"math/bits"
	"slices"

	"collsim/unit"
)

// Join returns one trace of two runs on the same tracks. REQUIRES: both are sorted, and on every
// track the second begins no earlier than the first ends.
func Join(a, b *Trace) *Trace {
	t := &Trace{Tracks: a.Tracks, End: max(a.End, b.End)}
	t.Intervals = slices.Concat(a.Intervals, b.Intervals)
	t.Messages = slices.Clone(a.Messages)
	for _, m := range b.Messages {
		if m.FromStep > 0 {
			m.FromStep += int32(len(a.On(m.From)))
		}
		if m.ToStep > 0 {
			m.ToStep += int32(len(a.On(m.To)))
		}
		t.Messages = append(t.Messages, m)
	}
	for i := range a.Counters {
		t.Counters = append(t.Counters, joinCounters(a.Counters[i], b.Counters[i]))
	}
	t.Rows, t.Brackets = a.Rows, slices.Concat(a.Brackets, b.Brackets)
	for i := range a.SMs {
		t.SMs = append(t.SMs, joinLevels(a.SMs[i], b.SMs[i]))
	}
	for i := range a.Memories {
		t.Memories = append(t.Memories, joinCounters(a.Memories[i], b.Memories[i]))
	}
	t.Sort()
	return t
}

// joinLevels appends the levels of a second run. Where the runs overlap on a rank, the second run's
// levels count only after the first's last sample.
func joinLevels(a, b []Level) []Level {
	list := slices.Clone(a)
	for _, l := range b {
		switch last := len(list) - 1; {
		case last >= 0 && l.At < list[last].At:
		case last >= 0 && l.At == list[last].At:
			list[last].Value = max(list[last].Value, l.Value)
		default:
			list = append(list, l)
		}
	}
	return list
}

// joinCounters adds two counters. Its samples are at all times of either, each rounded down to
// whole bytes.
func joinCounters(a, b Counter) Counter {
	c := Counter{Name: a.Name}
	var times []unit.Time
	for _, s := range slices.Concat(a.Samples, b.Samples) {
		times = append(times, s.At)
	}
	slices.SortFunc(times, cmp.Compare)
	for _, at := range slices.Compact(times) {
		before, after := a.at(at)
		earlier, later := b.at(at)
		if before+earlier < after+later { // one of the two jumps
			c.Samples = append(c.Samples, Sample{at, before + earlier})
		}
		c.Samples = append(c.Samples, Sample{at, after + later})
	}
	return c
}

// at returns the total at a time, before and after a jump at that time.
func (c Counter) at(at unit.Time) (before, after unit.Bytes) {
	first, there := slices.BinarySearchFunc(c.Samples, at, func(s Sample, at unit.Time) int {
		return cmp.Compare(s.At, at)
	})
	if there {
		last := first
		for last+1 < len(c.Samples) && c.Samples[last+1].At == at {
			last++
		}
		return c.Samples[first].Value, c.Samples[last].Value
	}
	switch first {
	case 0:
		return 0, 0
	case len(c.Samples):
		return c.Total(), c.Total()
	}
	l, r := c.Samples[first-1], c.Samples[first]
	high, low := bits.Mul64(uint64(r.Value-l.Value), uint64(at-l.At))
	grown, _ := bits.Div64(high, low, uint64(r.At-l.At))
	value := l.Value + unit.Bytes(grown)
	return value, value
}
