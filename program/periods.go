package program

import "slices"

// Times at which something has certainly ended on a rank. Parts on a stream end in order, so a
// number for each stream says what has ended.

// A clock is how many parts of each stream of a rank have ended; omitted streams have none.
type clock []int32

// join returns the later of two clocks, stream by stream.
func (c clock) join(d clock) clock {
	for i, n := range d {
		if i < len(c) {
			c[i] = max(c[i], n)
		} else {
			c = append(c, n)
		}
	}
	return c
}

// meet returns the earlier of two clocks, stream by stream.
func (c clock) meet(d clock) clock {
	c = c[:min(len(c), len(d))]
	for i := range c {
		c[i] = min(c[i], d[i])
	}
	return c
}

// within reports whether everything that has ended by c has ended by d.
func (c clock) within(d clock) bool {
	for i, n := range c {
		if n > 0 && (i >= len(d) || n > d[i]) {
			return false
		}
	}
	return true
}

// A period is the time in which ops use something on a rank. begins is what has ended before any of
// them begins; by ends all of them have ended.
type period struct {
	any          bool
	begins, ends clock
}

// add extends a period by another.
func (p *period) add(q *period) {
	switch {
	case !q.any:
		return
	case !p.any:
		p.any, p.begins = true, slices.Clone(q.begins)
	default:
		p.begins = p.begins.meet(q.begins)
	}
	p.ends = p.ends.join(q.ends)
}

// An order has the periods of the ops of a rank.
type order []period

// periods returns when a tensor is used: for each order, a period for each iteration.
func (w *scheduler) periods(e *extent, orders []order) []period {
	n := max(w.Iterations, 1)
	list := make([]period, len(orders)*n)
	for i, o := range orders {
		for _, op := range e.uses {
			list[i*n+w.result.Ops[op].Iteration].add(&o[op])
		}
	}
	return list
}

// free reports whether a tensor may be stored in a space that has been used. All uses of the tensor
// must come after all uses of the space, and before those of the next iteration.
func (w *scheduler) free(space, tensor []period) bool {
	n := max(w.Iterations, 1)
	for i := 0; i < len(space); i += n {
		for k := range n {
			for l := range n {
				first, last := &space[i+k], &tensor[i+l]
				if l < k {
					first, last = last, first
				}
				if first.any && last.any && !first.ends.within(last.begins) {
					return false
				}
			}
		}
	}
	return true
}

// orders returns the distinct orders of all ranks.
func (w *scheduler) orders() (list []order) {
	same := func(p, q period) bool {
		return p.any == q.any && slices.Equal(p.begins, q.begins) && slices.Equal(p.ends, q.ends)
	}
	for rank := range w.Ranks {
		o := w.order(rank)
		if !slices.ContainsFunc(list, func(p order) bool { return slices.EqualFunc(o, p, same) }) {
			list = append(list, o)
		}
	}
	return list
}

// order returns the order of a rank.
func (w *scheduler) order(rank int) order {
	o := make(order, len(w.result.Ops))
	streams := map[int32]int{}
	ended := map[int]clock{} // by part: when it has ended
	var last []clock         // by stream: of its last part so far
	for i, op := range w.result.Ops {
		for _, p := range op.Parts {
			if ranks := w.parts[p].Ranks; ranks != nil && !slices.Contains(ranks, rank) {
				continue
			}
			of := w.parts[p].Stream
			at, known := streams[of]
			if !known {
				at = len(streams)
				streams[of], last = at, append(last, nil)
			}
			begins := make(clock, at+1, len(last))
			for _, before := range w.parts[p].After {
				begins = begins.join(ended[before])
			}
			begins = begins.join(last[at])
			one := period{any: true, begins: begins, ends: make(clock, at+1)}
			one.ends[at] = begins[at] + 1
			last[at] = slices.Clone(begins).join(one.ends)
			ended[p] = last[at]
			o[i].add(&one)
		}
	}
	return o
}
