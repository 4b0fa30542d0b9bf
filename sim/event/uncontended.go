package event

import (
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// A link needs a queue to put those in order who ask for it. Where all that crosses it comes from
// one lane, or over one link before, it is asked in order anyway: then it carries at once whatever
// asks, long before its time may have come, and nobody waits in a queue. Under fluid sharing a lane
// that has a link for itself has one flow on it at a time, at a rate that is known from the
// beginning. Lanes so go on as far as is known, which is the same run: what happens follows from
// moments alone.

// origins notes, for each link, whether all that crosses it comes from one place or from several.
type origins struct {
	e     *engine
	from  []int32
	first []int32 // the last step whose messages have it as their first link
	steps int32   // so far

	size      unit.Bytes // of all messages so far; −1: there were none
	isUnequal bool       // they are not all of that size, or it is not known
}

const (
	nowhere int32 = 0  // nothing crosses it
	several int32 = -1 // else 1 more than a lane, or (under FIFO) than lanes and a link before
)

// comes notes where something comes from that crosses a link.
func (o *origins) comes(link, from int32) {
	if o.from[link] == nowhere {
		o.from[link] = from
	} else if o.from[link] != from {
		o.from[link] = several
	}
}

// begins notes that a message of the present step begins on a link.
func (o *origins) begins(link int32) {
	if o.first[link] == o.steps {
		o.first[link] = several
	} else if o.first[link] != several {
		o.first[link] = o.steps
	}
}

// findUncontended finds the links that are asked in order. It does so only if nothing but two-sided
// messages crosses links, and if the programs describe all messages without a walk through their
// loops. Where switches store messages, the last byte may come in another order. But messages of
// one size, from lanes without a pace of their own, at least never wait for such a link.
func (e *engine) findUncontended() {
	stores := e.rules.Switching == model.StoreForward
	o := origins{e: e, from: make([]int32, e.links.len()), first: make([]int32, e.links.len()),
		size: -1}
	if !e.repeats.isOn() || e.rules.HasMemory() || stores && !o.storesAlike() ||
		!o.findAll() || stores && o.isUnequal {
		return
	}
	for i := range e.links.len() {
		if o.from[i] > nowhere {
			e.links.uncontended(i, e.rules.Segment == 0 && !stores, o.isPrompt(i))
		}
	}
	e.conns.letAhead(4*int(e.lanes.len()) + 1<<12)
}

// storesAlike reports whether messages that switches store may all be of one size, and come as soon
// as their last link has carried them.
func (o *origins) storesAlike() bool {
	e := o.e
	s := e.rules.Schedule
	if e.rules.Segment > 0 || e.rules.Device.LaneRate != unit.Unlimited || !s.SameSizes() {
		return false
	}
	for b := range schedule.Buffer(s.Buffers()) {
		if !s.EvenBlocks(b) {
			return false
		}
	}
	return true
}

// compares notes the size of what a lane's step sends, slice by slice.
func (o *origins) compares(lane int32) {
	e := o.e
	l := e.lanes.at(lane)
	for slice := range l.slices {
		where := l.spot()
		where.Slice = int(slice)
		moved, known := e.rules.Size(where, &e.step)
		for k := range e.step.Send {
			n := unit.Bytes(e.step.Send[k].Framing().Wire(int64(moved)))
			if o.size < 0 {
				o.size = n
			}
			o.isUnequal = o.isUnequal || !known || n != o.size
		}
	}
}

// findAll notes the origins of all messages, by the steps of all lanes as they are written
// (Program.Written). It is false where these do not say.
func (o *origins) findAll() bool {
	e := o.e
	for rank, p := range e.programs {
		for i := range p.Lanes() {
			lane := e.first[rank] + int32(i)
			if !p.Written(i, &e.step, func(_ int64, isSame bool) bool { return o.find(lane, isSame) }) {
				return false
			}
		}
	}
	return true
}

// isPacedBy reports whether a link alone, the first on a way, says when one segment has left and
// the next asks for it.
func (o *origins) isPacedBy(link int32, path *model.Route) bool {
	e := o.e
	return e.rules.Device.LaneRate == unit.Unlimited && path.Slowest == e.links.at(link).Bandwidth
}

// isPrompt reports whether nobody ever waits for a link that is asked in order, under FIFO: a lane
// has sent nothing else over it at a time, and has been held until that had left, or else the link
// before has taken as long for each message.
func (o *origins) isPrompt(link int32) bool {
	e := o.e
	before := o.from[link] - e.lanes.len() - 1
	switch {
	case before >= 0 && e.rules.Segment > 0: // may take a picosecond more or less on another
		return e.links.at(link).Bandwidth == e.links.at(before).Bandwidth
	case before >= 0:
		return e.links.at(link).Bandwidth >= e.links.at(before).Bandwidth
	}
	return o.first[link] != several
}

// find notes where the messages of e.step, of a lane, come to their links from. It is false
// where that is not known.
func (o *origins) find(lane int32, isSame bool) bool {
	e := o.e
	s := &e.step
	o.steps++
	if getsOf(s) > 0 || !isSame && len(s.Send) > 0 {
		return false
	}
	if e.rules.Switching == model.StoreForward && len(s.Send) > 0 {
		o.compares(lane)
	}
	for k := range s.Send {
		d := &s.Send[k]
		if !d.Message() {
			return false
		}
		from := lane + 1
		path := &e.network.Routes[e.network.RouteTagged(e.lanes.at(lane).rank, d.Peer.Rank, d.Peer.Tag)]
		for hop, on := range e.network.LinksOf(path) {
			if hop == 0 {
				o.begins(on)
			}
			if hop == 0 && e.rules.Segment > 0 && !o.isPacedBy(on, path) {
				o.first[on] = several
			}
			if e.isFluid && len(s.Send) > 1 { // they may meet
				from = several
			}
			if o.comes(on, from); !e.isFluid {
				from = e.lanes.len() + on + 1
			}
		}
	}
	return true
}
