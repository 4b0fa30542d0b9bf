package hw

import (
	"collsim/schedule"
	"collsim/trace"
	"collsim/unit"
)

// A Connection identifies a connection of a schedule, the same at both ends.
type Connection struct {
	From, FromLane, To, ToLane int32
	Class                      schedule.Class
	Tag                        int32
}

// ConnectionFrom returns the connection on which a rank's lane receives from a peer.
func ConnectionFrom(rank, lane int, p *schedule.Peer) Connection {
	return Connection{From: p.Rank, FromLane: p.Lane, To: int32(rank), ToLane: int32(lane),
		Class: p.Class, Tag: p.Tag}
}

// ConnectionTo returns the connection on which a rank's lane sends to a peer.
func ConnectionTo(rank, lane int, p *schedule.Peer) Connection {
	return Connection{From: int32(rank), FromLane: int32(lane), To: p.Rank, ToLane: p.Lane,
		Class: p.Class, Tag: p.Tag}
}

// Limit returns how many messages the connection buffers, given the slots of class FIFO; 0 is any
// number.
func (c *Connection) Limit(slots int) int {
	switch c.Class {
	case schedule.Pad:
		return 1
	case schedule.Free, schedule.Puts:
		return 0
	}
	return slots
}

// A Stamp records the times of a lane's sub-step. Ready: the previous sub-step had ended. Start:
// its inputs had arrived. Done: its value was computed. End: its effects were complete.
type Stamp struct {
	Ready, Start, Done, End unit.Time
	Bytes                   unit.Bytes
}

// A Mark records when a message left or arrived, and the lane's sub-step, counted from 1.
type Mark struct {
	At   unit.Time
	Step int32
}

// Messages records a connection's messages in order, as seen by one end.
type Messages struct {
	Connection Connection
	Marks      []Mark
}

// A Recording holds a rank's timestamps of a repetition, by the clock of its worker.
type Recording struct {
	Lanes     [][]Stamp // of each lane, in program order
	Sent, Got []Messages
}

// Shift adds to all times of a recording, to convert them to another clock.
func (r *Recording) Shift(by unit.Time) {
	for _, lane := range r.Lanes {
		for i := range lane {
			s := &lane[i]
			s.Ready, s.Start, s.Done, s.End = s.Ready+by, s.Start+by, s.Done+by, s.End+by
		}
	}
	for _, flows := range [][]Messages{r.Sent, r.Got} {
		for _, f := range flows {
			for i := range f.Marks {
				f.Marks[i].At += by
			}
		}
	}
}

// Timeline merges the recordings of all ranks into a trace; programs ran the given number of
// iterations. All times are by one clock whose 0 is no later than the first interval. Clock skew
// between machines may let a message arrive before it was sent: it then arrives when it is sent.
func Timeline(s *schedule.Schedule, iterations int, ranks []Recording) *trace.Trace {
	t := &trace.Trace{}
	first := make([]int32, len(ranks))
	for rank := range ranks {
		p := s.Program(rank)
		first[rank] = int32(len(t.Tracks))
		for lane, stamps := range ranks[rank].Lanes {
			track := int32(len(t.Tracks))
			t.Tracks = append(t.Tracks, trace.Track{Rank: int32(rank), Lane: int32(lane)})
			for range iterations {
				l := laneWalk{program: p, cursor: p.Walk(lane), slices: int32(p.Slices(lane)), track: track}
				for ; len(stamps) > 0 && !l.cursor.Done(); stamps = stamps[1:] {
					t.Intervals = append(t.Intervals, l.interval(stamps[0]))
				}
			}
		}
	}
	t.Messages = messages(ranks, first)
	for i := range t.Intervals {
		t.End = max(t.End, t.Intervals[i].End)
	}
	for i := range t.Messages {
		t.End = max(t.End, t.Messages[i].Arrived)
	}
	t.Sort()
	return t
}

// A laneWalk describes the sub-steps of a lane, one after the other.
type laneWalk struct {
	program *schedule.Program
	cursor  schedule.Cursor
	slices  int32
	track   int32
	step    schedule.Step
}

// interval returns the next sub-step with its stamp, described as the simulator describes it.
func (l *laneWalk) interval(at Stamp) trace.Interval {
	s := &l.step
	l.program.Load(&l.cursor, s)
	v := trace.Interval{Track: l.track, Verb: trace.Verb(s.Verb()), Chunk: int32(s.Chunk()),
		Slice: l.cursor.Slice(), Round: s.Round, Peer: -1, Bytes: at.Bytes,
		Ready: at.Ready, Start: at.Start, Done: at.Done, End: at.End}
	if !s.Moves() {
		v.Verb = 0
	}
	v.Kind = v.Verb.Kind()
	if s.Kernel != nil {
		v.Kind = trace.Compute
	}
	for i := range s.From {
		if f := &s.From[i]; (f.Kind == schedule.Message || f.Kind == schedule.Get) && v.Peer < 0 {
			v.Peer = f.Peer.Rank
		}
	}
	if len(s.Send) > 0 && s.Send[0].Team == nil {
		v.Peer = s.Send[0].Peer.Rank
	}
	l.cursor.Next(l.slices)
	return v
}

// messages pairs the k-th message sent on a connection with the k-th received.
func messages(ranks []Recording, first []int32) (all []trace.Message) {
	sent := map[Connection][]Mark{}
	for _, r := range ranks {
		for _, f := range r.Sent {
			sent[f.Connection] = f.Marks
		}
	}
	stamp := func(rank, lane, step int32) Stamp { return ranks[rank].Lanes[lane][step-1] }
	for _, r := range ranks {
		for _, f := range r.Got {
			c, marks := f.Connection, sent[f.Connection]
			for i, got := range f.Marks[:min(len(f.Marks), len(marks))] {
				left := marks[i]
				all = append(all, trace.Message{
					From: first[c.From] + c.FromLane, To: first[c.To] + c.ToLane,
					Sent: left.At, Arrived: max(left.At, got.At),
					Bytes:    stamp(c.From, c.FromLane, left.Step).Bytes,
					FromStep: left.Step, ToStep: got.Step})
			}
		}
	}
	return all
}
