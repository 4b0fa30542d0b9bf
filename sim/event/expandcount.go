package event

import (
	"cmp"
	"slices"

	"collsim/sim/model"
	"collsim/unit"
)

// crossed is a message that a link has carried.
type crossed struct {
	from, to unit.Time
	bytes    unit.Bytes
}

// count has the counters count what each link has carried.
func (r *reader) count() {
	e, counters := r.e, r.log.Counters
	switch {
	case e.flows.isOn() && e.gpu != nil, e.isFluid && e.log.byWay,
		e.isFluid && e.conns.anyLogged():
		r.share()
	case e.isFluid:
		for i := range r.log.Messages {
			r.flow(int32(i))
		}
	}
	if !e.isFluid {
		r.cross()
	}
	for i := range counters {
		counters[i].Close()
	}
}

// cross counts what links have carried under FIFO.
func (r *reader) cross() {
	e, counters := r.e, r.log.Counters
	crossings, loads := make([][]crossed, len(counters)), r.messagesOn()
	for on := range crossings {
		crossings[on] = make([]crossed, 0, loads[on])
	}
	for i := range r.log.Messages {
		m := &r.log.Messages[i]
		next, crosses := r.packetsOf(int32(i))
		if !crosses || r.isFlow(m) {
			continue
		}
		isTree := e.network.Routes[m.Route].Tree >= 0
		for j := range e.rules.Segments(m.Bytes, isTree) {
			from := unit.Bytes(j) * e.rules.Segment
			to := e.rules.SegmentEnd(from, m.Bytes)
			if isTree {
				to = m.Bytes
			}
			spans := r.log.Spans[m.Spans+j:]
			begin := model.Moment{T: spans[0]}
			for hop, on := range e.network.LinksOf(&e.network.Routes[m.Route]) {
				if to == m.Bytes {
					begin.T = spans[hop]
				} else {
					begin = r.carried(&next, on, aPacket.on(int32(hop)), begin)
				}
				over := begin.Plus(e.links.at(on).Part(from, to))
				crossings[on] = append(crossings[on], crossed{begin.T, over.T, to - from})
				begin = begin.Plus(e.links.at(on).Latency) // where it is prompt
			}
		}
	}
	for on, list := range crossings {
		slices.SortFunc(list, func(a, b crossed) int {
			return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
		})
		for _, x := range list {
			counters[on].Carry(x.bytes, x.from, x.to)
		}
	}
}

// packetsOf returns the index of the times of a message's links, and whether the message crosses
// any.
func (r *reader) packetsOf(number int32) (at int32, crosses bool) {
	if !r.e.log.byWay {
		_, c, at := r.asked(number)
		return at, c != nil
	}
	i := r.wayOf[number]
	if i < 0 || number > r.ways[i].last {
		return 0, false
	}
	j := r.journeyOf(&r.ways[i])
	leg := &j.records[number-r.ways[i].record]
	return leg.at, leg.crosses
}

// flow counts a message that was alone on its links. Those on one link are of one lane, so they are
// counted in the order in which they flow.
func (r *reader) flow(number int32) {
	m, left := r.sent(number)
	if m.Bytes == 0 {
		return
	}
	e := r.e
	path := &e.network.Routes[m.Route]
	for _, on := range e.network.LinksOf(path) {
		if e.flows.IsLimited(on) {
			speed := min(e.rules.PaceRate(path.Src, m.Peers), model.FluidRate(path.Slowest))
			r.log.Counters[on].Flow(m.Bytes, speed, m.Since, left)
		} else {
			r.log.Counters[on].Drain(m.Bytes, left, false)
		}
	}
}

// messagesOn returns the number of messages that each link has carried.
func (r *reader) messagesOn() []int {
	on := make([]int, len(r.log.Counters))
	for i := range r.conns {
		for _, link := range r.e.network.LinksOf(&r.e.network.Routes[r.e.conns.at(int32(i)).route]) {
			on[link] += len(r.conns[i].sent)
		}
	}
	return on
}
