package opgraph

import (
	"slices"

	"collsim/schedule"
)

// arc is one end of a dependency as seen from the other: twice the operation, and 1 more if the
// dependency is on its start.
type arc uint32

func arcTo(op int32, start bool) arc {
	a := arc(op) << 1
	if start {
		a++
	}
	return a
}

func (a arc) op() int32 { return int32(a >> 1) }

func (a arc) start() bool { return a&1 != 0 }

// arcs holds the dependencies of all operations in one direction, sorted by operation.
type arcs struct {
	first []int32
	to    []arc
}

func (l *arcs) of(op int32) []arc { return l.to[l.first[op]:l.first[op+1]] }

// newLinks sorts edges by their near end.
func newLinks(n int, edges []Edge, near, far func(*Edge) int32) arcs {
	first := make([]int32, n+2) // an operation's count is at first stored one entry later
	for i := range edges {
		first[near(&edges[i])+2]++
	}
	for i := range n {
		first[i+2] += first[i+1]
	}
	to := make([]arc, len(edges))
	for i := range edges {
		at := &first[near(&edges[i])+1]
		to[*at] = arcTo(far(&edges[i]), edges[i].Start)
		*at++
	}
	return arcs{first: first[:n+1], to: to}
}

// dependencies holds the dependency graph of some operations, and its division into lanes. Ranks
// with the same edges share it: a collective of many ranks takes the memory of one.
type dependencies struct {
	n            int32 // number of operations
	preds, succs arcs
	// order is a topological order, in which the lowest number of several comes first; places is
	// the inverse. Both are nil if that is the order of the numbers. After the first placed
	// operations come those that never start, since they wait for themselves.
	order, places []int32
	placed        int32

	*lanes
	lane  []int32 // of each operation
	ends  []int32 // posts of its lane once it has ended, 0 if it does not post then
	opens []int32 // posts of its lane once it was posted, 0 if it does not post then; nil: all 0
}

// lanes holds the operations of each lane, in order.
type lanes struct {
	first, ops []int32 // lane i has ops[first[i]:first[i+1]]
	// steps is the step of each operation in its lane; nil if every step is an operation.
	steps []int32
}

// count returns the number of lanes.
func (l *lanes) count() int { return len(l.first) - 1 }

// of returns the operations of a lane.
func (l *lanes) of(lane int32) []int32 { return l.ops[l.first[lane]:l.first[lane+1]] }

// dag holds the operations of a rank, and what messages add to their dependencies.
type dag struct {
	*dependencies
	ops  []Op
	mate []int32 // operation of Peer at the other end of the message, −1 for none
	// prev is a receive that ends no later, −1 for none; nil: none of any operation.
	prev  []int32
	round []int32 // of the message that it sends, or could send

	*writing
}

// writing is the state of the lane that is being written, and memory for its steps.
type writing struct {
	seen    []int32 // by lane: the last value that this one has awaited
	awaited []int32 // lanes in seen
	events  []schedule.Event
	from    [1]schedule.Source
	to      [1]schedule.Dest
}

// newDependencies sorts the operations of a rank, and divides them into lanes.
func newDependencies(n int, edges []Edge) *dependencies {
	on := func(e *Edge) int32 { return e.On }
	op := func(e *Edge) int32 { return e.Op }
	d := &dependencies{n: int32(n), preds: newLinks(n, edges, op, on),
		succs: newLinks(n, edges, on, op), lanes: &lanes{}}
	d.sort(edges)
	d.cover()
	d.number()
	return d
}

// newDAG returns the operations of a rank with their dependencies, unpaired.
func newDAG(ops []Op, on *dependencies) *dag {
	d := &dag{dependencies: on, ops: ops, mate: make([]int32, len(ops))}
	for i := range d.mate {
		d.mate[i] = -1
	}
	return d
}

// pos returns the place of an operation in the order.
func (d *dependencies) pos(op int32) int32 {
	if d.places == nil {
		return op
	}
	return d.places[op]
}

// at returns the operation at a place of the order.
func (d *dependencies) at(place int32) int32 {
	if d.order == nil {
		return place
	}
	return d.order[place]
}

// sort computes the order.
func (d *dependencies) sort(edges []Edge) {
	d.placed = d.n
	if !slices.ContainsFunc(edges, func(e Edge) bool { return e.On >= e.Op }) {
		return // every operation waits for earlier ones only: the order is that of the numbers
	}
	left := make([]int32, d.n)
	d.order, d.places = make([]int32, 0, d.n), make([]int32, d.n)
	var ready heap
	for op := range d.n {
		d.places[op] = -1
		if left[op] = int32(len(d.preds.of(op))); left[op] == 0 {
			ready.push(op)
		}
	}
	for len(ready) > 0 {
		op := ready.pop()
		d.places[op] = int32(len(d.order))
		d.order = append(d.order, op)
		for _, s := range d.succs.of(op) {
			if left[s.op()]--; left[s.op()] == 0 {
				ready.push(s.op())
			}
		}
	}
	d.placed = int32(len(d.order))
	for op := range d.n {
		if d.places[op] < 0 {
			d.places[op] = int32(len(d.order))
			d.order = append(d.order, op)
		}
	}
}

// runs reports whether an operation can start: it does not wait for itself.
func (d *dependencies) runs(op int32) bool { return d.pos(op) < d.placed }

// cycle returns operations in which each waits for the next, and the last for the first. It begins
// with the lowest; it is nil if there is no cycle.
func (d *dependencies) cycle() []int32 {
	if d.placed == d.n {
		return nil
	}
	var path []int32
	place := map[int32]int{}
	for at := d.order[d.placed]; ; {
		if from, seen := place[at]; seen {
			path = path[from:]
			break
		}
		place[at] = len(path)
		path = append(path, at)
		for _, p := range d.preds.of(at) {
			if !d.runs(p.op()) {
				at = p.op()
				break
			}
		}
	}
	i := slices.Index(path, slices.Min(path))
	return append(path[i:len(path):len(path)], path[:i]...)
}

// heap is a binary heap of operations, the lowest on top.
type heap []int32

func (h *heap) push(op int32) {
	*h = append(*h, op)
	a := *h
	for i := len(a) - 1; i > 0 && a[i] < a[(i-1)/2]; i = (i - 1) / 2 {
		a[i], a[(i-1)/2] = a[(i-1)/2], a[i]
	}
}

func (h *heap) pop() int32 {
	a := *h
	top, n := a[0], len(a)-1
	a[0] = a[n]
	a = a[:n]
	for i := 0; 2*i+1 < n; {
		c := 2*i + 1
		if c+1 < n && a[c+1] < a[c] {
			c++
		}
		if a[i] <= a[c] {
			break
		}
		a[i], a[c] = a[c], a[i]
		i = c
	}
	*h = a
	return top
}
