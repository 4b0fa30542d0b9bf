package host

import (
	"context"
	"time"

	"collsim/unit"
)

// pings is how often the coordinator asks a rank for its clock; the quickest answer counts.
const pings = 16

// synchronize measures how far every rank's clock is behind the coordinator's: the rank read it
// somewhere between question and answer, so the middle is wrong by half their distance at most
// (Cristian, "Probabilistic clock synchronization", 1989). Where the wall clocks of both say the
// same to within that, they are taken for one clock, which on one machine they are: then the
// timelines of processes line up better than any message could tell.
func (w *crew) synchronize(ctx context.Context) error {
	for _, h := range w.hands {
		wall := h.hello.Wall - unit.Time(w.since.UnixNano())
		wall *= unit.Nanosecond
		best := unit.Forever
		for range pings {
			asked := w.now()
			h.channel.send(order{Kind: orderPing})
			reports, err := w.await(ctx, reportPong, []*hand{h})
			if err != nil {
				return err
			}
			answered := w.now()
			if half := (answered - asked + 1) / 2; half < best {
				best = half
				h.offset, h.skew = (asked+answered)/2-reports[h.rank].Clock, half
			}
		}
		if wall-h.offset <= h.skew && h.offset-wall <= h.skew {
			h.offset = wall
		}
	}
	return nil
}

// now is the coordinator's clock.
func (w *crew) now() unit.Time { return unit.Time(time.Since(w.since)) * unit.Nanosecond }
