package program

import (
	"container/heap"
	"slices"
)

// The order of the backward pass: which op is differentiated next, and when ops that wait for
// gradients are issued.

// backwards returns the order in which ops are differentiated: the opposite one. For one forward,
// one backward it is the order of microbatches, each from its end.
func (b *backward) backwards(by Order) (list []int) {
	waits := make([]int, len(b.ops)) // readers of its result that are not done yet
	writers := map[string][]int{}
	for i := range b.ops {
		for _, name := range b.ops[i].In {
			for _, w := range writers[name] {
				waits[w]++
			}
		}
		if out := b.ops[i].Out; out != "" {
			writers[out] = append(writers[out], i)
		}
	}
	ready := &lastFirst{ops: b.ops, byMicrobatch: by != AsWritten}
	for i, n := range waits {
		if n == 0 {
			heap.Push(ready, i)
		}
	}
	for ready.Len() > 0 {
		next := heap.Pop(ready).(int)
		list = append(list, next)
		for _, name := range b.ops[next].In {
			for _, w := range writers[name] {
				if w >= next {
					continue
				}
				if waits[w]--; waits[w] == 0 {
					heap.Push(ready, w)
				}
			}
		}
	}
	return list
}

// lastFirst is a heap of ops: the last one is first; by microbatch, of the first of these.
type lastFirst struct {
	ops          []resolved
	byMicrobatch bool
	list         []int
}

// Len returns the number of ops in the heap.
func (h *lastFirst) Len() int { return len(h.list) }

// Less reports whether one op comes before another.
func (h *lastFirst) Less(a, b int) bool {
	a, b = h.list[a], h.list[b]
	if m, n := h.ops[a].Microbatch, h.ops[b].Microbatch; h.byMicrobatch && m != n {
		return m < n
	}
	return a > b
}

// Swap exchanges two ops.
func (h *lastFirst) Swap(a, b int) { h.list[a], h.list[b] = h.list[b], h.list[a] }

// Push adds an op.
func (h *lastFirst) Push(op any) { h.list = append(h.list, op.(int)) }

// Pop removes the op that Less puts first, which heap has moved to the end.
func (h *lastFirst) Pop() any {
	last := h.list[len(h.list)-1]
	h.list = h.list[:len(h.list)-1]
	return last
}

// A queue holds the ops that wait for gradients.
type queue struct {
	ops    []Op // all of them, issued or not
	issued []bool
	left   int              // how many are not issued
	late   map[string][]int // of a tensor: ops not issued that write it, in order
	lacks  map[string][]int // of a tensor: ops that were found to lack it
	check  []int            // ops that may lack nothing, in order
}

// newQueue returns a queue of ops.
func newQueue(ops []Op) *queue {
	q := &queue{ops: ops, issued: make([]bool, len(ops)), left: len(ops), late: map[string][]int{},
		lacks: map[string][]int{}}
	for i := range ops {
		q.late[ops[i].Out] = append(q.late[ops[i].Out], i)
		q.check = append(q.check, i)
	}
	return q
}

// has notes that a tensor is complete: ops that lacked it are to be checked again.
func (q *queue) has(tensor string) {
	q.check = append(q.check, q.lacks[tensor]...)
	slices.Sort(q.check)
	delete(q.lacks, tensor)
}

// checkAll has all ops that wait checked again.
func (q *queue) checkAll() {
	q.check = nil
	for i, issued := range q.issued {
		if !issued {
			q.check = append(q.check, i)
		}
	}
	q.lacks = map[string][]int{}
}

// next removes the first op of a queue that lacks nothing, by a function that returns what one
// lacks; nil if there is none.
func (q *queue) next(missing func(i int) string) *Op {
	for len(q.check) > 0 {
		i := q.check[0]
		q.check = q.check[1:]
		if name := missing(i); name != "" {
			q.lacks[name] = append(q.lacks[name], i)
			continue
		}
		q.issued[i], q.left = true, q.left-1
		out := q.ops[i].Out
		at := slices.Index(q.late[out], i)
		q.late[out] = slices.Delete(q.late[out], at, at+1)
		return &q.ops[i]
	}
	return nil
}

// missing returns a tensor that a waiting op lacks; empty if none. What the forward pass has read
// is overwritten when the backward pass has ended, which may need it.
func (b *backward) missing(i int) string {
	o := &b.behind.ops[i]
	if _, read := b.read[o.Out]; read && !b.ended {
		return o.Out
	}
	for _, name := range o.In {
		_, known := b.tensor(name)
		late := b.behind.late[name]
		if len(late) > 0 && late[0] < i || !known && !b.has[name] {
			return name
		}
	}
	return ""
}

// complete notes that a tensor is complete, for ops that wait for gradients.
func (b *backward) complete(tensor string) {
	b.has[tensor] = true
	b.behind.has(tensor)
}

// issue adds the waiting ops that lack nothing any more.
func (b *backward) issue(microbatch int) {
	for {
		next := b.behind.next(b.missing)
		if next == nil {
			return
		}
		o := *next
		o.Microbatch = microbatch
		b.q.Ops = append(b.q.Ops, o)
		b.complete(o.Out)
	}
}
