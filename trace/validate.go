package trace

import "fmt"

// Validate checks the invariants of a Trace: tracks, intervals and messages in order; no
// overlapping intervals of a track; times in order and within End; indices within range; totals
// that never fall. The error names the first violation. A trace from a file may be invalid; our
// executors write valid ones.
func (t *Trace) Validate() error {
	if t.End < 0 {
		return fmt.Errorf("end = %d ps: at least 0 is expected", t.End)
	}
	for n, track := range t.Tracks {
		if track.Rank < 0 || track.Lane < 0 {
			return fmt.Errorf("track %d: rank %d lane %d: at least 0 is expected",
				n, track.Rank, track.Lane)
		}
		if n > 0 && compareTracks(t.Tracks[n-1], track) >= 0 {
			return fmt.Errorf("track %d: rank %d lane %d does not follow rank %d lane %d",
				n, track.Rank, track.Lane, t.Tracks[n-1].Rank, t.Tracks[n-1].Lane)
		}
	}
	for n := range t.Intervals {
		if err := t.checkInterval(n); err != nil {
			return fmt.Errorf("interval %d: %w", n, err)
		}
	}
	for n := range t.Messages {
		if err := t.checkMessage(n); err != nil {
			return fmt.Errorf("message %d: %w", n, err)
		}
	}
	for n, c := range t.Counters {
		if err := t.checkCounter(c); err != nil {
			return fmt.Errorf("counter %d (%q): %w", n, c.Name, err)
		}
	}
	if err := t.validateRepeats(); err != nil {
		return err
	}
	return t.validateGPU()
}

func (t *Trace) checkInterval(n int) error {
	i := t.Intervals[n]
	switch {
	case !t.has(i.Track):
		return fmt.Errorf("track %d: there are %d", i.Track, len(t.Tracks))
	case i.Kind > Compute:
		return fmt.Errorf("unknown %v", i.Kind)
	case i.Ready < 0 || i.Ready > i.Start || i.Start > i.Done || i.Done > i.End || i.End > t.End:
		return fmt.Errorf("0 <= ready <= start <= done <= end <= %d ps is expected, "+
			"not %d, %d, %d, %d", t.End, i.Ready, i.Start, i.Done, i.End)
	case i.Bytes < 0:
		return fmt.Errorf("%d bytes: at least 0 is expected", i.Bytes)
	}
	if n == 0 {
		return nil
	}
	switch before := t.Intervals[n-1]; {
	case compareIntervals(before, i) > 0:
		return fmt.Errorf("track %d start %d ps comes after track %d start %d ps",
			i.Track, i.Start, before.Track, before.Start)
	case before.Track == i.Track && before.End > i.Ready:
		return fmt.Errorf("ready at %d ps, while the lane is busy until %d ps", i.Ready, before.End)
	}
	return nil
}

func (t *Trace) checkMessage(n int) error {
	m := t.Messages[n]
	switch {
	case !t.has(m.From) || !t.has(m.To):
		return fmt.Errorf("from track %d to track %d: there are %d", m.From, m.To, len(t.Tracks))
	case m.Sent < 0 || m.Sent > m.Arrived || m.Arrived > t.End:
		return fmt.Errorf("0 <= sent <= arrived <= %d ps is expected, not %d, %d",
			t.End, m.Sent, m.Arrived)
	case m.Bytes < 0:
		return fmt.Errorf("%d bytes: at least 0 is expected", m.Bytes)
	case !t.hasStep(m.From, m.FromStep):
		return fmt.Errorf("sent by step %d of track %d: 0 to %d is expected",
			m.FromStep, m.From, len(t.On(m.From)))
	case !t.hasStep(m.To, m.ToStep):
		return fmt.Errorf("taken by step %d of track %d: 0 to %d is expected",
			m.ToStep, m.To, len(t.On(m.To)))
	case n > 0 && compareMessages(t.Messages[n-1], m) > 0:
		return fmt.Errorf("sent at %d ps, comes after one sent at %d ps",
			m.Sent, t.Messages[n-1].Sent)
	}
	return nil
}

func (t *Trace) has(track int32) bool {
	return track >= 0 && int(track) < len(t.Tracks)
}

// hasStep reports whether a track has its n-th interval; true if n is 0, unknown.
func (t *Trace) hasStep(track, n int32) bool {
	return n == 0 || n > 0 && int(n) <= len(t.On(track))
}
