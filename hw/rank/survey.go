package rank

import (
	"collsim/hw"
	"collsim/schedule"
)

// A survey summarizes a whole schedule for the coordinator.
type survey struct {
	peers  [][]int32 // of every rank: those that it communicates with, rising
	size   []size    // of every rank's program
	reload bool      // a step writes to an input

	ends  map[hw.Connection]ends
	order []hw.Connection // of ends
}

// A size counts what a rank records in one run of its program.
type size struct {
	lanes           int
	steps, messages int64 // sub-steps; a message counts at both ends
}

// An ends value counts the messages at both ends of a connection.
type ends struct{ sent, received int64 }

// look surveys all programs. It refuses a connection whose ends count different numbers of
// messages: a run could not end, or would leave messages behind.
func look(s *schedule.Schedule) (*survey, error) {
	n := s.Spec.Ranks
	talk := make([]bool, n*n)
	v := &survey{peers: make([][]int32, n), size: make([]size, n), ends: map[hw.Connection]ends{}}
	var step schedule.Step
	for rank := range n {
		v.reload = v.reload || s.Tensors == nil && s.SpecOf(rank).InPlace
		p := s.Program(rank)
		meet := func(other int32) {
			if other >= 0 && int(other) < n && int(other) != rank {
				talk[rank*n+int(other)], talk[int(other)*n+rank] = true, true
			}
		}
		v.size[rank].lanes = p.Lanes()
		for lane := range p.Lanes() {
			for c := p.Walk(lane); !c.Done(); c.Next(1) {
				p.Load(&c, &step)
				named(&step, meet)
				v.note(rank, lane, &step, int64(p.Slices(lane)))
				v.writes(s, schedule.Spot{Rank: rank, Part: p.Part(lane)}, &step)
			}
		}
	}
	for i, yes := range talk {
		if yes {
			v.peers[i/n] = append(v.peers[i/n], int32(i%n))
		}
	}
	return v, v.unequal()
}

// note counts the messages of a step.
func (v *survey) note(rank, lane int, s *schedule.Step, slices int64) {
	if !s.Moves() {
		slices = 1
	}
	z := &v.size[rank]
	z.steps += slices
	add := func(c hw.Connection, sent, received int64) {
		e, known := v.ends[c]
		if !known {
			v.order = append(v.order, c)
		}
		v.ends[c] = ends{e.sent + sent, e.received + received}
		z.messages += sent + received
	}
	for i := range s.From {
		if f := &s.From[i]; f.Kind == schedule.Message {
			add(hw.ConnectionFrom(rank, lane, &f.Peer), 0, slices)
		}
	}
	for i := range s.Send {
		d := &s.Send[i]
		if d.Message() {
			add(hw.ConnectionTo(rank, lane, &d.Peer), slices, 0)
		}
	}
}

// writes notes whether a step writes to a rank's input or a given tensor.
func (v *survey) writes(s *schedule.Schedule, where schedule.Spot, step *schedule.Step) {
	isGiven := func(r *schedule.Region) {
		if v.reload {
			return
		}
		b := r.Buffer
		if s.Tensors != nil {
			b, _ = s.Locate(where, b)
		}
		t := s.Tensor(b)
		v.reload = b == schedule.Input || t != nil && t.Role.IsGiven()
	}
	for i := range step.To {
		isGiven(&step.To[i])
	}
	for i := range step.Send {
		if step.Send[i].Lands() {
			isGiven(&step.Send[i].Region)
		}
	}
}

// unequal returns the error of the first connection whose ends do not match.
func (v *survey) unequal() error {
	for _, c := range v.order {
		e := v.ends[c]
		switch left := e.sent - e.received; {
		case left > 0:
			return hw.Malformed(int(c.From), int(c.FromLane), -1, "to rank %d lane %d: %d more sent than "+
				"are received", c.To, c.ToLane, left)
		case left < 0:
			return hw.Malformed(int(c.To), int(c.ToLane), -1, "from rank %d lane %d: %d more awaited than "+
				"are sent", c.From, c.FromLane, -left)
		}
	}
	return nil
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
