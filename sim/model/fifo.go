package model

import "collsim/unit"

// FIFO sharing (docs/time.md): a message of n bytes asks for its links i = 1…m, one after another,
// at x_1 = D, x_2, …:
//
//	start_i = max(x_i, free_i)        free_i = start_i + ⌈n/b_i⌉                     Serve
//	tail_0 = start_1 + ⌈nk/κ⌉, or D + ⌈nk/κ⌉ of a post                               PutOut
//	tail_i = max(start_i + ⌈n/b_i⌉, tail_{i−1} + l_{i−1}), with l_0 = 0              Later
//	x_{i+1} = start_i + l_i (cut-through) or tail_i + l_i (store-and-forward)        Forward
//	arrival = tail_m + l_m                                                           Forward
//	the last byte leaves at start_1 + ⌈n/r⌉, r = min(κ/k, b_1, …, b_m)               Leaves
//
// A segment of the bytes from o to p takes ⌈p/b⌉ − ⌈o/b⌉ at every rate b. So the segments of a
// message together take the time of the whole. The next segment asks for the first link when this
// one has left. E and the arrival are those of the last segment.

// Serve returns when a link begins to carry a message that asks for it at x, and when it has
// carried it. The link is busy until free. A service that begins at x itself belongs to the next
// wave.
func Serve(x Moment, free, takes unit.Time) (start, over Moment) {
	start = Moment{x.T, x.Wave + 1}
	if free > x.T {
		start = Moment{T: free}
	}
	return start, start.Plus(takes)
}

// PutOut returns tail_0: when the lane has put out the last byte of a segment whose first link
// begins at start. The lane takes before for the bytes in front of the segment, and put for these
// and its own. A post is handed over from D on, whatever its link does.
func PutOut(start, d Moment, isPost bool, before, put unit.Time) Moment {
	if isPost {
		return d.Plus(put)
	}
	return start.Plus(put - before)
}

// Leaves returns when the last byte of a segment has left its rank, if the first link begins to
// carry it at start. before and after are Lead of the bytes in front of it, without and with its
// own.
func Leaves(start Moment, before, after unit.Time) Moment { return start.Plus(after - before) }

// Forward returns when a message asks for the next link, and when its last byte has arrived there,
// or at the end of the route. The present link begins to carry it at start, and its last byte is
// over that link at tail.
func (s Switching) Forward(start, tail Moment, latency unit.Time) (next, came Moment) {
	came = tail.Plus(latency)
	if s == StoreForward {
		return came, came
	}
	return start.Plus(latency), came
}

// SegmentEnd returns the end of the segment that begins at a byte of a message of n bytes.
func (r *Rules) SegmentEnd(from, n unit.Bytes) unit.Bytes {
	if s := r.Segment; s > 0 && n-from > s {
		return from + s
	}
	return n
}

// Segments returns the number of segments of a message that puts n bytes on its links: 1 for no
// bytes, and for multimem, which is never cut.
func (r *Rules) Segments(n unit.Bytes, multimem bool) int64 {
	if s := r.Segment; s > 0 && n > s && !multimem {
		return int64((n + s - 1) / s)
	}
	return 1
}
