package opgraph

import "slices"

// cover divides the operations of a rank into chains along dependencies on ends. Each operation
// continues the chain of one that it waits for: the latest in the order that is still the end of
// its chain. Operations that wait for themselves are lanes of their own.
func (d *dag) cover() {
	type chain struct{ last, length int32 }
	var chains []chain
	for _, op := range d.order {
		best := int32(-1)
		for _, p := range d.preds.of(op) {
			if !p.start && d.runs(op) && chains[d.lane[p.op]].last == p.op &&
				(best < 0 || d.pos[p.op] > d.pos[best]) {
				best = p.op
			}
		}
		if best < 0 {
			d.lane[op] = int32(len(chains))
			chains = append(chains, chain{op, 1})
			continue
		}
		d.lane[op] = d.lane[best]
		c := &chains[d.lane[op]]
		c.last, c.length = op, c.length+1
	}
	all := make([]int32, len(d.order))
	d.lanes = make([][]int32, len(chains))
	for lane, c := range chains {
		d.lanes[lane], all = all[:0:c.length], all[c.length:]
	}
	for _, op := range d.order {
		d.lanes[d.lane[op]] = append(d.lanes[d.lane[op]], op)
	}
}

// number sets the step of every operation and counts the posts of its lane. If others wait for an
// operation's posting, a step before it awaits its dependencies and then posts.
func (d *dag) number() {
	for _, ops := range d.lanes {
		steps, posts := int32(0), int32(0)
		for _, op := range ops {
			ends, opens := false, false
			for _, s := range d.succs.of(op) {
				if !d.follows(s.op, op) {
					ends, opens = ends || !s.start, opens || s.start
				}
			}
			if opens {
				posts++
				steps++
				d.opens[op] = posts
			}
			d.step[op] = steps
			steps++
			if ends {
				posts++
				d.ends[op] = posts
			}
		}
	}
}

// follows reports whether an operation comes later in the same lane than another.
func (d *dag) follows(op, other int32) bool {
	return d.lane[op] == d.lane[other] && d.runs(op) && d.pos[op] > d.pos[other]
}

// event is the moment at which a lane has posted value times.
type event struct{ lane, value int32 }

// awaits returns the events of other lanes that an operation has to await, for each lane the last.
// It leaves out those in seen, which the lane has awaited before, and adds the new ones to seen.
func (d *dag) awaits(op int32, seen map[int32]int32) []event {
	var all []event
	for _, p := range d.preds.of(op) {
		e := event{d.lane[p.op], d.ends[p.op]}
		switch {
		case d.follows(op, p.op):
			continue
		case p.op == op: // waits for itself
			e = d.neverComes()
		case p.start:
			e.value = d.opens[p.op]
		}
		if e.value > seen[e.lane] {
			seen[e.lane] = e.value
			all = append(all, e)
		}
	}
	if len(all) < 2 {
		return all
	}
	slices.SortFunc(all, func(a, b event) int {
		if a.lane != b.lane {
			return int(a.lane - b.lane)
		}
		return int(b.value - a.value)
	})
	return slices.CompactFunc(all, func(a, b event) bool { return a.lane == b.lane })
}

// neverComes returns an event of an additional lane without steps, which is never posted.
func (d *dag) neverComes() event { return event{int32(len(d.lanes)), 1} }

// stuck reports whether an operation waits for neverComes: for itself, for a message from a rank
// that does not exist, or for one from its own rank without a send.
func (d *dag) stuck(rank, ranks int32, op int32) bool {
	for _, p := range d.preds.of(op) {
		if p.op == op {
			return true
		}
	}
	o := &d.ops[op]
	return o.Kind == Recv &&
		(o.Peer < 0 || o.Peer >= ranks || o.Peer == rank && d.mate[op] < 0)
}
