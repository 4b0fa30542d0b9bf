package rank

import (
	"context"
	"time"

	"collsim/unit"
)

// Clock tells the time since it was started.
type Clock struct{ since time.Time }

// StartClock returns a clock that shows 0 now.
func StartClock() Clock { return Clock{time.Now()} }

// Now is the time that the clock shows.
func (c Clock) Now() unit.Time { return unit.Time(time.Since(c.since)) * unit.Nanosecond }

// pings is how often the coordinator asks a worker for its clock; the quickest answer counts.
const pings = 16

// synchronize measures how far every worker's clock is behind the coordinator's: the worker read it
// somewhere between question and answer, so the middle is wrong by half their distance at most
// (Cristian, "Probabilistic clock synchronization", 1989). Where the wall clocks of both say the
// same to within that, they are taken for one clock, which on one machine they are: then the
// timelines of processes line up better than any message could post.
func (s *session) synchronize(ctx context.Context) error {
	for _, m := range s.members {
		if m.here {
			continue // it has this clock
		}
		wall := unit.Time(m.hello.Wall-s.clock.since.UnixNano()) * unit.Nanosecond
		best := unit.Forever
		for range pings {
			asked := s.clock.Now()
			reports, err := s.order(ctx, order{Kind: orderPing}, reportPong, []*member{m})
			if err != nil {
				return err
			}
			answered := s.clock.Now()
			if half := (answered - asked + 1) / 2; half < best {
				best = half
				m.offset, m.skew = (asked+answered)/2-reports[m.worker].Clock, half
			}
		}
		if wall-m.offset <= m.skew && m.offset-wall <= m.skew {
			m.offset = wall
		}
	}
	return nil
}
