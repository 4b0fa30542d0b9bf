package proof

import (
	"fmt"
	"math/bits"
	"slices"

	"collsim/collective"
	"collsim/schedule"
)

// A barrier moves no data, and neither does a schedule that only tells sizes. What can be proven of
// them is causal: whose end must follow from whose start, over messages and events. In a barrier
// nobody may leave before everybody has come.

// ranksSet is a set of ranks, a bit each.
type ranksSet []uint64

func (a ranksSet) add(b ranksSet) {
	for i := range a {
		a[i] |= b[i]
	}
}

// addFrom adds what comes from a rank, as it is seen from rank 0.
func (a ranksSet) addFrom(b ranksSet, g schedule.Group, from int32) {
	for i, word := range b {
		for ; word != 0; word &= word - 1 {
			rank := g.Add(int32(64*i+bits.TrailingZeros64(word)), from)
			a[rank/64] |= 1 << (rank % 64)
		}
	}
}

// causal is the walk that carries who has come.
type causal struct {
	*verifier
	want    *schedule.Causal
	first   []int32    // lane of each rank among all, and their number
	arrived []ranksSet // known to each lane
	posts   [][]ranksSet
	sent    []ranksSet // by handle
}

// verifyCausal walks a schedule and reports ranks that end too early.
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
		} else { // its rank has begun, no more
			b.sent[handle][at.Rank/64] |= 1 << (at.Rank % 64)
		}
	}
	if at.Step.Post && at.Last {
		b.posts[at.Index] = append(b.posts[at.Index], slices.Clone(known))
	}
	return nil
}

// needs is the ranks whose start a rank's end must follow from, nil for none but itself.
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

// left checks that all who are needed have come when a rank's lanes have all ended.
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
