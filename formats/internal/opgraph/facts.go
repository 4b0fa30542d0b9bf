package opgraph

import (
	"math"
	"slices"
)

// facts holds what must have happened before an operation of a rank is posted. One serves all ranks
// in turn: of.
type facts struct {
	*dag
	stamp          int32
	started, ended []int32 // stamp of the operations that must have started, or ended
	stack          []fact
	work           int64 // remaining budget of the search
}

type fact struct {
	op    int32
	ended bool
}

func newFacts() *facts { return &facts{work: maxWork} }

// of turns to another rank.
func (f *facts) of(d *dag) *facts {
	f.dag = d
	return f
}

// forget marks no operation.
func (f *facts) forget() {
	if len(f.started) < len(f.ops) {
		f.started, f.ended = make([]int32, len(f.ops)), make([]int32, len(f.ops))
	} else if f.stamp == math.MaxInt32 {
		clear(f.started)
		clear(f.ended)
		f.stamp = 0
	}
	f.stamp++
}

// gather computes what must have happened before op is posted, for operations at limit or later in
// the order.
func (f *facts) gather(op, limit int32) {
	f.forget()
	f.stack = f.stack[:0]
	for _, p := range f.preds.of(op) {
		f.stack = append(f.stack, fact{p.op(), !p.start()})
	}
	for n := len(f.stack); n > 0 && f.work > 0; n = len(f.stack) {
		x := f.stack[n-1]
		f.stack = f.stack[:n-1]
		f.work--
		if x.ended && f.ended[x.op] != f.stamp {
			f.ended[x.op] = f.stamp
			if p := f.before(x.op); p >= 0 && f.pos(p) >= limit {
				f.stack = append(f.stack, fact{p, true})
			}
		}
		if f.started[x.op] != f.stamp {
			f.started[x.op] = f.stamp
			if f.pos(x.op) > limit {
				for _, p := range f.preds.of(x.op) {
					f.stack = append(f.stack, fact{p.op(), !p.start()})
				}
			}
		}
	}
}

// before returns a receive that ends no later than an operation, −1 for none.
func (d *dag) before(op int32) int32 {
	if d.prev == nil {
		return -1
	}
	return d.prev[op]
}

// knows reports whether a dependency is satisfied by the facts.
func (f *facts) knows(l arc) bool {
	if l.start() {
		return f.started[l.op()] == f.stamp
	}
	return f.ended[l.op()] == f.stamp
}

// precedes reports whether a is posted before b in every run. REQUIRES: a stands before b in the
// order. Either b waits for a. Or all that a waits for has happened when b is posted. If that makes
// both ready at the same moment, a must have the lower number; and neither may wait for a CPU or
// NIC that the other does not need.
func (f *facts) precedes(a, b int32) bool {
	if f.lane[a] == f.lane[b] || !f.runs(a) || !f.runs(b) {
		return true
	}
	limit := f.pos(a)
	for _, p := range f.preds.of(a) {
		limit = min(limit, f.pos(p.op()))
	}
	f.gather(b, limit)
	if f.started[a] == f.stamp {
		return true
	}
	x, y := &f.ops[a], &f.ops[b]
	if a > b || x.CPU != y.CPU || x.NIC != y.NIC {
		return false
	}
	for _, p := range f.preds.of(a) {
		if !f.knows(p) {
			return false
		}
	}
	return true
}

// unordered returns two neighbours in a list of operations whose posting order differs between
// runs; ok if there are none.
func (f *facts) unordered(ops []int32) (a, b int32, ok bool) {
	for i := 1; i < len(ops); i++ {
		if !f.precedes(ops[i-1], ops[i]) {
			return ops[i-1], ops[i], false
		}
	}
	return 0, 0, true
}

// alike reports whether the order in which some receives end makes no difference: every operation
// that waits for one waits for all.
func (f *facts) alike(ops []int32) bool {
	limit := f.pos(ops[0])
	for _, op := range ops {
		limit = min(limit, f.pos(op))
	}
	for _, op := range ops {
		for _, s := range f.succs.of(op) {
			if s.start() {
				continue
			}
			f.gather(s.op(), limit)
			for _, other := range ops {
				if f.ended[other] != f.stamp {
					return false
				}
			}
		}
	}
	return true
}

// InOrder sorts operations of a rank in posting order, and finds two neighbours that no dependency
// orders; ok if there are none. Messages can order more: see match.go.
func (r *Rank) InOrder(ops []int32) (sorted []int32, a, b int32, ok bool) {
	d := newDAG(r.Ops, newDependencies(len(r.Ops), r.Edges))
	sorted = slices.Clone(ops)
	slices.SortFunc(sorted, func(a, b int32) int { return int(d.pos(a) - d.pos(b)) })
	a, b, ok = newFacts().of(d).unordered(sorted)
	return sorted, a, b, ok
}
