package trace

import (
	"fmt"
	"slices"

	"collsim/unit"
)

// Repeat is a part of the time that a trace leaves out, since it repeats the part before it. After
// At, the events of the last Period happen Times more times. No interval begins or ends in the
// omitted part, but a step or a wait may span it. Later intervals keep their true times.
type Repeat struct {
	At, Period unit.Time
	Times      int64
}

// Takes returns the total length of the repetitions.
func (r Repeat) Takes() unit.Time { return r.Period * unit.Time(r.Times) }

// String returns such as "2097100 × 2.00 us".
func (r Repeat) String() string { return fmt.Sprintf("%d × %v", r.Times, r.Period) }

// Short returns the trace with omitted parts shrunk to nothing, for pictures, and the times at
// which they were.
func (t *Trace) Short() (s *Trace, cuts []unit.Time) {
	if len(t.Repeats) == 0 {
		return t, nil
	}
	short := *t
	s = &short
	at := func(x unit.Time) unit.Time {
		// backwards, since an earlier part shifts later ones
		for i := len(t.Repeats) - 1; i >= 0; i-- {
			r := t.Repeats[i]
			x -= min(max(x-r.At, 0), r.Takes())
		}
		return x
	}
	s.End = at(t.End)
	s.Intervals, s.Repeats = slices.Clone(t.Intervals), nil
	for n := range s.Intervals {
		i := &s.Intervals[n]
		i.Ready, i.Start, i.Done, i.End = at(i.Ready), at(i.Start), at(i.Done), at(i.End)
	}
	for _, r := range t.Repeats {
		cuts = append(cuts, at(r.At))
	}
	return s, cuts
}

// Split returns the trace with each step that spans an omitted part cut in two. It adds a row for
// each rank that names the repetitions. It serves outputs with true times.
func (t *Trace) Split() *Trace {
	if len(t.Repeats) == 0 {
		return t
	}
	s := *t
	s.Intervals, s.Rows, s.Brackets, s.Repeats = nil, nil, nil, nil
	for _, i := range t.Intervals {
		for _, r := range t.Repeats {
			from, to := r.At, r.At+r.Takes()
			switch {
			case i.Start < from && i.End > from:
				first := i
				first.Done, first.End = min(i.Done, from), from
				s.Intervals = append(s.Intervals, first)
				i.Ready, i.Start, i.Done = to, to, max(i.Done, to)
				i.Chunk, i.Round = -1, -1 // unknown: they differ between repetitions
			case i.Start >= to:
				i.Ready = max(i.Ready, to)
			}
		}
		s.Intervals = append(s.Intervals, i)
	}
	for n, track := range t.Tracks {
		if n > 0 && t.Tracks[n-1].Rank == track.Rank {
			continue
		}
		for _, r := range t.Repeats {
			s.Brackets = append(s.Brackets, Bracket{Row: int32(len(s.Rows)), Track: int32(n), Lanes: 1,
				Name: r.String(), Issued: r.At, Ready: r.At, Start: r.At, End: r.At + r.Takes()})
		}
		s.Rows = append(s.Rows, Row{Rank: track.Rank, Kind: Repetitions, Called: "left out"})
	}
	return &s
}

// validateRepeats checks that repeats are in order, and that no interval begins or ends in them.
func (t *Trace) validateRepeats() error {
	before := unit.Time(0)
	for n, r := range t.Repeats {
		if r.Period <= 0 || r.Times <= 0 || r.At-r.Period < before || r.Takes() > t.End-r.At {
			return fmt.Errorf("repeat %d: %v at %d ps: it must follow %d ps, and end by %d ps", n,
				r, r.At, before, t.End)
		}
		before = r.At + r.Takes()
		within := func(at unit.Time) bool { return at > r.At && at < before }
		for k, i := range t.Intervals {
			if within(i.Ready) || within(i.Start) || within(i.Done) || within(i.End) {
				return fmt.Errorf("interval %d: it begins or ends in what repeat %d leaves out", k, n)
			}
		}
	}
	return nil
}
