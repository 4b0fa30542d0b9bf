package event

import (
	"math"
	"slices"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// tape is the log of a run of two-sided messages as it is written: of each sub-step when it
// started, and under FIFO when each link on the way of what it sends began to carry that. All
// else follows from these times, and is worked out when the log is read (read.go). The times of
// a lane lie one after the other, so a lane knows where its next ones belong.
type tape struct {
	times []unit.Time // nil: nobody asked, or a probe writes the log
	steps []int32     // so many are of each lane
	sends int64       // so many messages are of all
}

// writeBegin writes when a lane's next sub-step starts.
func (e *engine) writeBegin(l *lane, at unit.Time) {
	if e.tape.times != nil {
		e.tape.times[l.written] = at
		l.written++
	}
}

// leaveRoom makes room for when the links of a message's way begin to carry it.
func (e *engine) leaveRoom(m, links int32) {
	if e.tape.times != nil {
		x := &e.messages[m]
		l := &e.lanes[x.lane]
		x.written = l.written
		l.written += links
	}
}

// writeServed writes when one of these does.
func (e *engine) writeServed(m, hop int32, at unit.Time) {
	if e.tape.times != nil {
		e.tape.times[e.messages[m].written+hop] = at
	}
}

// startTape makes room for the times of a run, if the programs tell how many there are and these
// are all that it takes. Under fluid sharing flows must be alone, so that nobody has to tell
// what rates they have had.
func (e *engine) startTape() bool {
	if !e.keepSteps || e.rules.HasMemory() || e.rules.Segment > 0 {
		return false
	}
	all, sends := int64(0), int64(0)
	begins, steps := make([]int32, len(e.lanes)), make([]int32, len(e.lanes))
	for rank, p := range e.programs {
		for i := range p.Lanes() {
			lane := e.first[rank] + int32(i)
			times := int64(0)
			begins[lane] = int32(all)
			if !p.Written(i, &e.step, func(n int64, isSame bool) bool {
				hops, ok := e.hopsOnTape(&e.lanes[lane], isSame)
				if e.step.Moves() {
					n *= int64(e.lanes[lane].slices)
				}
				times += n
				sends += n * int64(len(e.step.Send))
				all += n * (1 + hops)
				return ok && all < math.MaxInt32
			}) {
				return false
			}
			steps[lane] = int32(times)
		}
	}
	e.tape = tape{times: make([]unit.Time, all), steps: steps, sends: sends}
	for i := range e.lanes {
		e.lanes[i].written = begins[i]
	}
	return true
}

// hopsOnTape is how many links carry what the step in e.step sends, of which there are times. It is
// not ok where other times would have to be written.
func (e *engine) hopsOnTape(l *lane, isSame bool) (hops int64, ok bool) {
	s := &e.step
	if _, known := e.rules.Size(l.spot(), s); e.gets() > 0 || !known && receives(s) ||
		!isSame && len(s.Send) > 0 {
		return 0, false
	}
	for k := range s.Send {
		d := &s.Send[k]
		if !d.Message() || framed(d) {
			return 0, false
		}
		route := &e.network.Routes[e.network.Route(l.rank, d.Peer.Rank)]
		if !e.isFluid {
			hops += int64(route.To - route.From)
		} else if !e.isAlone(route) {
			return 0, false
		}
	}
	return hops, true
}

// receives reports whether a step receives messages.
func receives(s *schedule.Step) bool {
	return slices.ContainsFunc(s.From, func(f schedule.Source) bool {
		return f.Kind == schedule.Message
	})
}

// framed reports whether what is sent has more on its links than its bytes, or orders nothing.
func framed(d *schedule.Dest) bool { return d.Packet || d.Line || d.Relaxed }

// leaves is when a message has left its rank, and when it can be received, by what is on the tape.
func (e *engine) leaves(m *model.MessageRecord, path *model.Route) (left, came unit.Time) {
	since := model.Moment{T: m.Since}
	put := e.rules.Pace(path.Src, m.Peers, m.Bytes)
	if e.isFluid {
		if path.IsShared(m.Bytes) {
			put, _ = e.rules.Alone(path.Src, m.Peers, path.Slowest, m.Bytes)
		}
		at := since.Plus(put)
		return at.T, at.Plus(path.Latency).Plus(m.Late).T
	}
	var gone, tail model.Moment
	for hop, on := range e.network.LinksOf(path) {
		l := &e.links[on]
		start := model.Moment{T: e.tape.times[m.Spans+int64(hop)]}
		over := start.Plus(l.Over(m.Bytes))
		if hop == 0 {
			tail = model.PutOut(start, since, false, 0, put)
			gone = model.Leaves(start, 0, max(put, l.slowest(path, m.Bytes)))
		}
		_, tail = e.rules.Switching.Forward(start, model.Later(over, tail), l.Latency)
	}
	return gone.T, tail.Plus(m.Late).T
}
