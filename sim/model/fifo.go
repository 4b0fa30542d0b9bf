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
// A segment of the bytes from o to p takes what its last byte takes beyond its first: ⌈p/b⌉ − ⌈o/b⌉
// at every rate, so that segments take together what the whole does. The next segment asks for the
// first link when this one has left. E and arrival are those of the last.

// Serve is when a link that is free from free on begins to carry what asks for it at x, and when it
// has carried it. What follows at x itself is of the next wave.
func Serve(x Moment, free, takes unit.Time) (start, over Moment) {
	start = Moment{x.T, x.Wave + 1}
	if free > x.T {
		start = Moment{T: free}
	}
	return start, start.Plus(takes)
}

// PutOut is tail_0: when the lane has put out the last byte of a segment whose first link begins at
// start. The lane takes before for the bytes in front of it and put with them. A post is handed
// over from D on, whatever its link does.
func PutOut(start, d Moment, isPost bool, before, put unit.Time) Moment {
	if isPost {
		return d.Plus(put)
	}
	return start.Plus(put - before)
}

// Leaves is when the last byte of a segment that its first link begins to carry at start has left
// its rank: before and after are Lead of the bytes in front of it, and with them.
func Leaves(start Moment, before, after unit.Time) Moment { return start.Plus(after - before) }

// Forward is when a message that a link begins to carry at start asks for the next link, and when
// its last byte has come there, or to the end of its route: tail is when that is over the link.
func (s Switching) Forward(start, tail Moment, latency unit.Time) (next, came Moment) {
	came = tail.Plus(latency)
	if s == StoreForward {
		return came, came
	}
	return start.Plus(latency), came
}

// SegmentEnd is where the segment ends that begins at a byte of a message of n bytes.
func (r *Rules) SegmentEnd(from, n unit.Bytes) unit.Bytes {
	if s := r.Segment; s > 0 && n-from > s {
		return from + s
	}
	return n
}

// Segments is how many segments a message has that puts n bytes on its links: 1 of no bytes, and
// of multimem, which is never cut.
func (r *Rules) Segments(n unit.Bytes, multimem bool) int64 {
	if s := r.Segment; s > 0 && n > s && !multimem {
		return int64((n + s - 1) / s)
	}
	return 1
}
