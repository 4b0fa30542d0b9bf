package sim

import "collsim/unit"

// request is what asks for service: at a time, in a wave, of a link, with a place in line. The item
// is a packet (FIFO) or a message (fluid).
type request struct {
	t    unit.Time
	link uint64 // wave << 32 | link
	line uint64 // place in line among the requests of one moment at one link
	item int32
}

func (r *request) before(o *request) bool {
	if r.t != o.t {
		return r.t < o.t
	}
	if r.link != o.link {
		return r.link < o.link
	}
	return r.line < o.line
}

// queue is a binary heap of requests, typed and by value: container/heap would allocate for each.
type queue []request

func (q *queue) push(r request) {
	*q = append(*q, r)
	h := *q
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !r.before(&h[up]) {
			break
		}
		h[i], i = h[up], up
	}
	h[i] = r
}

// pop takes the first request. REQUIRES: there is one.
func (q *queue) pop() request {
	h := *q
	first, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	*q = h
	if len(h) == 0 {
		return first
	}
	i := 0
	for {
		down := 2*i + 1
		if down >= len(h) {
			break
		}
		if down+1 < len(h) && h[down+1].before(&h[down]) {
			down++
		}
		if !h[down].before(&last) {
			break
		}
		h[i], i = h[down], down
	}
	h[i] = last
	return first
}
