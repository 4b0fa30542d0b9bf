package proof

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/internal/tier"
	"collsim/schedule"
)

// TestAbsolute compares the values that rank 0 holds, element by element, when rank 0 alone is
// walked and when all ranks are: sums of the same inputs, in the same order, with the same factors,
// or undefined. Random schedules exchange and add many blocks at once.
func TestAbsolute(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(tier.Of(400, 8_000)) {
		rng := rand.New(rand.NewPCG(seed, 43))
		group := []schedule.Group{{2, 2}, {2, 2, 2}, {3, 2}, {3, 3}, {4, 4}, {12}, {2, 2, 2, 2},
			{2, 8}}[rng.IntN(8)]
		ranks := group.Order()
		spec := allReduce(ranks, int64(2*ranks))
		switch rng.IntN(3) {
		case 0:
			spec.Op, spec.Factor = collective.PremulSum, 0.5
		case 1:
			spec.Op = collective.Avg
		}
		s, err := schedule.Build(schedule.Plan{Name: "any", Spec: spec, Chunks: ranks, Group: group,
			Lane: func(l *schedule.Lane) { exchange(l, rng, group) }})
		require.NoError(t, err)
		f, why := foldingOf(s, Options{})
		require.Empty(t, why)
		folded, all := newVerifier(s), newVerifier(s)
		for _, v := range []*verifier{folded, all} {
			if v.scratches = 1; v == folded {
				v.fold = f
			}
			slots, _ := v.findSlots(0)
			require.Positive(t, slots)
		}
		require.False(t, f.misaligned)
		sameElements(t, folded, all, seen)
	}
	t.Log(seen)
	for _, what := range []string{"spoilt", "here", "scaled, here", "as seen from its block",
		"a sum, moved"} {
		require.Greater(t, seen[what], 100, what)
	}
}

// exchange has rank 0 send what it has of some blocks to other ranks, and add what it receives of
// them, time and again; now and then it mistakes two blocks for each other.
func exchange(l *schedule.Lane, rng *rand.Rand, group schedule.Group) {
	l.Copy(l.Out(0).Blocks(l.Ranks), l.In(0).Blocks(l.Ranks))
	for left := rng.IntN(4); left >= 0; left-- {
		far := int32(1 + rng.IntN(l.Ranks-1))
		blocks := rng.Perm(l.Ranks)[:max(2, rng.IntN(l.Ranks+1))]
		sent, received := l.Out(0), l.Out(0)
		for _, b := range blocks {
			sent.List = append(sent.List, int32(b))
			received.List = append(received.List, group.Sub(int32(b), far))
		}
		if list := received.List; rng.IntN(8) == 0 {
			i := 1 + rng.IntN(len(list)-1)
			list[i-1], list[i] = list[i], list[i-1]
		}
		from := int(group.Sub(0, far))
		l.Send(int(far), sent)
		if left == 0 {
			l.Completes()
		}
		switch rng.IntN(5) {
		case 0:
			l.Recv(from, received)
		case 1, 2:
			l.Reduce(from, received)
		default:
			l.Accumulate(from, received)
		}
	}
}

// sameElements compares what rank 0 holds in its output.
func sameElements(t *testing.T, folded, all *verifier, seen map[string]int) {
	t.Helper()
	f, whole := folded.fold, schedule.Span{Len: folded.s.Spec.Count}
	m, _ := folded.memory.of(schedule.Output, 0)
	n, _ := all.memory.of(schedule.Output, 0)
	got, want := m.read(nil, whole), n.read(nil, whole)
	for range whole.Len {
		x, y := got[0], want[0]
		got, want = skip(got, 1), skip(want, 1)
		if y.v == spoilt {
			require.Same(t, spoilt, x.v)
			seen["spoilt"]++
			continue
		}
		c, _ := f.seen(cell{v: x.v, off: x.off}, 1)
		require.Equal(t, y.v.runs, c.v.runs)
		require.Equal(t, y.off, c.off)
		require.Equal(t, y.v.scaled, c.v.scaled)
		s := f.sums[x.v]
		switch _, block, _ := f.block(x.off); {
		case x.v.absolute:
			require.Equal(t, y.v.tree, f.tree(x.v, 0))
			if seen["here"]++; x.v.scaled > 0 {
				seen["scaled, here"]++
			}
			if f.sums[s.right].left != nil && f.sums[s.right].right == nil {
				seen["a sum, moved"]++
			}
			require.Equal(t, y.v.tree, f.fromBlock(new(value), x.v, 0).tree)
		case block == 0:
			require.Equal(t, y.v.tree, x.v.tree)
			seen["as seen from its block"]++
		}
	}
}

// TestAbsoluteOutOfOrder: a sum in many blocks at once that is not in rank order stays so, whatever
// is added to it in order.
func TestAbsoluteOutOfOrder(t *testing.T) {
	for _, group := range []schedule.Group{{2, 2}, {2, 2, 2}} {
		ranks := group.Order()
		for _, isInOrder := range []bool{true, false} {
			s, err := schedule.Build(schedule.Plan{Name: "order", Spec: allReduce(ranks, int64(ranks)),
				Chunks: ranks, Group: group, Lane: func(l *schedule.Lane) {
					in, out := l.In(0).Blocks(ranks), l.Out(0).Blocks(ranks)
					l.Copy(out, in)
					received := func(far int) schedule.Region {
						r := l.Out(0) // blocks by name: a run would be translated as a whole
						for i := range ranks {
							r.List = append(r.List, int32(i^far))
						}
						return r
					}
					in, out = l.In(0), received(0)
					in.List = out.List
					first := []int{2, 1, 3} // of the inputs
					if isInOrder {
						first = nil
					}
					for _, far := range first {
						l.Send(far, in)
						l.ReduceRanked(far, received(far))
					}
					for far := 1 + len(first); far < ranks; far *= 2 {
						l.Send(far, out)
						l.ReduceRanked(far, received(far))
					}
				}})
			require.NoError(t, err)
			p, found := Verify(s, Options{})
			require.Empty(t, found)
			all, found := Verify(s, Options{Unfolded: true})
			require.Empty(t, found)
			require.Equal(t, isInOrder, all.KeepsRankOrder)
			require.Equal(t, 1, p.Walked)
			p.Walked = ranks
			require.Equal(t, all, p)
		}
	}
}

// TestAbsoluteReported expects a violation for each block that is added to a wrong one.
func TestAbsoluteReported(t *testing.T) {
	s, err := schedule.Build(schedule.Plan{Name: "shifted", Spec: allReduce(8, 8), Chunks: 8,
		Group: schedule.Group{8}, Lane: func(l *schedule.Lane) {
			l.Copy(l.Out(0).Blocks(8), l.In(0).Blocks(8))
			l.Send(1, l.Out(0).Blocks(8))
			l.Reduce(-1, l.Out(0).Blocks(8))
		}})
	require.NoError(t, err)
	v := newVerifier(s)
	v.fold, _ = foldingOf(s, Options{})
	p, found := v.prove(Options{Iterations: 1}, nil)
	require.Nil(t, p)
	require.Len(t, found, 8)
}

// TestScale: each segment is scaled as it is, whatever stands before it.
func TestScale(t *testing.T) {
	x, y := inputOf(1), inputOf(2)
	segs := []seg{{1, x, 0}, {1, x, 5}, {1, nil, 0}, {1, y, 0}, {1, spoilt, 0}, {1, x, 7}}
	newVerifier(ring(t, 4, 4, nil)).scale(nil, segs)
	for i, want := range []*value{x, x, nil, y, spoilt, x} {
		if want == nil || want == spoilt {
			require.Same(t, want, segs[i].v)
			continue
		}
		require.Equal(t, want.runs, segs[i].v.runs)
		require.Equal(t, []int32{0, 1}, []int32{want.scaled, segs[i].v.scaled})
	}
	require.Same(t, segs[0].v, segs[1].v)
}
