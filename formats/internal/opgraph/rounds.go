package opgraph

// rounds numbers the rounds of messages. A message's round follows those of all messages that its
// sender has received or sent before, along dependencies. Messages that are never sent are in round
// 0.
func (l *lowering) rounds() {
	type place struct{ rank, op int32 }
	left := make([][]int32, len(l.dags)) // for how much each operation waits, in the memory of prev
	var ready []place
	for rank, d := range l.dags {
		if left[rank], d.prev = d.prev, nil; left[rank] == nil {
			left[rank] = make([]int32, len(d.ops))
		}
		d.round = make([]int32, len(d.ops))
		for op := range d.ops {
			n := int32(len(d.preds.of(int32(op))))
			if d.ops[op].Kind == Recv && d.ops[op].Peer != int32(rank) {
				n++ // its message releases it, or nothing does
			}
			if left[rank][op] = n; n == 0 {
				ready = append(ready, place{int32(rank), int32(op)})
			}
		}
	}
	settle := func(p place, base int32) {
		if d := l.dags[p.rank]; base > d.round[p.op] {
			d.round[p.op] = base
		}
		if left[p.rank][p.op]--; left[p.rank][p.op] == 0 {
			ready = append(ready, p)
		}
	}
	// any order will do; the last is in the cache
	for last := len(ready) - 1; last >= 0; last = len(ready) - 1 {
		p := ready[last]
		ready = ready[:last]
		d := l.dags[p.rank]
		o, base := &d.ops[p.op], d.round[p.op]
		after := base
		if o.Kind == Send && l.crosses(p.rank, p.op) {
			after++
			settle(place{o.Peer, d.mate[p.op]}, after)
		}
		for _, s := range d.succs.of(p.op) {
			if s.start() {
				settle(place{p.rank, s.op()}, base)
			} else {
				settle(place{p.rank, s.op()}, after)
			}
		}
	}
}
