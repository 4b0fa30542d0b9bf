package flat

import "cmp"

// Heap is a binary heap of entries by value: the queue of whoever orders things by time or share.
// container/heap would allocate for each. An entry that is no longer true stays in; who pops it
// sees that, and forgets it.
type Heap[K cmp.Ordered] []Entry[K]

// Entry stands in a heap: First decides, then Second, then Third. Of entries that are alike in all
// three, either may come first.
type Entry[K cmp.Ordered] struct {
	First         K
	Second, Third uint64
	Item          int32
}

func (e *Entry[K]) before(o *Entry[K]) bool {
	if e.First != o.First {
		return e.First < o.First
	}
	if e.Second != o.Second {
		return e.Second < o.Second
	}
	return e.Third < o.Third
}

// Push puts an entry in.
func (h *Heap[K]) Push(e Entry[K]) {
	*h = append(*h, e)
	h.up(len(*h)-1, e)
}

// Pop takes the first entry. REQUIRES: there is one.
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

// Replace puts an entry in the place of the first. REQUIRES: there is one.
func (h *Heap[K]) Replace(e Entry[K]) { h.down(0, e) }

// up puts an entry where it belongs, in the gap at i or above it.
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

// down puts an entry where it belongs, in the gap at i or below it. It stops early where many are
// alike, which in collectives is the rule.
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

// Fix puts the entries from a place on, which have been appended, where they belong.
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

// Keep forgets all entries but those that are still true.
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
