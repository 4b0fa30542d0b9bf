package judge

import "fmt"

// access is how a deed touches an element, from one moment to another.
type access struct {
	deed       int
	writes     bool
	start, end int // moments; end may be never
	puts       way // of the target of a put that has a message
}

// way is how a put goes to its peer; those of a lane that go the same way land in order.
type way int

const (
	noPut  way = iota
	port       // by an engine that the lane asks
	packet     // by the lane's own stores, with a flag in every word
)

// races says which accesses to an element, one of them writing, have no order.
func (o *order) races() (found []string) {
	told := map[[2]int]bool{} // of two deeds, once
	for cell, list := range o.accesses() {
		for i := range list {
			for j := range i {
				pair := [2]int{list[j].deed, list[i].deed}
				if told[pair] || !o.unordered(list, &list[j], &list[i]) {
					continue
				}
				told[pair] = true
				found = append(found, fmt.Sprintf("element %s: %s and %s", o.where(cell),
					o.who(&list[j]), o.who(&list[i])))
			}
		}
	}
	return found
}

// unordered reports whether two accesses to an element, of all in a list, race. A work does not
// race with itself: it has read all before it stores.
func (o *order) unordered(list []access, a, b *access) bool {
	return (a.writes || b.writes) && a.deed != b.deed && !o.sameWay(a, b) &&
		!o.before(list, a, b) && !o.before(list, b, a)
}

// sameWay reports whether two accesses are of puts that land in order.
func (o *order) sameWay(a, b *access) bool {
	return a.puts != noPut && a.puts == b.puts &&
		o.deeds[a.deed].work.lane == o.deeds[b.deed].work.lane
}

// before reports whether an access has come to rest before another begins: itself, or with a put to
// the same place that has landed by then, and has come after it or is of the same work.
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
		if c.deed == a.deed || o.sameWay(a, c) || o.before(list, a, c) {
			return true
		}
	}
	return false
}

// accesses is how every cell is touched.
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

// readUntil is when the sources of a deed have been read: those of a put by the port until a flush,
// and in rendezvous those of a send until all have received it.
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
			if meetings++; !t.Relaxed { // which would tell nobody that it has been read
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

// landing is the access of what lands: a put that has a message is on its way until somebody has
// received that.
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
