package event

import (
	"fmt"
	"math/bits"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// CostError is fluid sharing that would take more than a minute. A change of a flow changes the
// levels of links, and with them the rates of the flows on these: so the cost grows with the square
// of the number of flows that go on at once and end apart, where they are all joined.
type CostError struct {
	Seconds  int64      // that the run would take, about
	Messages int64      // that it has to let flow
	Joined   int64      // how many of them a change touches, about
	Segment  unit.Bytes // that fifo is advised with: see SegmentFor
}

// Error says what it would cost and what is cheap.
func (e *CostError) Error() string {
	return fmt.Sprintf("fluid sharing would take about %d s: %d messages, and each that begins "+
		"or ends touches about %d others; sim.sharing = \"fifo\" with sim.segment = \"%v\" does it "+
		"sooner",
		e.Seconds, e.Messages, e.Joined, e.Segment)
}

// SegmentFor returns a segment size with which FIFO sharing comes near to fluid sharing: a
// sixteenth of the largest message, rounded down to a power of two, but at least 4 KiB.
func SegmentFor(largest unit.Bytes) unit.Bytes {
	return max(4*unit.KiB, 1<<bits.Len64(uint64(largest/16))>>1)
}

// The time of a solution goes into visits: of a flow on a link. One takes about 6 ns of processor
// on a server's core where that is much (BenchmarkJittered of 128 to 256 ranks). A run is looked at
// after about a second, and again whenever it has taken twice as long.
const (
	visitPicoseconds = 6_000
	visitsASecond    = 1_000_000_000_000 / visitPicoseconds
	patience         = 60 // seconds
)

// estimate holds the cost and the progress of a run, now and when they were last looked at.
type estimate struct {
	look                      int64 // visits at which to look again; 0: not looked at yet
	total                     int64 // messages that will flow
	largest                   unit.Bytes
	begun, ended              int64
	lastVisits, lastEnded     int64
	lastSolutions, lastJoined int64
}

// affordable returns a *CostError if the run, judged by its cost so far, will take too long. It
// depends on the schedule alone and never on the clock.
func (f *flows) affordable(j *job) error {
	c := &f.spent
	if c.look == 0 {
		c.look = visitsASecond
	}
	if f.Visits < c.look {
		return nil
	}
	if c.total == 0 {
		c.total, c.largest = j.countFlows()
	}
	each := float64(f.Visits-c.lastVisits) / float64(max(c.ended-c.lastEnded, 1))
	ahead := float64(c.total - c.ended)
	if c.begun >= c.total {
		ahead /= 2 // there are fewer and fewer
	}
	seconds := (float64(f.Visits) + float64(each*ahead)) / visitsASecond
	if seconds > patience {
		joined := (f.Joined - c.lastJoined) / max(f.Solutions-c.lastSolutions, 1)
		return &CostError{Seconds: int64(seconds), Messages: c.total, Joined: joined,
			Segment: SegmentFor(c.largest)}
	}
	c.look = 2 * f.Visits
	c.lastVisits, c.lastEnded = f.Visits, c.ended
	c.lastSolutions, c.lastJoined = f.Solutions, f.Joined
	return nil
}

// countFlows walks the whole schedule and counts the messages and gets that carry data, and
// finds the largest as far as steps name what they send.
func (j *job) countFlows() (total int64, largest unit.Bytes) {
	var s schedule.Step
	for _, p := range j.programs {
		for i := range p.Lanes() {
			slices := int64(p.Slices(i))
			for c := p.Walk(i); !c.Done(); c.Next(1) {
				p.Load(&c, &s)
				if !s.Moves() {
					continue
				}
				where := schedule.Spot{Rank: p.Rank(), Channel: p.Channel(i), Part: p.Part(i)}
				if n, known := j.rules.Size(where, &s); known && len(s.Send) > 0 {
					largest = max(largest, n)
				}
				total += slices * int64(len(model.Sent(&s)))
				for k := range s.From {
					if f := s.From[k].Kind; f == schedule.Get || f == schedule.Multimem {
						total += slices
					}
				}
			}
		}
	}
	return total, largest
}
