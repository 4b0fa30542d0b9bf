package host

import (
	"collsim/hw"
	"collsim/schedule"
)

// survey is what the coordinator must know of a whole schedule before it hands it out.
type survey struct {
	peers [][]int32 // of every rank, in order: those that it talks with
	ends  map[hw.Connection]uint8
	order []hw.Connection // of ends
}

// The ends of a connection that steps have named.
const (
	sends    uint8 = 1
	receives uint8 = 2
)

// look walks all programs. A connection with one end only is refused, as in shared memory.
func look(s *schedule.Schedule) (*survey, error) {
	n := s.Spec.Ranks
	talk := make([]bool, n*n)
	v := &survey{peers: make([][]int32, n), ends: map[hw.Connection]uint8{}}
	var step schedule.Step
	for rank := range n {
		p := s.Program(rank)
		meet := func(other int32) {
			if other >= 0 && int(other) < n && int(other) != rank {
				talk[rank*n+int(other)], talk[int(other)*n+rank] = true, true
			}
		}
		for i := range p.Lanes() {
			l := &lane{player: &player{rank: int32(rank)}, index: i}
			for c := p.Walk(i); !c.Done(); c.Next(1) {
				p.Load(&c, &step)
				named(&step, meet)
				v.note(l, &step)
			}
		}
	}
	for i, yes := range talk {
		if yes {
			v.peers[i/n] = append(v.peers[i/n], int32(i%n))
		}
	}
	return v, v.oneEnded()
}

// note notes the connections that a step names.
func (v *survey) note(l *lane, s *schedule.Step) {
	add := func(c hw.Connection, end uint8) {
		if v.ends[c] == 0 {
			v.order = append(v.order, c)
		}
		v.ends[c] |= end
	}
	for i := range s.From {
		if s.From[i].Kind == schedule.Message {
			add(l.from(&s.From[i].Peer), receives)
		}
	}
	for i := range s.Send {
		if s.Send[i].Message() {
			add(l.to(&s.Send[i].Peer), sends)
		}
	}
}

// oneEnded reports a connection on which messages are sent and not received, or the other way.
func (v *survey) oneEnded() error {
	for _, end := range []uint8{sends, receives} {
		for _, c := range v.order {
			if v.ends[c] == end {
				return oneEnded(c, end)
			}
		}
	}
	return nil
}

// oneEnded is the error of a connection that has this end only.
func oneEnded(c hw.Connection, end uint8) error {
	if end == sends {
		p := &player{rank: c.From}
		return p.errorf(int(c.FromLane), -1, "messages to rank %d lane %d are never received", c.To,
			c.ToLane)
	}
	p := &player{rank: c.To}
	return p.errorf(int(c.ToLane), -1, "messages from rank %d lane %d never come", c.From, c.FromLane)
}

// named calls f with every rank that a step names.
func named(s *schedule.Step, f func(rank int32)) {
	for i := range s.From {
		switch from := &s.From[i]; from.Kind {
		case schedule.Message, schedule.Get:
			f(from.Peer.Rank)
		case schedule.Multimem:
			for _, rank := range from.Team {
				f(rank)
			}
		}
	}
	for i := range s.Send {
		to := &s.Send[i]
		if to.Team == nil {
			f(to.Peer.Rank)
		}
		for _, rank := range to.Team {
			f(rank)
		}
	}
}
