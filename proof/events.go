package proof

import (
	"slices"

	"collsim/schedule"
)

// heard is what events told a lane that knew nothing before. All lanes of a part begin on a rank
// with the same events, so it is worked out once.
type eventClock struct {
	rank   int32
	posts  []int32 // of the lanes, up to now
	events []schedule.Event
	now    clock
}

// await has the lane of a sub-step know what its events tell.
func (r *racer) await(at *schedule.Visit) {
	lane, events := at.Index, at.Step.Await
	h := &r.eventClock
	first := r.first[at.Rank]
	knew := len(r.clocks[lane])
	// In rendezvous a post may come to tell more.
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
