package schedule

import (
	"fmt"
	"math/bits"
	"slices"
)

// A barrier moves no data: nobody may leave it before everybody has come. What is proven is that:
// every rank's end follows from every rank's start, over messages and events.

// ranksSet is a set of ranks, a bit each.
type ranksSet []uint64

func (a ranksSet) add(b ranksSet) {
	for i := range a {
		a[i] |= b[i]
	}
}

// barrier is the walk that carries who has come.
type barrier struct {
	*verifier
	first []int32    // lane of each rank among all, and their number
	come  []ranksSet // known to each lane
	posts [][]ranksSet
	sent  []ranksSet // by handle
}

// verifyBarrier walks a barrier and reports ranks that leave early.
func (v *verifier) verifyBarrier(slots int) {
	b := &barrier{verifier: v}
	words := (v.s.Spec.Ranks + 63) / 64
	for rank := range v.s.Spec.Ranks {
		b.first = append(b.first, int32(len(b.come)))
		for range v.s.Program(rank).Lanes() {
			set := make(ranksSet, words)
			set[rank/64] |= 1 << (rank % 64)
			b.come = append(b.come, set)
		}
	}
	b.first = append(b.first, int32(len(b.come)))
	b.posts = make([][]ranksSet, len(b.come))
	s := *v.s
	s.Slots = slots
	if _, err := Execute(&s, Limits{}, Hooks{Step: b.step, Finished: b.left}); err != nil {
		v.reportError(err)
	}
}

func (b *barrier) step(at *Visit) error {
	known := b.come[at.lane]
	for _, handle := range at.In {
		if handle >= 0 {
			known.add(b.sent[handle])
		}
	}
	for _, e := range at.Step.Await {
		if e.Value > 0 && at.Slice == 0 {
			known.add(b.posts[b.first[at.Rank]+e.Lane][e.Value-1])
		}
	}
	for i, handle := range at.Out {
		for int(handle) >= len(b.sent) {
			b.sent = append(b.sent, nil)
		}
		b.sent[handle] = make(ranksSet, len(known))
		if !at.Step.Send[i].Relaxed {
			copy(b.sent[handle], known)
		}
	}
	if at.Step.Post && at.Last {
		b.posts[at.lane] = append(b.posts[at.lane], slices.Clone(known))
	}
	return nil
}

// left checks that all have come when a rank's lanes have all ended.
func (b *barrier) left(rank, _ int) error {
	all := make(ranksSet, (b.s.Spec.Ranks+63)/64)
	all[rank/64] |= 1 << (rank % 64)
	for lane := b.first[rank]; lane < b.first[rank+1]; lane++ {
		all.add(b.come[lane])
	}
	absent, count := -1, 0
	for i, word := range all {
		if count += bits.OnesCount64(word); absent < 0 && word != ^uint64(0) {
			absent = 64*i + bits.TrailingZeros64(^word)
		}
	}
	if count == b.s.Spec.Ranks || len(b.found) >= maxViolations {
		return nil
	}
	b.found = append(b.found, &Violation{Kind: Missing, Rank: rank, Lane: -1, Step: -1, Chunk: -1,
		Text: fmt.Sprintf("leaves the barrier when only %d of %d ranks must have come; not rank %d",
			count, b.s.Spec.Ranks, absent)})
	return nil
}
