package flat

import "cmp"

// Queue orders items, which are small numbers, by keys that may change. An item is in it once, with
// its present key.
type Queue[K cmp.Ordered] struct {
	heap  []queued[K]
	spots []int32 // by item: where it is in the heap, or −1
}

// queued is an item and its key.
type queued[K cmp.Ordered] struct {
	key  K
	item int32
}

// Len returns the number of items.
func (q *Queue[K]) Len() int { return len(q.heap) }

// Grow makes room for items below n.
func (q *Queue[K]) Grow(n int) {
	for len(q.spots) < n {
		q.spots = append(q.spots, -1)
	}
}

// First returns the item with the least key; any of several.
//
// REQUIRES: there is one.
func (q *Queue[K]) First() (item int32, key K) { return q.heap[0].item, q.heap[0].key }

// Set gives an item a key, and adds it if it is not in the queue.
func (q *Queue[K]) Set(item int32, key K) {
	x, i := queued[K]{key, item}, int(q.spots[item])
	if i < 0 {
		i = len(q.heap)
		q.heap = append(q.heap, x)
	}
	q.place(i, x)
}

// Remove takes an item out, if it is in the queue.
func (q *Queue[K]) Remove(item int32) {
	i, n := int(q.spots[item]), len(q.heap)-1
	if i < 0 {
		return
	}
	last := q.heap[n]
	q.heap, q.spots[item] = q.heap[:n], -1
	if i < n {
		q.place(i, last)
	}
}

// place puts an entry at its place: the gap at i, above it or below it.
func (q *Queue[K]) place(i int, x queued[K]) {
	a := q.heap
	for i > 0 {
		up := (i - 1) / 2
		if x.key >= a[up].key {
			break
		}
		a[i], q.spots[a[up].item] = a[up], int32(i)
		i = up
	}
	for down := 2*i + 1; down < len(a); down = 2*i + 1 {
		if down+1 < len(a) && a[down+1].key < a[down].key {
			down++
		}
		if a[down].key >= x.key {
			break
		}
		a[i], q.spots[a[down].item] = a[down], int32(i)
		i = down
	}
	a[i], q.spots[x.item] = x, int32(i)
}

// Each changes all keys by a function that keeps their order.
func (q *Queue[K]) Each(change func(K) K) {
	for i := range q.heap {
		q.heap[i].key = change(q.heap[i].key)
	}
}
