package event

import (
	"collsim/sim/model"
	"collsim/unit"
)

// What happens where lanes go on before what they send has left.

func (p *probe) handedOver(m, _ int32, at unit.Time) { p.hold(m, at, true) }

func (p *probe) posted(m, post int32, at unit.Time) {
	p.hold(m, at, true)
	p.ofPost = put(p.ofPost, post, p.ofMessage[m])
}

func (p *probe) postLeft(_, post int32, _ unit.Time) { p.room = p.ofPost[post] }

func (p *probe) bufferDrains(m, lane int32, at unit.Time) {
	if b, key := &p.backlogs[lane], p.e.ahead.positions[m].key; at > b.at || key < b.key {
		b.last, b.at, b.key = p.ofMessage[m], at, key
	}
}

func (p *probe) bufferClear(lane, _ int32, _ unit.Time) { p.room = p.backlogs[lane].last }

func (p *probe) streamFlows(m, i int32, _ unit.Time) { p.stream(i).flows = p.ofMessage[m] }

func (p *probe) streamMoves(m, i int32, _ unit.Time) { p.stream(i).left = p.ofMessage[m] }

func (p *probe) followsStream(m, i int32, at unit.Time) { p.behind(m, at, p.stream(i).left) }

func (p *probe) putLeaves(m, lane int32, _ unit.Time) { p.backlogs[lane].put = p.ofMessage[m] }

func (p *probe) followsPuts(m, lane int32, at unit.Time) { p.behind(m, at, p.backlogs[lane].put) }

// stream is what is known of a stream.
func (p *probe) stream(i int32) *streamProbe {
	for int(i) >= len(p.streams) {
		p.streams = append(p.streams, streamProbe{})
	}
	return &p.streams[i]
}

// behind remembers that a message can only set out now because one before has left.
func (p *probe) behind(m int32, at unit.Time, before int32) {
	step := p.message(m).Step
	r := p.record(m, at, before)
	r.ByLeft, r.Step = true, step
	if post := p.e.conns.message(m).post; post >= 0 {
		p.ofPost[post] = p.ofMessage[m]
	}
}

// bufferHasRoom remembers that the bytes of a message have left that a lane's step has waited for:
// as a message that is no longer than that, if the step ends with it.
func (p *probe) bufferHasRoom(i, _ int32, at unit.Time) {
	s := &p.e.ahead.streams[i]
	l, order := &p.lanes[s.lane], inStep(s.key)
	if !l.isHeldFor(order, at) {
		return
	}
	whole := p.messages.At(int(p.stream(i).flows))
	p.lostBy(whole) // also what the flow loses from now on
	p.holdFor(s.lane, 0, order, at, false)
	l.part, l.isPart = *whole, true
	l.part.Bytes, l.part.Late, l.part.Arrived, l.part.To = unit.Bytes(s.want)-s.base, 0, 0, -1
}

// What happens where large messages are asked for first.

// comesToReceive remembers after which step the receives that follow are posted.
func (p *probe) comesToReceive(lane, _ int32, at unit.Time) {
	if at > p.e.lanes.at(lane).end.T {
		p.postedBy = p.event(lane, at)
	} else if p.postedBy = p.log.Lanes[lane].Last; p.postedBy < 0 {
		p.postedBy = model.NoStep(lane)
	}
}

func (p *probe) receivePosted(n, _ int32, _ unit.Time) {
	p.ofPosted = put(p.ofPosted, n, p.postedBy)
}

// requestAnswered remembers an answer that sets out, and why not sooner.
func (p *probe) requestAnswered(m, n int32, at unit.Time) {
	r := p.record(m, at, p.ofMessage[m])
	r.Step, r.Kind = p.stepOf[m], model.Answered
	if p.e.rendezvous.posted.At(n).at.T > p.e.conns.message(m).at.T {
		r.Step, r.Kind, r.By = p.ofPosted[n], model.AnsweredLate, -1
	}
}

// dataFollows remembers that the data of a message that was asked for set out.
func (p *probe) dataFollows(m, _ int32, at unit.Time) {
	p.record(m, at, p.ofMessage[m]).Step = p.stepOf[m]
	if post := p.e.conns.message(m).post; post >= 0 {
		p.ofPost[post] = p.ofMessage[m]
	}
}
