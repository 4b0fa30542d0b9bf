package opgraph

import (
	"collsim/schedule"
	"collsim/unit"
)

// write passes the steps of a lane to add.
func (l *lowering) write(rank, lane int, add func(schedule.Step)) {
	d := l.dags[rank]
	if lane >= d.count() {
		return
	}
	if d.writing == nil {
		d.writing = &writing{seen: make([]int32, d.count()+1)}
	}
	for _, other := range d.awaited {
		d.seen[other] = 0
	}
	d.awaited = d.awaited[:0]
	for _, op := range d.of(int32(lane)) {
		awaits := d.awaits(op, d.events[:0])
		step := l.step(int32(rank), op)
		if d.opened(op) > 0 {
			add(schedule.Step{Await: awaits, Post: true, Round: step.Round})
			awaits = awaits[:0]
		}
		if d.stuck(int32(rank), int32(len(l.dags)), op) {
			e := d.neverComes()
			if n := len(awaits); n == 0 || awaits[n-1].Lane != e.Lane {
				awaits = append(awaits, e)
			}
		}
		step.Await, step.Post, d.events = awaits, d.ends[op] > 0, awaits
		add(step)
	}
}

// step returns the step of an operation, without its events, whose source and destination are valid
// until the next. A message without another end does nothing, or waits for an event
// that never comes.
func (l *lowering) step(rank, op int32) schedule.Step {
	d := l.dags[rank]
	from, to := d.from[:], d.to[:]
	o := &d.ops[op]
	s := schedule.Step{Round: d.round[op]}
	switch {
	case o.Kind == Calc:
		if o.Amount > 0 {
			s.Kernel = l.computing.Of(unit.Time(o.Amount))
		}
	case l.crosses(rank, op):
		peer := schedule.Peer{Rank: o.Peer, Lane: l.dags[o.Peer].lane[d.mate[op]], Tag: l.tag(o.Tag)}
		if o.Kind == Recv {
			s.Round = l.dags[o.Peer].round[d.mate[op]]
			from[0] = schedule.Source{Kind: schedule.Message, Peer: peer}
			s.From = from
			break
		}
		to[0] = schedule.Dest{Peer: peer}
		if s.Send = to; o.Amount > 0 {
			from[0] = schedule.Source{Kind: schedule.Local, Region: l.bytes(o.Amount)}
			s.From = from
		}
	case o.Kind == Recv && !d.stuck(rank, int32(len(l.dags)), op) && o.Peer != rank:
		from[0] = schedule.Source{Kind: schedule.Message, Peer: schedule.Peer{Rank: o.Peer,
			Tag: l.tag(o.Tag)}}
		s.From = from
	}
	return s
}

// bytes returns a region of n bytes of the input.
func (l *lowering) bytes(n int64) schedule.Region {
	from, to := 0, len(l.sizes) // l.sizes[from] ≤ n < l.sizes[to]
	for to-from > 1 {
		if m := (from + to) / 2; l.sizes[m] <= n {
			from = m
		} else {
			to = m
		}
	}
	return schedule.Region{Buffer: schedule.Input, First: int32(from), Run: 1, Times: 1}
}
