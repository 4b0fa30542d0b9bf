package event

import (
	"cmp"
	"math"
	"slices"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// tape is the log of a run of two-sided messages as it is written: of each sub-step when it
// started, and under FIFO when each link on the way of what it sends began to carry that, unless it
// did so at once because nobody ever waits for it. All else follows from these times, and is worked
// out when the log is read (read.go). The times of a lane lie one after the other, so a lane knows
// where its next ones belong.
//
// Of each time there is the lower half: it is the first that has this half from a time on that is
// known, which is when the lane's sub-step before started, or when the message asked for its first
// link. Those that come 2³² ps later or more, about 4 ms, are written once more, as a whole.
type tape struct {
	times []uint32 // nil: nobody asked, or a probe writes the log
	far   []farTime
	heads []head  // of the lanes
	links []int32 // of each route: how many are on the tape
	steps []int32 // so many are of each lane
	sends int64   // so many messages are of all,
	hops  int64   // which cross so many links, under FIFO
}

// head is how far a lane's times are written.
type head struct {
	since unit.Time // when its last sub-step started
	at    int32     // where its next times belong
}

// farTime is a time that its lower half does not tell.
type farTime struct {
	at   int32 // where that is
	time unit.Time
}

// write writes a time that is known to be no sooner than since.
func (t *tape) write(at int32, time, since unit.Time) {
	t.times[at] = uint32(time)
	if time-since > math.MaxUint32 {
		t.far = append(t.far, farTime{at, time})
	}
}

// read is the time that has been written.
//
// REQUIRES: what is far is in order.
func (t *tape) read(at int32, since unit.Time) unit.Time {
	if len(t.far) > 0 {
		if time, isFar := t.readFar(at); isFar {
			return time
		}
	}
	return since + unit.Time(t.times[at]-uint32(since))
}

func (t *tape) readFar(at int32) (time unit.Time, isFar bool) {
	i, isFar := slices.BinarySearchFunc(t.far, at, func(f farTime, at int32) int {
		return cmp.Compare(f.at, at)
	})
	if isFar {
		time = t.far[i].time
	}
	return time, isFar
}

// rewind puts in order what is far.
func (t *tape) rewind() {
	slices.SortFunc(t.far, func(a, b farTime) int { return cmp.Compare(a.at, b.at) })
}

// writeBegin writes when a lane's next sub-step starts.
func (e *engine) writeBegin(lane int32, at unit.Time) {
	if e.tape.times != nil {
		h := &e.tape.heads[lane]
		e.tape.write(h.at, at, h.since)
		h.since = at
		h.at++
	}
}

// leaveRoom makes room for when the links of a message's way begin to carry it.
func (e *engine) leaveRoom(m int32) {
	if e.tape.times != nil {
		x := &e.messages[m]
		h := &e.tape.heads[x.lane]
		x.written = h.at
		h.at += e.tape.links[x.route]
	}
}

// writeServed writes when the next of these does.
func (e *engine) writeServed(m int32, at, since unit.Time) {
	if e.tape.times != nil {
		x := &e.messages[m]
		e.tape.write(x.written, at, since)
		x.written++
	}
}

// linksOnTape is how many links of each route are on the tape.
func (e *engine) linksOnTape() []int32 {
	links := make([]int32, len(e.network.Routes))
	for i := range links {
		for _, on := range e.network.LinksOf(&e.network.Routes[i]) {
			if !e.isFluid && !e.links[on].isPrompt {
				links[i]++
			}
		}
	}
	return links
}

// survey is what the programs tell of a run as they are written: how many sub-steps each lane has,
// and what these send, lane by lane.
type survey struct {
	steps       []int32
	sendings    []sending
	sends, hops int64 // messages, and the links that they cross, under FIFO
	isOver      bool
}

// sending is what a lane sends over a route, with one step as it is written.
type sending struct{ lane, route, times int32 }

func (e *engine) newSurvey() *survey { return &survey{steps: make([]int32, len(e.lanes))} }

// note notes the step in e.step, of a lane, that is carried out so many times. It is false where
// other times would have to be written than those of a tape, or too many.
func (e *engine) note(v *survey, lane int32, times int64, isSame bool) bool {
	s, l := &e.step, &e.lanes[lane]
	if e.gets() > 0 || movesWhatComes(s) || !isSame && len(s.Send) > 0 {
		return false
	}
	if s.Moves() {
		times *= int64(l.slices)
	}
	all := times + int64(v.steps[lane])
	for k := range s.Send {
		d := &s.Send[k]
		if !d.Message() || framed(d) {
			return false
		}
		on := e.network.Route(l.rank, d.Peer.Rank)
		if !e.isFluid {
			route := &e.network.Routes[on]
			v.hops += times * int64(route.To-route.From)
		}
		v.sends += times
		v.sendings = append(v.sendings, sending{lane, on, int32(times)})
	}
	v.steps[lane] = int32(all)
	return all < math.MaxInt32 && v.sends < math.MaxInt32 && v.hops < math.MaxInt32
}

// startTape makes room for the times of a run, if the programs tell how many there are and these
// are all that it takes. Under fluid sharing flows must be alone, so that nobody has to tell
// what rates they have had.
func (e *engine) startTape(v *survey) bool {
	if !e.keepSteps || e.rules.HasMemory() || e.rules.Segment > 0 || !v.isOver &&
		!e.eachWritten(func(lane int32, times int64, isSame bool) bool {
			return e.note(v, lane, times, isSame)
		}) {
		return false
	}
	t := tape{heads: make([]head, len(e.lanes)), links: e.linksOnTape(), steps: v.steps,
		sends: v.sends, hops: v.hops}
	all, sendings := int64(0), v.sendings
	for i := range e.lanes {
		t.heads[i].at = int32(all)
		all += int64(v.steps[i])
		for ; len(sendings) > 0 && sendings[0].lane == int32(i); sendings = sendings[1:] {
			route := sendings[0].route
			if e.isFluid && !e.isAlone(&e.network.Routes[route]) {
				return false
			}
			all += int64(sendings[0].times) * int64(t.links[route])
		}
		if all >= math.MaxInt32 {
			return false
		}
	}
	t.times = make([]uint32, all)
	e.tape = t
	return true
}

// movesWhatComes reports whether a step without gets does not tell itself how much it moves.
func movesWhatComes(s *schedule.Step) bool {
	return len(s.To) == 0 && len(s.From) > 0 &&
		!slices.ContainsFunc(s.From, func(f schedule.Source) bool { return f.Kind != schedule.Message })
}

// framed reports whether what is sent has more on its links than its bytes, or orders nothing.
func framed(d *schedule.Dest) bool { return d.Packet || d.Line || d.Relaxed }

// leaves is when a message has left its rank, and when it can be received, by what is on the tape
// from a place on. When links begin to carry it goes to spans.
func (e *engine) leaves(m *model.MessageRecord, path *model.Route, at int32,
	spans []unit.Time) (left, came unit.Time) {
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
	next := since
	for hop, on := range e.network.LinksOf(path) {
		l := &e.links[on]
		start := next
		if !l.isPrompt {
			start.T = e.tape.read(at, since.T)
			at++
		}
		spans[m.Spans+int64(hop)] = start.T
		over := start.Plus(l.Over(m.Bytes))
		if hop == 0 {
			tail = model.PutOut(start, since, false, 0, put)
			gone = model.Leaves(start, 0, max(put, l.slowest(path, m.Bytes)))
		}
		next, tail = e.rules.Switching.Forward(start, model.Later(over, tail), l.Latency)
	}
	return gone.T, tail.Plus(m.Late).T
}
