package event

import (
	"math/bits"

	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// requests queues the requests for links. None is made before the time of the one that was served
// last. So they are kept in buckets by the highest bit in which their time differs from that time
// (a radix heap). Each moves down a few times rather than past all others.
//
// Most requests of one time ask for different links, in the same wave: then any order will do. They
// are put in order only where two ask for the same link, or where a request is added at that very
// time.
type requests struct {
	held  []held               // by item
	later [64]list             // bucket i differs from now in bit i, and in none above
	least [64]unit.Time        // of each bucket
	full  uint64               // which buckets have any
	now   unit.Time            // of those that come next
	any   list                 // of these, where any order will do;
	tied  flat.Heap[unit.Time] // else all of them
	asked []unit.Time          // when what has come to be next asked each link
}

// held is a request, and the next in its list.
type held struct {
	model.Request
	next int32
}

// list is requests in the order in which they have come: the first and the last, if there is one.
type list struct {
	first, last int32
	some        bool
}

func newRequests(links int) requests {
	q := requests{asked: make([]unit.Time, links)}
	for i := range q.asked {
		q.asked[i] = never
	}
	return q
}

// push adds a request.
//
// REQUIRES: it is not before those that have been popped, and nothing else has its item.
func (q *requests) push(r model.Request) {
	if r.First == q.now {
		q.order()
		q.tied.Push(r)
		return
	}
	for int(r.Item) >= len(q.held) {
		q.held = append(q.held, held{})
	}
	q.held[r.Item].Request = r
	q.put(r.Item)
}

// put adds a request that comes later than those that come next.
func (q *requests) put(i int32) {
	at := q.held[i].First
	b := bits.Len64(uint64(at^q.now)) - 1
	if q.full>>b&1 == 0 || at < q.least[b] {
		q.least[b] = at
	}
	q.full |= 1 << b
	q.add(&q.later[b], i)
}

func (q *requests) add(l *list, i int32) {
	if q.held[i].next = -1; l.some {
		q.held[l.last].next = i
	} else {
		l.first, l.some = i, true
	}
	l.last = i
}

// next returns the time of the next request; never if there is none.
func (q *requests) next() unit.Time {
	switch {
	case q.any.some || len(q.tied) > 0:
		return q.now
	case q.full == 0:
		return never
	}
	return q.least[bits.TrailingZeros64(q.full)]
}

// pop takes the next request.
//
// REQUIRES: there is one.
func (q *requests) pop() model.Request {
	if !q.any.some && len(q.tied) == 0 {
		q.advance()
	}
	if !q.any.some {
		return q.tied.Pop()
	}
	x := &q.held[q.any.first]
	q.any.first, q.any.some = x.next, x.next >= 0
	return x.Request
}

// advance goes to the time of the next requests.
func (q *requests) advance() {
	b := bits.TrailingZeros64(q.full)
	i := q.later[b].first
	q.later[b].some = false
	q.full &^= 1 << b
	q.now = q.least[b]
	tie := false
	for i >= 0 {
		x := &q.held[i]
		next := x.next
		if x.First == q.now {
			on := &q.asked[model.AskedOf(&x.Request)]
			tie = tie || *on == q.now || model.AskedAt(&x.Request).Wave > 0
			*on = q.now
			q.add(&q.any, i)
		} else {
			q.put(i)
		}
		i = next
	}
	if tie {
		q.order()
	}
}

// order puts those in order that come next.
func (q *requests) order() {
	if !q.any.some {
		return
	}
	from := len(q.tied)
	for i := q.any.first; i >= 0; i = q.held[i].next {
		q.tied = append(q.tied, q.held[i].Request)
	}
	q.any.some = false
	q.tied.Fix(from)
}
