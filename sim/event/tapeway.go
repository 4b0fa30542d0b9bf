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
	byWay       bool
	followsPuts bool       // messages may have to wait until silent puts have left
	rooms       [][2]int32 // of connections: 1 + times of a message, and of one asked for
	wanted      []farTime  // of streams, since when a lane wants room, and where that belongs
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
		if e.tape.followsPuts && model.FollowsPuts(x.kind == silent, x.flags&relaxed > 0) {
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

// roomFor is how many times there are of a message: those of a connection have the same, unless
// they are cut or relaxed.
func (e *engine) roomFor(m int32) int64 {
	x := &e.messages[m]
	if x.conn < 0 || e.rules.Segment > 0 || x.flags&relaxed > 0 {
		p := e.partsOf(x, e.crossing(m))
		return p.sum()
	}
	for int(x.conn) >= len(e.tape.rooms) {
		e.tape.rooms = append(e.tape.rooms, [2]int32{})
	}
	room := &e.tape.rooms[x.conn][0]
	if x.kind == request {
		room = &e.tape.rooms[x.conn][1]
	}
	if *room == 0 {
		p := e.partsOf(x, 0)
		*room = 1 + int32(p.sum())
	}
	return int64(*room - 1)
}

// buffers reports whether lanes wait for room in a send buffer.
func (e *engine) buffers() bool { return e.rules.Device.SendBuffer > 0 && !e.rules.Device.Offload }

// What follows is not inlined: runs that nobody logs, which only ask whether somebody does, would
// be 4 to 7 % slower for that.

// writeNext writes the next time of a message.
//
//go:noinline
func (e *engine) writeNext(m int32, at, since unit.Time) {
	x := &e.messages[m]
	e.tape.write(x.written, at, since)
	x.written++
}

// noteWanted notes that a lane which hands a message over at a time waits for room behind it in its
// stream. Of several at once the last tells.
//
//go:noinline
func (e *engine) noteWanted(stream int32, x *message, at unit.Time) {
	for int(stream) >= len(e.tape.wanted) {
		e.tape.wanted = append(e.tape.wanted, farTime{})
	}
	if e.streams[stream].want >= 0 {
		e.writeRoom(stream, 0)
	}
	e.tape.wanted[stream] = farTime{x.written, at}
	x.written++
}

// writeRoom writes when there was room, or that it was there when the message was handed over.
//
//go:noinline
func (e *engine) writeRoom(stream int32, at unit.Time) {
	w := &e.tape.wanted[stream]
	e.tape.write(w.at, max(at, w.time), w.time)
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
