package event

import (
	"collsim/sim/model"
	"collsim/unit"
)

// addPacket lets the part of a message that begins at from ask for its first link.
func (e *engine) addPacket(m int32, from unit.Bytes, at model.Moment) {
	x := e.conns.message(m)
	r := &e.network.Routes[x.route]
	all := e.conns.carried(m)
	to, end := all, r.To
	if x.flags&multimem > 0 { // what is multicast goes up whole, and parts at the switch
		end = r.From + 1
	} else {
		to = e.rules.SegmentEnd(from, all)
	}
	i := e.links.reuse()
	if i < 0 {
		i = e.links.grow()
	}
	p := e.links.packet(i) // field by field, as messages are
	p.from, p.to, p.message, p.isLast = from, to, m, to == all
	p.begin, p.hop, p.end = r.From, r.From, end
	if e.log.isOn() && e.conns.isLogged(x) { // else no times
		p.label(x)
	}
	e.ask(i, at, x.key)
}

// ask has a packet ask for its next link, which may carry it at once.
func (e *engine) ask(p int32, at model.Moment, key uint64) {
	on := e.links.asked(p)
	if l := e.links.at(on); l.isUncontended {
		if l.pending == 0 && e.conns.mayGoAhead() {
			e.carry(p, on, at)
			return
		}
		e.links.putBehind(l)
	}
	e.links.push(model.Ask(at, on, key, p))
}

// carry lets a link carry a packet that has asked for it at a moment.
func (e *engine) carry(i, on int32, at model.Moment) {
	p, l := e.links.packet(i), e.links.at(on)
	start, over := l.serve(at, p.to-p.from, l.Part(p.from, p.to))
	if e.log.isOn() && (start.T > at.T || p.hop-p.begin >= int32(p.ownKinds)) && !l.isPrompt {
		e.log.carried(p, start.T)
	}
	e.report(linkServes, i, on, start.T)
	if p.hop == p.begin {
		e.firstLink(i, start, over, l)
	} else {
		p.tail = model.Later(over, p.tail)
	}
	e.forward(i, start, l)
}

// firstLink lets a packet's first link carry it from start to over. The lane, or the queue of its
// device, is then rid of the packet. Its bytes come no faster than the lane puts them out, and
// leave no faster than the slowest link takes them.
func (e *engine) firstLink(i int32, start, over model.Moment, l *link) {
	p := e.links.packet(i)
	m, from, to := p.message, p.from, p.to
	x := e.conns.message(m)
	if x.kind == loadData { // no lane puts it out
		p.tail = model.Later(over, p.tail)
		return
	}
	path := &e.network.Routes[x.route]
	var before, put unit.Time
	switch rank := e.lanes.at(x.lane).rank; {
	case x.pacer == model.LanePace && e.rules.Device.LaneRate == unit.Unlimited:
	case x.pacer == model.LanePace:
		before, put = e.rules.Pace(rank, x.peers, from), e.rules.Pace(rank, x.peers, to)
	default:
		before, put = e.pace(x, from), e.pace(x, to)
	}
	p.tail = model.Later(over, model.PutOut(start, x.since, x.post >= 0, before, put))
	leaves := model.Leaves(start, max(before, l.slowest(path, from)), max(put, l.slowest(path, to)))
	if e.ahead.hasStreams() {
		e.ahead.leaving(m, from, to, start)
	}
	if p.isLast {
		e.left(m, leaves)
	} else {
		e.addPacket(m, to, leaves)
	}
}

// forward lets a packet that l begins to carry at start ask for its next link, or arrive. A message
// arrives with its last segment.
func (e *engine) forward(i int32, start model.Moment, l *link) {
	p := e.links.packet(i)
	key := l.Key
	l.Key++
	var next model.Moment
	next, p.tail = e.rules.Switching.Forward(start, p.tail, l.Latency)
	if p.hop++; p.hop < p.end {
		e.ask(i, next, key)
		return
	}
	e.links.drop(i)
	switch m := p.message; {
	case !p.isLast:
	case e.conns.message(m).flags&multimem > 0:
		e.branches.crossed(m, crossing{p.hop - 1, next, p.tail, key})
	default:
		x := e.conns.message(m)
		x.key = key // a reply uses the port that its request came in by
		e.arrived(m, p.tail)
	}
}
