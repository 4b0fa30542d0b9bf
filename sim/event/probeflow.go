package event

import (
	"collsim/sim/model"
	"collsim/unit"
)

// flowStarts remembers a flow without a rate.
func (p *probe) flowStarts(m, _ int32, now unit.Time) {
	for int(m) >= len(p.flows) {
		p.flows = append(p.flows, flowProbe{})
	}
	p.flows[m] = flowProbe{since: now, hop: -1}
}

func (p *probe) flowEnds(m, _ int32, now unit.Time) {
	p.lose(m, now)
	p.drain(m, now)
}

func (p *probe) flowPasses(m, _ int32, now unit.Time) { p.drain(m, now) }

func (p *probe) ratesChange(_, _ int32, now unit.Time) {
	if p.log.Counters != nil {
		p.touched = p.e.fair.Touched(p.touched[:0])
		p.countFlows(p.touched, now)
	}
	for _, m := range p.e.fair.Members() {
		p.limit(m, now)
	}
}

// drain counts the bytes of a message that is over on its links.
func (p *probe) drain(m int32, now unit.Time) {
	e := p.e
	n := e.carried(m)
	if p.log.Counters == nil || n == 0 {
		return
	}
	for _, h := range e.network.LinksOf(&e.network.Routes[e.messages[m].route]) {
		p.log.Counters[h].Drain(n, now, e.fair.IsLimited(h))
	}
}

// countFlows adds a sample to the counters of links whose flows get rates that together are new. It
// is called before they have them.
func (p *probe) countFlows(links []int32, now unit.Time) {
	e := p.e
	for _, l := range links {
		speed := uint64(0)
		for _, c := range e.fair.On(l) {
			speed += e.fair.Rate(c.Flow)
		}
		if c := &p.log.Counters[l]; c.Changes(speed) {
			c.Sample(p.flowing(l, now), now)
		}
	}
}

// flowing is how many bytes of its present flows a link has carried, rounded down, all together.
func (p *probe) flowing(link int32, now unit.Time) unit.Bytes {
	e, sum, rests := p.e, unit.Bytes(0), uint64(0)
	for _, c := range e.fair.On(link) {
		left := e.fair.Left(c.Flow, now)
		n, rest := model.WorkOf(e.carried(c.Flow)).Without(left).Bytes()
		sum += n
		if rests += rest; rests >= model.AByte {
			rests -= model.AByte
			sum++
		}
	}
	return sum
}

// limit looks which link limits a flow after a solution.
func (p *probe) limit(m int32, now unit.Time) {
	rate, hop := p.e.fair.Flows[m].Next, p.e.fair.Limit(m)
	if x := &p.flows[m]; rate != x.rate || hop != x.hop {
		p.lose(m, now)
		x.since, x.hop, x.rate = now, hop, rate
	}
}

// lose adds to what a link has cost a flow: of the time that has passed, what the flow would not
// have needed alone.
func (p *probe) lose(m int32, now unit.Time) {
	x := &p.flows[m]
	if x.hop < 0 {
		return
	}
	lost := model.LostTime(now-x.since, p.e.fair.Alone(m), x.rate)
	if lost == 0 {
		return
	}
	*p.spans.At(int(p.lostBy(p.message(m))) + int(x.hop)) += lost
}

// lostBy is where the spans of a flow are, made if need be.
func (p *probe) lostBy(r *model.MessageRecord) int64 {
	if r.Spans == noSpans {
		route := &p.e.network.Routes[r.Route]
		r.Spans = int64(p.spans.Len())
		p.spans.Skip(int(route.To - route.From))
	}
	return r.Spans
}
