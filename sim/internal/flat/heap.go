package flat

import "cmp"

// Heap is a binary heap of entries, least first. It stores them by value, while container/heap
// would allocate for each. An entry that is out of date may stay in the heap: the caller recognizes
// and drops it when it is popped.
type Heap[K cmp.Ordered] []Entry[K]

// Entry is an entry of a heap. Entries are ordered by First, then Second, then Third. Of entries
// that are equal in all three, either may come first.
type Entry[K cmp.Ordered] struct {
	First         K
	Second, Third uint64
	Item          int32
}

// before reports whether e is less than o.
func (e *Entry[K]) before(o *Entry[K]) bool {
	if e.First != o.First {
		return e.First < o.First
	}
	if e.Second != o.Second {
		return e.Second < o.Second
	}
	return e.Third < o.Third
}

// Push adds an entry.
func (h *Heap[K]) Push(e Entry[K]) {
	*h = append(*h, e)
	h.up(len(*h)-1, e)
}

// Pop removes and returns the least entry. REQUIRES: there is one.
func (h *Heap[K]) Pop() Entry[K] {
	a := *h
	n := len(a) - 1
	first, last := a[0], a[n]
	a = a[:n]
	*h = a
	if n == 0 {
		return first
	}
	h.down(0, last)
	return first
}

// up puts an entry at its place, the gap at i or above it.
func (h *Heap[K]) up(i int, e Entry[K]) {
	a := *h
	for i > 0 {
		up := (i - 1) / 2
		if !e.before(&a[up]) {
			break
		}
		a[i], i = a[up], up
	}
	a[i] = e
}

// down puts an entry at its place, the gap at i or below it. It stops early among equal entries,
// which are common in collectives.
func (h *Heap[K]) down(i int, e Entry[K]) {
	a := *h
	for down := 2*i + 1; down < len(a); down = 2*i + 1 {
		if down+1 < len(a) && a[down+1].before(&a[down]) {
			down++
		}
		if !a[down].before(&e) {
			break
		}
		a[i], i = a[down], down
	}
	a[i] = e
}

// Fix restores the heap after entries have been appended from an index on.
func (h *Heap[K]) Fix(from int) {
	a := *h
	if n := len(a); n-from < from {
		for i := from; i < n; i++ {
			h.up(i, a[i])
		}
		return
	}
	for i := len(a)/2 - 1; i >= 0; i-- {
		h.down(i, a[i])
	}
}

// Keep removes all entries but those for which isTrue returns true.
func (h *Heap[K]) Keep(isTrue func(e *Entry[K]) bool) {
	a := (*h)[:0]
	for i := range *h {
		if isTrue(&(*h)[i]) {
			a = append(a, (*h)[i])
		}
	}
	*h = a
	h.Fix(0)
}
