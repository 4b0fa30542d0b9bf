package event

import "slices"

// mostReserved is how many records of a kind there is room for at most before the first is written:
// a run of more may stall before it comes to them.
const mostReserved = 1 << 22

// reserve makes room for the records of a run of two-sided messages, of which the programs tell how
// many there are: a log that grows as it is written is copied again and again.
func (p *probe) reserve() {
	e, steps, messages, spans := p.e, int64(0), int64(0), int64(0)
	for i := range e.lanes {
		l := &e.lanes[i]
		e.programs[l.rank].Written(i-int(e.first[l.rank]), &e.step, func(times int64, _ bool) bool {
			if e.step.Moves() {
				times *= int64(l.slices)
			}
			steps += times
			for k := range e.step.Send {
				if d := &e.step.Send[k]; d.Message() {
					route := &e.network.Routes[e.network.Route(l.rank, d.Peer.Rank)]
					messages, spans = messages+times, spans+times*int64(route.To-route.From)
				}
			}
			return steps < mostReserved
		})
	}
	p.log.Steps = slices.Grow(p.log.Steps, int(min(steps, mostReserved)))
	p.log.Messages = slices.Grow(p.log.Messages, int(min(messages, mostReserved)))
	p.log.Spans = slices.Grow(p.log.Spans, int(min(spans, mostReserved)))
	if p.log.Details != nil {
		p.log.Details = slices.Grow(p.log.Details, int(min(steps, mostReserved)))
	}
}
