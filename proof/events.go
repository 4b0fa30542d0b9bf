package proof

import (
	"slices"

	"collsim/schedule"
)

// eventClock caches the clock that a fresh lane gets from the events it awaits. All lanes of a part
// begin on a rank by awaiting the same events, so the merge is made once.
type eventClock struct {
	rank   int32
	posts  []int32 // of each event's lane: its number of posts, up to the awaited one
	events []schedule.Event
	now    clock
}

// await merges, into a lane's clock, the clocks of the posts that its sub-step awaits.
func (r *racer) await(at *schedule.Visit) {
	lane, events := at.Index, at.Step.Await
	h := &r.eventClock
	first := r.first[at.Rank]
	knew := len(r.clocks[lane])
	// In rendezvous an acknowledgement may still be merged into a post: no caching.
	again := knew == 0 && !r.rendezvous && h.rank == at.Rank && slices.Equal(h.events, events) &&
		!slices.ContainsFunc(events, func(e schedule.Event) bool { return e.Value <= 0 })
	for i, e := range events {
		again = again && h.posts[i] == r.base[first+e.Lane]+e.Value
	}
	if again && len(events) > 0 {
		r.clocks[lane], r.own[lane] = h.now, false
		return
	}
	for _, e := range events {
		if n := r.base[first+e.Lane] + e.Value; n > 0 {
			r.learn(lane, r.posts[first+e.Lane][n-1])
			if r.near != nil {
				r.near.hear(lane, first+e.Lane, n, r.posts[first+e.Lane])
			}
		}
	}
	if knew == 0 && len(events) > 1 {
		h.rank, h.events, h.now = at.Rank, append(h.events[:0], events...), r.clocks[lane]
		h.posts, r.own[lane] = h.posts[:0], false
		for _, e := range events {
			h.posts = append(h.posts, r.base[first+e.Lane]+e.Value)
		}
	}
}
