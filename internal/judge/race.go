package judge

import "fmt"

// An access is a deed's access to an element, from one moment to another.
type access struct {
	deed       int
	writes     bool
	start, end int     // moments; end may be never
	puts       putKind // kind of the put that stores here and has a message
}

// A putKind says how a put reaches its peer. Puts of one kind from one lane land in order.
type putKind int

const (
	noPut  putKind = iota
	port           // by an engine of the port
	packet         // by the lane's own stores, with a flag in every word
)

// races reports unordered accesses to an element, if one of them writes; once for each pair of
// deeds.
func (o *order) races() (found []string) {
	reported := map[[2]int]bool{} // pairs of deeds
	for cell, list := range o.accesses() {
		for i := range list {
			for j := range i {
				pair := [2]int{list[j].deed, list[i].deed}
				if reported[pair] || !o.unordered(list, &list[j], &list[i]) {
					continue
				}
				reported[pair] = true
				found = append(found, fmt.Sprintf("element %s: %s and %s", o.where(cell),
					o.who(&list[j]), o.who(&list[i])))
			}
		}
	}
	return found
}

// unordered reports whether two accesses in an element's list race. A work does not race with
// itself: it reads everything before it stores.
func (o *order) unordered(list []access, a, b *access) bool {
	return (a.writes || b.writes) && a.deed != b.deed && !o.sameKind(a, b) &&
		!o.before(list, a, b) && !o.before(list, b, a)
}

// sameKind reports whether two accesses are of puts that land in order.
func (o *order) sameKind(a, b *access) bool {
	return a.puts != noPut && a.puts == b.puts &&
		o.deeds[a.deed].work.lane == o.deeds[b.deed].work.lane
}

// before reports whether an access has ended before another begins. That holds for a put, too, if a
// later put of the same kind, or one of the same work, has landed by then.
func (o *order) before(list []access, a, b *access) bool {
	rests := func(c *access) bool { return c.end != never && o.reach(c.end).has(b.start) }
	if rests(a) {
		return true
	}
	for i := range list {
		c := &list[i]
		if c == a || c.puts == noPut || c.deed < a.deed || !rests(c) {
			continue
		}
		if c.deed == a.deed || o.sameKind(a, c) || o.before(list, a, c) {
			return true
		}
	}
	return false
}

// accesses lists the accesses to every cell.
func (o *order) accesses() [][]access {
	all := make([][]access, o.cells)
	touch := func(cells []int, a access) {
		for _, c := range cells {
			all[c] = append(all[c], a)
		}
	}
	for e := range o.deeds {
		d := &o.deeds[e]
		a := access{deed: e, start: moments*e + starts, end: moments*e + done}
		if d.work == nil {
			buffer := Input
			if d.reads {
				buffer = Output
			}
			a.writes, a.end = !d.reads, moments*e+ends
			for c, to := o.buffer(buffer, d.rank); c < to; c++ {
				all[c] = append(all[c], a)
			}
			continue
		}
		reads := a
		reads.end = o.readUntil(e)
		for _, source := range d.work.reads {
			for _, cells := range source {
				touch(cells, reads)
			}
		}
		a.writes = true
		for _, cells := range d.work.stores {
			touch(cells, a)
		}
		for i := range d.work.lands {
			for _, cells := range d.work.lands[i] {
				touch(cells, o.landing(e, i, a))
			}
		}
	}
	return all
}

// readUntil returns the moment until which a deed's sources are read. For a put through the port
// that is a flush; in rendezvous, for a send, the receipt by all.
func (o *order) readUntil(e int) int {
	step := o.deeds[e].work.step
	if step.lasts() {
		if o.flushed[e] == never {
			return never
		}
		return moments*o.flushed[e] + starts
	}
	meetings, by := 0, never
	for i := range step.To {
		if t := &step.To[i]; o.rendezvous && t.Message() && t.Peer.Class == FIFO {
			if meetings++; !t.Relaxed { // a relaxed message does not show that it has been read
				by = o.met[e][i]
			}
		}
	}
	switch {
	case meetings == 0:
		return moments*e + done
	case meetings == 1 && by != never:
		return moments*by + starts
	}
	return moments*e + ends
}

// landing returns the access of a put. A put with a message is in flight until the message has been
// received.
func (o *order) landing(e, target int, a access) access {
	t := &o.deeds[e].work.step.To[target]
	if !t.Message() {
		return a
	}
	a.puts, a.end = port, never
	if t.Packet {
		a.puts = packet
	}
	if by := o.met[e][target]; by != never {
		a.end = moments*by + starts
	}
	return a
}

// where names a cell.
func (o *order) where(cell int) string {
	for rank := range o.base {
		for b := Input; b <= Scratch; b++ {
			if from, to := o.buffer(b, rank); cell >= from && cell < to {
				return fmt.Sprintf("%d of %s of rank %d", cell-from, bufferNames[b], rank)
			}
		}
	}
	return fmt.Sprint(cell)
}

// who names an access.
func (o *order) who(a *access) string {
	d, verb := &o.deeds[a.deed], "reads"
	if a.writes {
		verb = "writes"
	}
	if d.work == nil {
		return fmt.Sprintf("the caller of rank %d, call %d, %s", d.rank, d.call, verb)
	}
	return fmt.Sprintf("%v, lane %d, call %d, %s", d.work, o.lanes[d.work.lane].number, d.call, verb)
}
