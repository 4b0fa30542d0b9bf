package fold

import (
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// script holds what the ranks of a kind do, as far as it takes time: their lanes' sub-steps. A peer
// is named by its place among a rank's peers.
type script struct {
	kind
	lanes     [][]substep
	ins, outs []wire
}

// substep is a sub-step.
type substep struct {
	bytes    unit.Bytes
	cost     unit.Time // D − S
	receives []int32   // of script.ins
	sends    []int32   // of script.outs
	awaits   []schedule.Event
	isPost   bool
}

// wire is an end of a connection, as seen from its rank.
type wire struct {
	place     int32 // of the peer
	near, far int32 // lanes
	tag       int32
}

// scripts compiles the programs of all kinds of ranks. If one cannot be simulated, it returns why.
func scripts(s *schedule.Schedule, rules *model.Rules, kinds []kind) (list []script, why string) {
	written := 0
	for _, of := range kinds {
		p := s.ProgramOfRole(int(of.role))
		x := script{kind: of, lanes: make([][]substep, p.Lanes())}
		for lane := range x.lanes {
			if why := x.write(rules, p, lane); why != "" {
				return nil, why
			}
			written += len(x.lanes[lane])
		}
		if list = append(list, x); written > mostWritten {
			return nil, "ranks that differ have too many steps"
		}
	}
	return list, ""
}

// write writes down what a lane does.
func (x *script) write(rules *model.Rules, p *schedule.Program, lane int) (why string) {
	var step schedule.Step
	slices := int32(rules.Schedule.Slices)
	for c := p.Walk(lane); !c.Done(); c.Next(slices) {
		p.Load(&c, &step)
		where := schedule.Spot{Rank: p.Rank(), Channel: p.Channel(lane), Slice: int(c.Slice())}
		n, known := rules.Size(where, &step)
		if !known {
			return "a step does not say what it moves"
		}
		a := substep{bytes: n, cost: rules.Cost(x.rank, &step, n),
			isPost: step.Post && c.Last(slices)}
		if c.Slice() == 0 {
			a.awaits = append(a.awaits, step.Await...)
		}
		for i := range step.From {
			if step.From[i].Kind == schedule.Message {
				a.receives = append(a.receives, x.end(&x.ins, lane, &step.From[i].Peer))
				why = refusal(a.receives, &step.From[i].Peer, why)
			}
		}
		for i := range step.Send {
			d := &step.Send[i]
			a.sends = append(a.sends, x.end(&x.outs, lane, &d.Peer))
			if why = refusal(a.sends, &d.Peer, why); d.Framing() != schedule.Bare || d.Relaxed {
				why = "a message is none that it knows"
			}
		}
		x.lanes[lane] = append(x.lanes[lane], a)
		if len(x.lanes[lane]) > mostActions {
			why = "a lane has too many steps"
		}
		if why != "" {
			return why
		}
	}
	return ""
}

// What is kept of a lane, and of all kinds of ranks, is bounded.
const (
	mostActions = 1 << 16
	mostWritten = 1 << 21
)

// refusal returns why a script cannot hold the last of a step's messages. ends lists their ends, of
// script.ins or script.outs, and p is the last one's peer. A script takes one message a connection
// in a step, and FIFO only. Where nothing speaks against the message, refusal returns why, the
// reason found before it.
func refusal(ends []int32, p *schedule.Peer, why string) string {
	last := len(ends) - 1
	for _, other := range ends[:last] {
		if other == ends[last] {
			return "a step has two messages of one connection"
		}
	}
	if p.Class != schedule.FIFO {
		return "a message is none that it knows"
	}
	return why
}

// end returns the index of a connection's end, which it appends to the list if it is new.
func (x *script) end(list *[]wire, lane int, p *schedule.Peer) int32 {
	w := wire{p.Rank, int32(lane), p.Lane, p.Tag}
	for i := range *list {
		if (*list)[i] == w {
			return int32(i)
		}
	}
	*list = append(*list, w)
	return int32(len(*list) - 1)
}

// find returns the index of the end that is connected to other. The rank of other is the peer at
// this place. It returns −1 if there is none.
func find(list []wire, place int32, other wire) int32 {
	for i, w := range list {
		if w == (wire{place, other.far, other.near, other.tag}) {
			return int32(i)
		}
	}
	return -1
}
