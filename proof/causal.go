package proof

import (
	"fmt"
	"math/bits"
	"slices"

	"collsim/collective"
	"collsim/schedule"
)

// A barrier moves no data, and neither does a schedule that only exchanges sizes. For these the
// proof is causal: messages and events must order the start of some ranks before the end of others.
// In a barrier no rank may end before every rank has begun.

// A ranksSet is a set of ranks as a bit map.
type ranksSet []uint64

// add adds the ranks of b.
func (a ranksSet) add(b ranksSet) {
	for i := range a {
		a[i] |= b[i]
	}
}

// addFrom adds the ranks of b, each translated by the group element from. The set b was collected
// on rank from, but is counted as rank 0 sees it.
func (a ranksSet) addFrom(b ranksSet, g schedule.Group, from int32) {
	for i, word := range b {
		for ; word != 0; word &= word - 1 {
			rank := g.Add(int32(64*i+bits.TrailingZeros64(word)), from)
			a[rank/64] |= 1 << (rank % 64)
		}
	}
}

// causal is a walk that propagates, along messages and events, the set of ranks that have begun.
type causal struct {
	*verifier
	want    *schedule.Causal
	first   []int32    // index of each rank's first lane among all lanes; then their number
	arrived []ranksSet // of each lane: ranks known to have begun
	// of each lane and post: what the lane knew then
	posts [][]ranksSet
	sent  []ranksSet // the same of messages in flight, by handle
}

// verifyCausal walks one iteration and reports the ranks that may end before a rank that they
// depend on has begun.
func (v *verifier) verifyCausal(slots int, want *schedule.Causal) {
	b := &causal{verifier: v, want: want}
	words := (v.s.Spec.Ranks + 63) / 64
	for rank := range v.walked() {
		b.first = append(b.first, int32(len(b.arrived)))
		for range v.s.Program(rank).Lanes() {
			set := make(ranksSet, words)
			set[rank/64] |= 1 << (rank % 64)
			b.arrived = append(b.arrived, set)
		}
	}
	b.first = append(b.first, int32(len(b.arrived)))
	b.posts = make([][]ranksSet, len(b.arrived))
	once := *v
	once.iterations = 1
	_, err := once.run(slots, false, schedule.Hooks{Step: b.step, Finished: b.checkEnd})
	if err != nil {
		v.reportError(err)
	}
}

// step adds to a lane's set what its messages and events carry, and attaches the set to what the
// lane sends and posts.
func (b *causal) step(at *schedule.Visit) error {
	known := b.arrived[at.Index]
	for i, handle := range at.In {
		if handle >= 0 && b.fold == nil {
			known.add(b.sent[handle])
		} else if handle >= 0 {
			known.addFrom(b.sent[handle], b.fold.group, at.Step.From[i].Peer.Rank)
		}
	}
	for _, e := range at.Step.Await {
		if e.Value > 0 && at.Slice == 0 {
			known.add(b.posts[b.first[at.Rank]+e.Lane][e.Value-1])
		}
	}
	for i, handle := range at.Out {
		if handle < 0 {
			continue
		}
		for int(handle) >= len(b.sent) {
			b.sent = append(b.sent, nil)
		}
		b.sent[handle] = make(ranksSet, len(known))
		if !at.Step.Send[i].Relaxed {
			copy(b.sent[handle], known)
		} else { // a relaxed signal carries only that its sender has begun
			b.sent[handle][at.Rank/64] |= 1 << (at.Rank % 64)
		}
	}
	if at.Step.Post && at.Last {
		b.posts[at.Index] = append(b.posts[at.Index], slices.Clone(known))
	}
	return nil
}

// needs returns the ranks whose start must precede the end of a rank; the empty set if none but
// itself.
func (b *causal) needs(rank int) ranksSet {
	n := b.s.Spec.Ranks
	need := make(ranksSet, (n+63)/64)
	from, to := 0, n
	switch b.want.Kind {
	case collective.Broadcast, collective.Scatter:
		from, to = b.want.Root, b.want.Root+1
	case collective.Reduce, collective.Gather:
		if rank != b.want.Root {
			return need
		}
	case collective.SendRecv:
		from = (rank + n - 1) % n
		to = from + 1
	case collective.Custom:
		return need
	}
	for r := from; r < to; r++ {
		need[r/64] |= 1 << (r % 64)
	}
	return need
}

// checkEnd checks, when all lanes of a rank have ended, that every rank it needs has begun.
func (b *causal) checkEnd(rank, _ int) error {
	all := make(ranksSet, (b.s.Spec.Ranks+63)/64)
	all[rank/64] |= 1 << (rank % 64)
	for lane := b.first[rank]; lane < b.first[rank+1]; lane++ {
		all.add(b.arrived[lane])
	}
	absent, count, needed := -1, 0, 0
	for i, need := range b.needs(rank) {
		needed += bits.OnesCount64(need)
		count += bits.OnesCount64(need & all[i])
		if missing := need &^ all[i]; absent < 0 && missing != 0 {
			absent = 64*i + bits.TrailingZeros64(missing)
		}
	}
	if absent < 0 || len(b.found) >= maxViolations {
		return nil
	}
	verb := "leaves the barrier"
	if b.want.Kind != collective.Barrier {
		verb = fmt.Sprintf("ends its %v", b.want.Kind)
	}
	b.found = append(b.found,
		&schedule.Violation{Kind: schedule.Missing, Rank: b.names.of(rank), Lane: -1, Step: -1,
			Chunk: -1,
			Text: fmt.Sprintf("%s when only %d of %d ranks must have come; not rank %d",
				verb, count, needed, b.names.of(absent))})
	return nil
}
