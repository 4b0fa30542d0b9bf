package proof

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	second "collsim/internal/judge"
	"collsim/internal/tier"
	"collsim/schedule"
)

// TestFoldedAgrees: of random schedules with groups, right and damaged, rank 0 alone is found to do
// what all ranks together are found to do, by the proof and by a judge who writes groups out.
func TestFoldedAgrees(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(tier.Of(500, 8_000)) {
		rng := rand.New(rand.NewPCG(seed, 19))
		text := groupedText(rng)
		s, err := schedule.Parse(text)
		if err != nil {
			seen["refused"]++
			continue
		}
		o := Options{Iterations: 1 + rng.IntN(2), Rendezvous: rng.IntN(5) == 0, Traffic: true}
		kind, proven := agree(t, s, o, text)
		seen[kind]++
		if proven != nil && proven.KeepsRankOrder && s.Spec.Kind.Reduces() {
			seen["in rank order"]++
		}
		if kind == "torn" {
			p, _ := Verify(s, o)
			require.True(t, p == nil || p.Walked > 1, text)
		}
		if kind == "" || kind == "torn" || rng.IntN(4) > 0 {
			continue
		}
		plan, err := second.Read(text)
		require.NoError(t, err, text)
		v := second.Judge(plan, second.Options{Calls: o.Iterations, Rendezvous: o.Rendezvous,
			Seed: seed})
		require.Equal(t, kind == "proved", v.Finding == second.Right, "%s\n%v %v", text, v.Finding,
			v.Why)
		if proven != nil {
			require.Equal(t, proven.KeepsRankOrder, v.InOrder, text)
			require.Equal(t, proven.SameTree, v.SameTree, text)
		}
		seen["judged"]++
	}
	t.Log(seen)
	require.Positive(t, seen["in rank order"])
	require.Positive(t, seen["torn"])
}

// agree compares the proof of rank 0 with that of all ranks, and says what came of both; "" if
// there is nothing to fold. The proof is that of all, if there is one.
func agree(t *testing.T, s *schedule.Schedule, o Options, text string) (kind string, p *Proof) {
	t.Helper()
	if s.Spec.Kind == collective.Barrier {
		o.Causal = nil
	}
	f, _ := foldingOf(s, o)
	if f == nil {
		return "", nil
	}
	v := newVerifier(s)
	v.fold = f
	folded, wrong := v.prove(o, nil)
	unfolded := newVerifier(s)
	all, found := unfolded.prove(o, nil)
	if f.misaligned { // what rank 0 finds is not what others find, and Verify asks them
		return "torn", nil
	}
	about := fmt.Sprintf("%s\n%+v\nfolded: %v\nall: %v", text, o, wrong, found)
	require.Equal(t, all == nil, folded == nil, about)
	if all != nil {
		require.Equal(t, 1, folded.Walked)
		folded.Walked = all.Walked
		require.Equal(t, all, folded, about)
		return "proved", all
	}
	if worst(found) == schedule.Deadlock {
		require.Equal(t, stallOf(found), stallOf(wrong), about)
		return "deadlock", nil
	}
	worstOf := worst(found)
	isValue := func(k schedule.ViolationKind) bool { return k <= schedule.Misplaced }
	switch {
	case len(unfolded.found) >= maxViolations: // there may be more
	case isValue(worstOf):
		require.True(t, isValue(worst(wrong)), about)
		require.Equal(t, ofFirst(found), ofFirst(wrong), about)
	default: // which race is seen is luck; others end the walk, on whichever rank they are met
		require.Equal(t, worstOf, worst(wrong), about)
	}
	return worstOf.String(), nil
}

// ofFirst is the violations of rank 0, in words; of a step only that it adds what does not belong
// together: it is told once for elements of one value, which as rank 0 sees them may be more.
func ofFirst(list []*schedule.Violation) (texts []string) {
	for _, v := range list {
		switch text, _, adds := strings.Cut(v.Error(), " adds element "); {
		case v.Rank == 0 && adds:
			texts = append(texts, text)
		case v.Rank == 0:
			texts = append(texts, v.Error())
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

func stallOf(list []*schedule.Violation) *schedule.StallError {
	for _, v := range list {
		if v.Stall != nil {
			return v.Stall
		}
	}
	return nil
}

// TestHalfRings: two rings of half the ranks, with the programs of one, are found wrong by rank 0
// and by all.
func TestHalfRings(t *testing.T) {
	for _, ranks := range []int{4, 6, 16} {
		s, err := schedule.Build(schedule.Plan{Name: "ring", Spec: allReduce(ranks, int64(ranks)),
			Chunks: ranks, Group: schedule.Group{2, int32(ranks / 2)}, Lane: halfRingLane})
		require.NoError(t, err)
		require.Empty(t, Folds(s, Options{}))
		for _, o := range []Options{{}, {Unfolded: true}} {
			p, found := Verify(s, o)
			require.Nil(t, p)
			require.NotEmpty(t, found)
		}
		v := newVerifier(s)
		v.fold, _ = foldingOf(s, Options{})
		p, found := v.prove(Options{Iterations: 1}, nil)
		require.Nil(t, p)
		require.LessOrEqual(t, found[0].Kind, schedule.Misplaced)
	}
}

// halfRingLane is what rank 0 does in a ring of all ranks, but that the one before it is the last
// of the first half.
func halfRingLane(l *schedule.Lane) {
	p, prev, next := l.Ranks, l.Ranks/2-1, 1
	l.Send(next, l.Chunk(0))
	for i := 1; i < p-1; i++ {
		l.ReduceSend(prev, next, l.Chunk(-i))
	}
	l.ReduceCopySend(prev, next, l.Chunk(1))
	for i := range p - 2 {
		l.CopySend(prev, next, l.Chunk(-i))
	}
	l.Recv(prev, l.Chunk(2))
}

// TestWalked: where one rank stands for all, and where it does not.
func TestWalked(t *testing.T) {
	for _, c := range []struct {
		s      *schedule.Schedule
		walked int
	}{
		{ring(t, 8, 64, nil), 1},
		{ring(t, 8, 65, nil), 1}, // blocks are not of one size, but the ring is the same
		{ring(t, 8, 7, nil), 8},  // a block is empty
		{ring(t, 8, 64, func(p *schedule.Plan) { p.Group = nil }), 8},
		{direct(t, 5), 1},
		{doubling(t, allReduce(8, 5)), 1},
	} {
		p, found := Verify(c.s, Options{})
		require.Empty(t, found)
		require.Equal(t, c.walked, p.Walked)
	}
}

// doubling is recursive doubling of a power of two.
func doubling(t testing.TB, spec collective.Spec) *schedule.Schedule {
	t.Helper()
	p := schedule.Plan{Name: "doubling", Spec: spec, Lane: doublingLane}
	for d := 1; d < spec.Ranks; d *= 2 {
		p.Group = append(p.Group, 2)
	}
	s, err := schedule.Build(p)
	require.NoError(t, err)
	return s
}

func doublingLane(l *schedule.Lane) {
	for d := 1; d < l.Ranks; d *= 2 {
		l.Send(l.Rank^d, l.All())
		if 2*d == l.Ranks {
			l.Completes()
		}
		l.ReduceRanked(l.Rank^d, l.All())
	}
}

// TestMillion: a million ranks are proven without a look at their tree, in rank order and of one
// tree, with operators that scale before or after.
func TestMillion(t *testing.T) {
	const ranks = 1 << 20
	for _, op := range []collective.Op{collective.Sum, collective.Avg, collective.PremulSum} {
		spec := allReduce(ranks, 5)
		if spec.Op = op; op == collective.PremulSum {
			spec.Factor = 0.5
		}
		s := doubling(t, spec)
		v := newVerifier(s)
		v.fold, _ = foldingOf(s, Options{})
		p, found := v.prove(Options{Iterations: 2}, nil)
		require.Empty(t, found)
		require.True(t, p.KeepsRankOrder && p.SameTree)
		require.Equal(t, int64(20*ranks), p.Messages)
		m, _ := v.memory.of(schedule.Output, 0)
		require.Len(t, v.fold.exchanges(m.cells[0].v), 20)
	}
}

// TestTreesOfBlocks: where every rank adds up what all have sent it, beginning with its own, the
// tree of a block is another one on every rank, and on one rank another one in every block.
func TestTreesOfBlocks(t *testing.T) {
	for _, ranks := range []int{2, 3, 5, 80} {
		s, err := schedule.Build(schedule.Plan{Name: "all", Spec: allReduce(ranks, int64(2*ranks)),
			Chunks: ranks, Group: schedule.Group{int32(ranks)}, Lane: func(l *schedule.Lane) {
				for i := 1; i < l.Ranks; i++ {
					l.Send(l.Rank+i, l.Chunk(l.Rank).Blocks(l.Ranks))
				}
				for i := 1; i < l.Ranks; i++ {
					l.Reduce(l.Rank-i, l.Chunk(l.Rank-i).Blocks(l.Ranks))
				}
			}})
		require.NoError(t, err)
		p, found := Verify(s, Options{})
		require.Empty(t, found)
		require.Equal(t, 1, p.Walked)
		require.Equal(t, ranks == 2, p.SameTree)
		all, found := Verify(s, Options{Unfolded: true})
		require.Empty(t, found)
		p.Walked = ranks
		require.Equal(t, all, p)
	}
}

// TestApart: segments of copies end where these do, wherever they begin; no element is lost, and
// what is of no copy stays as it is.
func TestApart(t *testing.T) {
	f, x := &folding{length: 10}, inputOf(1)
	for _, c := range []struct{ whole, apart []seg }{
		{[]seg{{25, x, 13}}, []seg{{7, x, 13}, {10, x, 20}, {8, x, 30}}},
		{[]seg{{3, x, 7}, {30, x, 50}}, []seg{{3, x, 7}, {10, x, 50}, {10, x, 60}, {10, x, 70}}},
		{[]seg{{12, nil, 3}, {12, spoilt, 3}, {12, x, 9}},
			[]seg{{12, nil, 3}, {12, spoilt, 3}, {1, x, 9}, {10, x, 10}, {1, x, 20}}},
		{[]seg{{12, nil, 3}, {10, x, 20}}, []seg{{12, nil, 3}, {10, x, 20}}},
	} {
		require.Equal(t, c.apart, f.apart(slices.Clone(c.whole)))
	}
}
