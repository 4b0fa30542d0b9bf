package opgraph

import (
	"cmp"
	"slices"

	"collsim/schedule"
)

// cover divides the operations of a rank into chains along dependencies on ends. Each operation
// continues the chain of one that it waits for: the latest in the order that is still the end of
// its chain. Operations that wait for themselves are lanes of their own.
func (d *dependencies) cover() {
	type chain struct{ last, length int32 }
	var chains []chain
	d.lane = make([]int32, d.n)
	for place := range d.n {
		op, best := d.at(place), int32(-1)
		if place < d.placed {
			for _, p := range d.preds.of(op) {
				if !p.start() && chains[d.lane[p.op()]].last == p.op() &&
					(best < 0 || d.pos(p.op()) > d.pos(best)) {
					best = p.op()
				}
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
	d.first, d.lanes.ops = make([]int32, len(chains)+1), make([]int32, d.n)
	for lane, c := range chains {
		d.first[lane+1] = d.first[lane] + c.length
		chains[lane].length = d.first[lane] // from now on, where its next operation goes
	}
	for place := range d.n {
		op := d.at(place)
		next := &chains[d.lane[op]].length
		d.lanes.ops[*next] = op
		*next++
	}
}

// number counts the posts of every lane. If others wait for an operation's posting, a step before
// it awaits its dependencies and then posts.
func (d *dependencies) number() {
	d.ends = make([]int32, d.n)
	if slices.ContainsFunc(d.succs.to, arc.start) {
		d.opens, d.steps = make([]int32, d.n), make([]int32, d.n)
	}
	for lane := range int32(d.count()) {
		steps, posts := int32(0), int32(0)
		for _, op := range d.of(lane) {
			ends, opens := false, false
			for _, s := range d.succs.of(op) {
				if !d.follows(s.op(), op) {
					ends, opens = ends || !s.start(), opens || s.start()
				}
			}
			if opens {
				posts++
				steps++
				d.opens[op] = posts
			}
			if d.steps != nil {
				d.steps[op] = steps
			}
			steps++
			if ends {
				posts++
				d.ends[op] = posts
			}
		}
	}
}

// opened returns the posts of an operation's lane once it was posted, 0 if it does not post then.
func (d *dependencies) opened(op int32) int32 {
	if d.opens == nil {
		return 0
	}
	return d.opens[op]
}

// step returns the step of an operation in its lane.
func (d *dependencies) step(op int32) int32 {
	if d.steps != nil {
		return d.steps[op]
	}
	i, _ := slices.BinarySearchFunc(d.of(d.lane[op]), d.pos(op), func(o, place int32) int {
		return cmp.Compare(d.pos(o), place)
	})
	return int32(i)
}

// operation returns the operation of a lane's step, or that behind the step; −1 for none.
func (l *lanes) operation(lane, step int) int32 {
	if lane < 0 || lane >= l.count() || step < 0 {
		return -1
	}
	ops, i := l.of(int32(lane)), step
	if l.steps != nil {
		i, _ = slices.BinarySearchFunc(ops, int32(step), func(op, step int32) int {
			return cmp.Compare(l.steps[op], step)
		})
	}
	if i >= len(ops) {
		return -1
	}
	return ops[i]
}

// follows reports whether an operation comes later in the same lane than another.
func (d *dependencies) follows(op, other int32) bool {
	return d.lane[op] == d.lane[other] && d.runs(op) && d.pos(op) > d.pos(other)
}

// awaits appends the events of other lanes that an operation has to await, for each lane the last.
// It leaves out those that its lane has awaited before.
func (d *dag) awaits(op int32, all []schedule.Event) []schedule.Event {
	for _, p := range d.preds.of(op) {
		e := schedule.Event{Lane: d.lane[p.op()], Value: d.ends[p.op()]}
		switch {
		case d.follows(op, p.op()):
			continue
		case p.op() == op: // waits for itself
			e = d.neverComes()
		case p.start():
			e.Value = d.opens[p.op()]
		}
		if e.Value > d.seen[e.Lane] {
			if d.seen[e.Lane] == 0 {
				d.awaited = append(d.awaited, e.Lane)
			}
			d.seen[e.Lane] = e.Value
			all = append(all, e)
		}
	}
	if len(all) < 2 {
		return all
	}
	slices.SortFunc(all, func(a, b schedule.Event) int {
		if a.Lane != b.Lane {
			return int(a.Lane - b.Lane)
		}
		return int(b.Value - a.Value)
	})
	return slices.CompactFunc(all, func(a, b schedule.Event) bool { return a.Lane == b.Lane })
}

// neverComes returns an event of an additional lane without steps, which is never posted.
func (d *dependencies) neverComes() schedule.Event {
	return schedule.Event{Lane: int32(d.count()), Value: 1}
}

// stuck reports whether an operation waits for neverComes: for itself, for a message from a rank
// that does not exist, or for one from its own rank without a send.
func (d *dag) stuck(rank, ranks int32, op int32) bool {
	if !d.runs(op) && slices.ContainsFunc(d.preds.of(op), func(p arc) bool { return p.op() == op }) {
		return true
	}
	o := &d.ops[op]
	return o.Kind == Recv &&
		(o.Peer < 0 || o.Peer >= ranks || o.Peer == rank && d.mate[op] < 0)
}
