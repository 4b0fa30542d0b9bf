package rank

import (
	"context"
	"time"

	"collsim/unit"
)

// A Clock measures the time since it was started.
type Clock struct{ since time.Time }

// StartClock returns a clock that shows 0 now.
func StartClock() Clock { return Clock{time.Now()} }

// Now returns the time since the clock was started.
func (c Clock) Now() unit.Time { return unit.Time(time.Since(c.since)) * unit.Nanosecond }

// pings is the number of clock requests to a worker; the answer with the shortest round trip
// counts.
const pings = 16

// synchronize measures each worker's clock offset (Cristian, "Probabilistic clock synchronization",
// 1989). The worker read its clock between question and answer, so the middle is off by at most
// half the round trip. If the wall clocks agree within that error, they are taken for one clock, as
// on one machine. Timelines of its processes then align better than any message exchange allows.
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
