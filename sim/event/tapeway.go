package event

import (
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// Where messages are got, put silently or asked for, or where lanes go on before what they send has
// left, a message has more times than those of its links. Room for them is left when its lane sends
// it or asks for it, and they lie there in the order in which they come:
//
//	send    ├ room ┤ behind │ setOut │ data
//	asked   ├ behind │ setOut │ request │ answered │ answer ├ room ┤ data
//	get     ├ request │ data
//	load    ├ request │ data │ arrival      of multimem, under FIFO
//
// The size of a step that does not tell how much it moves lies behind its start, as a time.

// wayTape is how a tape has such messages.
type wayTape struct {
	byWay   bool
	hasPuts bool                 // silent ones
	rooms   [request + 1][]int32 // by kind and route: 1 and how many times there are of a message
}

// parts is how many times there are of each part of a message's way.
type parts struct {
	room     int32 // when the send buffer had room behind it, or no more than when it was handed over
	behind   int32 // when the silent puts before it had left
	setOut   int32 // when it asked for its first link
	request  int32 // of links
	answered int32 // when its receive was posted, and its request there
	answer   int32 // of links
	data     int64 // of links, or when it had left
	arrival  int32 // of the last of a load's data
}

func (p *parts) sum() int64 {
	return int64(p.room+p.behind+p.setOut+p.request+p.answered+p.answer+p.arrival) + p.data
}

// partsOf is what there is of a message whose data put n bytes on links.
func (e *engine) partsOf(x *message, n unit.Bytes) (p parts) {
	if e.streams != nil && x.kind != getRequest && x.kind != copying && x.flags&multimem == 0 {
		p.setOut = 1
		if e.tape.hasPuts && e.backlogs != nil &&
			model.FollowsPuts(x.kind == silent, x.flags&relaxed > 0) {
			p.behind = 1
		}
		if e.buffers() {
			p.room = 1
		}
	}
	route := x.route
	switch x.kind {
	case copying:
		p.data = 1
		return p
	case request:
		p.request, p.answered, p.answer = e.crossings(route), 1, e.crossings(e.wayBack(route))
	case getRequest:
		if p.request = e.crossings(route); x.flags&multimem > 0 && !e.isFluid {
			p.arrival = 1
		}
		route = e.wayBack(route)
	}
	if x.conn >= 0 {
		p.data = e.timesOfMessage(&e.conns[x.conn], n)
		return p
	}
	p.data = int64(e.timesOn(route))
	if cuts := e.rules.Segments(n, x.flags&multimem > 0) - 1; cuts > 0 {
		p.data += cuts * int64(e.stride(route, int32(p.data)))
	}
	return p
}

// crossings is how many times there are of an empty message on a route: it shares nothing.
func (e *engine) crossings(route int32) int32 {
	if e.isFluid {
		return 0
	}
	return e.timesOn(route)
}

// roomFor is how many times there are of a message. Those that go the same way have the same,
// unless they are cut, relaxed, or on their way to several.
func (e *engine) roomFor(m int32) int64 {
	x := &e.messages[m]
	if e.rules.Segment > 0 || x.flags&(relaxed|multimem) > 0 || x.kind == copying {
		p := e.partsOf(x, e.crossing(m))
		return p.sum()
	}
	rooms := &e.tape.rooms[x.kind]
	for int(x.route) >= len(*rooms) {
		*rooms = append(*rooms, 0)
	}
	room := &(*rooms)[x.route]
	if *room == 0 {
		p := e.partsOf(x, 0)
		*room = int32(p.sum()) + 1
	}
	return int64(*room - 1)
}

// buffers reports whether lanes wait for room in a send buffer.
func (e *engine) buffers() bool { return e.rules.Device.SendBuffer > 0 && !e.rules.Device.Offload }

// writeWaited writes when a message went on that has had to wait since it was sent.
func (e *engine) writeWaited(m int32, at unit.Time) {
	if e.tape.heads != nil {
		x := &e.messages[m]
		e.tape.write(x.written, at, e.positions[m].asked)
		x.written++
	}
}

// wants notes that a lane which hands a message over at a time waits for room behind it. Of several
// at once the last tells.
func (e *engine) wants(s *stream, x *message, at unit.Time) {
	if e.tape.heads == nil {
		return
	}
	if s.want >= 0 {
		e.writeRoom(s, 0)
	}
	s.wantedAt, s.wanted = x.written, at
	x.written++
}

// writeRoom writes when there was room, or that it was there when the message was handed over.
func (e *engine) writeRoom(s *stream, at unit.Time) {
	if e.tape.heads != nil {
		e.tape.write(s.wantedAt, max(at, s.wanted), s.wanted)
	}
}

// writeAnswered writes when a request is answered.
func (e *engine) writeAnswered(m int32, at unit.Time) {
	if e.tape.heads != nil {
		x := &e.messages[m]
		e.tape.write(x.written, at, x.since.T)
		x.written++
	}
}

// writeSize writes how much the sub-step of a lane moves that does not tell.
func (e *engine) writeSize(lane int32) {
	if e.tape.heads != nil {
		at := e.reserve(lane, 1)
		if e.err == nil {
			e.tape.write(at, unit.Time(e.moved), 0)
		}
	}
}

// tellsMore reports whether of a step more has to be written than when it starts and when links
// carry what it sends.
func tellsMore(s *schedule.Step) bool {
	messages := 0
	for k := range s.From {
		switch s.From[k].Kind {
		case schedule.Message:
			messages++
		case schedule.Get, schedule.Multimem:
			return true
		}
	}
	return putsSilently(s) || len(s.To) == 0 && messages > 0 && messages == len(s.From)
}

// putsSilently reports whether a step sends what no lane receives.
func putsSilently(s *schedule.Step) bool {
	for k := range s.Send {
		if !s.Send[k].Message() {
			return true
		}
	}
	return false
}
