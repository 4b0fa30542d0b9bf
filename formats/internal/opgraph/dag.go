package opgraph

import "slices"

// arc is one end of a dependency as seen from the other.
type arc struct {
	op    int32
	start bool
}

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
		to[*at] = arc{far(&edges[i]), edges[i].Start}
		*at++
	}
	return arcs{first: first[:n+1], to: to}
}

// dag holds the dependency graph of a rank, and its division into lanes.
type dag struct {
	ops          []Op
	preds, succs arcs
	// order is a topological order, in which the lowest number of several comes first; pos is the
	// inverse. After the first placed operations come those that never start, since they wait for
	// themselves.
	order, pos []int32
	placed     int32
	mate       []int32 // operation of Peer at the other end of the message, −1 for none
	prev       []int32 // a receive that ends no later, −1 for none
	round      []int32 // of the message that it sends, or could send

	lanes [][]int32 // operations in order
	lane  []int32   // of each operation
	step  []int32   // its number in the lane
	ends  []int32   // posts of its lane once it has ended, 0 if it does not post then
	opens []int32   // posts of its lane once it was posted, 0 if it does not post then
}

func newDAG(r *Rank, self []Edge) *dag {
	n := len(r.Ops)
	edges := r.Edges
	if len(self) > 0 {
		edges = append(slices.Clone(edges), self...)
	}
	on := func(e *Edge) int32 { return e.On }
	op := func(e *Edge) int32 { return e.Op }
	d := &dag{ops: r.Ops, preds: newLinks(n, edges, op, on), succs: newLinks(n, edges, on, op)}
	for _, list := range []*[]int32{&d.pos, &d.mate, &d.prev, &d.round, &d.lane, &d.step, &d.ends,
		&d.opens} {
		*list = make([]int32, n)
	}
	for i := range n {
		d.mate[i], d.prev[i] = -1, -1
	}
	d.sort()
	return d
}

// sort computes the order.
func (d *dag) sort() {
	n := int32(len(d.ops))
	left := make([]int32, n)
	d.order = make([]int32, 0, n)
	var ready heap
	for op := range n {
		d.pos[op] = -1
		if left[op] = int32(len(d.preds.of(op))); left[op] == 0 {
			ready.push(op)
		}
	}
	for len(ready) > 0 {
		op := ready.pop()
		d.pos[op] = int32(len(d.order))
		d.order = append(d.order, op)
		for _, s := range d.succs.of(op) {
			if left[s.op]--; left[s.op] == 0 {
				ready.push(s.op)
			}
		}
	}
	d.placed = int32(len(d.order))
	for op := range n {
		if d.pos[op] < 0 {
			d.pos[op] = int32(len(d.order))
			d.order = append(d.order, op)
		}
	}
}

// runs reports whether an operation can start: it does not wait for itself.
func (d *dag) runs(op int32) bool { return d.pos[op] < d.placed }

// cycle returns operations in which each waits for the next, and the last for the first. It begins
// with the lowest; it is nil if there is no cycle.
func (d *dag) cycle() []int32 {
	if d.placed == int32(len(d.order)) {
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
			if !d.runs(p.op) {
				at = p.op
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
