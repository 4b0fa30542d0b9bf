package opgraph_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/formats/internal/foreign"
	"collsim/formats/internal/opgraph"
	"collsim/proof"
	"collsim/schedule"
)

// at is an operation of a rank.
type at struct{ rank, op int }

// lower lowers ranks of operations; the line of an operation is its number.
func lower(t testing.TB, ranks ...opgraph.Rank) *foreign.File {
	t.Helper()
	g := &opgraph.Graph{Name: "test", Ranks: slices.Clone(ranks)}
	g.Where = func(_, op int) foreign.Place { return foreign.Place{Line: op + 1} }
	f, err := g.Lower(&foreign.Options{File: "x"})
	require.NoError(t, err)
	return f
}

// random is a graph without cycles whose messages all have tags of their own: every dependency, and
// every message, goes from an operation to one with a later place in a common order.
func random(seed uint64) []opgraph.Rank {
	r := rand.New(rand.NewPCG(seed, 1))
	ranks := make([]opgraph.Rank, 1+r.IntN(4))
	order := make([][]int, len(ranks)) // of each rank's operations, when they come
	add := func(rank int, o opgraph.Op, when int) {
		g := &ranks[rank]
		op := int32(len(g.Ops))
		for on, then := range order[rank] {
			if then < when && r.IntN(4) == 0 {
				g.Edges = append(g.Edges, opgraph.Edge{Op: op, On: int32(on), Start: r.IntN(3) == 0})
			}
		}
		g.Ops, order[rank] = append(g.Ops, o), append(order[rank], when)
	}
	for n := range r.IntN(25) {
		from, to := r.IntN(len(ranks)), r.IntN(len(ranks))
		if r.IntN(3) == 0 {
			add(from, opgraph.Op{Kind: opgraph.Calc, Amount: int64(r.IntN(3))}, 2*n)
			continue
		}
		tag, size := int64(n), int64(r.IntN(3))
		add(from, opgraph.Op{Kind: opgraph.Send, Peer: int32(to), Tag: tag, Amount: size}, 2*n)
		add(to, opgraph.Op{Kind: opgraph.Recv, Peer: int32(from), Tag: tag, Amount: size}, 2*n+1)
	}
	return ranks
}

// precede computes, without a schedule, which operations have ended before each is posted.
func precede(ranks []opgraph.Rank) map[at]map[at]bool {
	ended := map[at]map[at]bool{}
	var before func(x at) map[at]bool
	sender := map[int64]at{}
	for rank := range ranks {
		for op, o := range ranks[rank].Ops {
			if o.Kind == opgraph.Send {
				sender[o.Tag] = at{rank, op}
			}
		}
	}
	// after is what has ended when x has, itself among it.
	after := func(x at) map[at]bool {
		all := maps.Clone(before(x))
		all[x] = true
		if o := ranks[x.rank].Ops[x.op]; o.Kind == opgraph.Recv {
			maps.Copy(all, before(sender[o.Tag]))
		}
		return all
	}
	before = func(x at) map[at]bool {
		if ended[x] == nil {
			ended[x] = map[at]bool{}
			o := ranks[x.rank].Ops[x.op]
			if o.Kind == opgraph.Recv && x.rank == sender[o.Tag].rank { // it does not travel
				maps.Copy(ended[x], after(sender[o.Tag]))
			}
			for _, e := range ranks[x.rank].Edges {
				on := at{x.rank, int(e.On)}
				if int(e.Op) == x.op && e.Start {
					maps.Copy(ended[x], before(on))
				} else if int(e.Op) == x.op {
					maps.Copy(ended[x], after(on))
				}
			}
		}
		return ended[x]
	}
	for rank := range ranks {
		for op := range ranks[rank].Ops {
			before(at{rank, op})
		}
	}
	return ended
}

// watch carries a schedule out and collects the same from it. A message tells what had ended when
// it was sent.
func watch(f *foreign.File) (map[at]map[at]bool, error) {
	ended := map[at]map[at]bool{}
	type post struct{ rank, lane, value int32 }
	lanes, posts := map[post]map[at]bool{}, map[post]map[at]bool{}
	count := map[post]int32{}
	sent := map[int32]map[at]bool{}
	_, err := schedule.Execute(f.Schedule, schedule.Limits{}, schedule.Hooks{
		Step: func(v *schedule.Visit) error {
			lane := post{v.Rank, v.Lane, 0}
			known := map[at]bool{}
			maps.Copy(known, lanes[lane])
			for _, e := range v.Step.Await {
				maps.Copy(known, posts[post{v.Rank, e.Lane, e.Value}])
			}
			x := at{int(v.Rank), f.Where(int(v.Rank), int(v.Lane), int(v.Number)).Line - 1}
			opens := len(v.Step.From)+len(v.Step.Send) == 0 && v.Step.Post && // followed by its own
				f.Where(int(v.Rank), int(v.Lane), int(v.Number)+1).Line == x.op+1
			if ended[x] == nil {
				ended[x] = maps.Clone(known)
			}
			for _, handle := range v.Out {
				sent[handle] = maps.Clone(known)
			}
			for _, handle := range v.In {
				if handle >= 0 {
					maps.Copy(known, sent[handle])
				}
			}
			if !opens {
				known[x] = true
			}
			if lanes[lane] = known; v.Step.Post {
				count[lane]++
				posts[post{v.Rank, v.Lane, count[lane]}] = maps.Clone(known)
			}
			return nil
		}})
	return ended, err
}

// TestOrder: the schedule orders what the graph orders, no more and no less.
func TestOrder(t *testing.T) {
	p := gopter.DefaultTestParametersWithSeed(6)
	p.MinSuccessfulTests = 1500
	laws := gopter.NewProperties(p)
	laws.Property("same order", prop.ForAll(func(seed uint64) string {
		ranks := random(seed)
		f := lower(t, ranks...)
		if len(f.Found) > 0 {
			return fmt.Sprint("found ", f.Found[0])
		}
		if _, wrong := proof.Verify(f.Schedule, proof.Options{}); len(wrong) > 0 {
			return fmt.Sprint("wrong ", wrong[0])
		}
		got, err := watch(f)
		if err != nil {
			return err.Error()
		}
		want := precede(ranks)
		if !maps.EqualFunc(want, got, maps.Equal) {
			return fmt.Sprintf("seed %d: want %v, got %v", seed, want, got)
		}
		return ""
	}, gen.UInt64()))
	laws.TestingRun(t)
}

// TestCycle: a cycle is found with all its operations, and what is not on it or behind it happens.
func TestCycle(t *testing.T) {
	calc := opgraph.Op{Kind: opgraph.Calc}
	f := lower(t, opgraph.Rank{Ops: []opgraph.Op{calc, calc, calc, calc, calc}, Edges: []opgraph.Edge{
		{Op: 1, On: 2}, {Op: 2, On: 3, Start: true}, {Op: 3, On: 1}, {Op: 4, On: 3}}})
	require.Len(t, f.Found, 1)
	require.Equal(t, schedule.Deadlock, f.Found[0].Kind)
	require.Contains(t, f.Found[0].Text, "line 2; line 3; line 4")
	happened, err := watch(f)
	require.ErrorContains(t, err, "3 lanes wait in a circle")
	require.Equal(t, []at{{0, 0}}, slices.Collect(maps.Keys(happened)))
}

// TestInOrder: of two computations behind different ones neither is first.
func TestInOrder(t *testing.T) {
	calc := opgraph.Op{Kind: opgraph.Calc}
	r := opgraph.Rank{Ops: []opgraph.Op{calc, calc, calc, calc}, Edges: []opgraph.Edge{
		{Op: 2, On: 0}, {Op: 3, On: 1}}}
	sorted, _, _, ok := r.InOrder([]int32{0, 1})
	require.True(t, ok, "ready together: the numbers decide")
	require.Equal(t, []int32{0, 1}, sorted)
	_, a, b, ok := r.InOrder([]int32{2, 3})
	require.False(t, ok)
	require.Equal(t, []int32{2, 3}, []int32{a, b})
	r.Edges = append(r.Edges, opgraph.Edge{Op: 2, On: 3, Start: true})
	sorted, _, _, ok = r.InOrder([]int32{2, 3})
	require.True(t, ok)
	require.Equal(t, []int32{3, 2}, sorted)
}

// TestLimits: what cannot be lowered is refused.
func TestLimits(t *testing.T) {
	const most = collective.MaxElements
	huge := []opgraph.Rank{{Ops: []opgraph.Op{{Kind: opgraph.Send, Peer: 1, Amount: most}}},
		{Ops: []opgraph.Op{{Kind: opgraph.Recv, Amount: most}}}}
	many := []opgraph.Rank{{Ops: make([]opgraph.Op, 1<<16)}}
	for want, g := range map[string]*opgraph.Graph{
		"0 ranks; 1 to 65536 are possible":               {},
		"rank 0 has 65536 chains of operations":          {Ranks: many},
		"65537 ranks; 1 to 65536 are possible":           {Ranks: make([]opgraph.Rank, 1<<16+1)},
		"messages of 144115188075855871 bytes on 2 rank": {Ranks: huge},
	} {
		g.Where = func(int, int) foreign.Place { return foreign.Place{} }
		_, err := g.Lower(&foreign.Options{File: "x"})
		require.ErrorContains(t, err, want)
		var e *foreign.Error
		require.ErrorAs(t, err, &e)
	}
}

// TestTags: tags of any size stay apart, and large ones are numbered.
func TestTags(t *testing.T) {
	var a, b opgraph.Rank
	for i, tag := range []int64{1 << 40, 5, -1} {
		a.Ops = append(a.Ops, opgraph.Op{Kind: opgraph.Send, Peer: 1, Tag: tag, Amount: int64(i)})
		b.Ops = append([]opgraph.Op{{Kind: opgraph.Recv, Tag: tag, Amount: int64(i)}}, b.Ops...)
	}
	f := lower(t, a, b)
	require.Empty(t, f.Found)
	_, wrong := proof.Verify(f.Schedule, proof.Options{})
	require.Empty(t, wrong)
	require.Contains(t, f.Schedule.String(), ":2")
}

// TestLargeChannel: a thousand messages with one tag, in order on both sides, need no tags of their
// own; the search for the order is short.
func TestLargeChannel(t *testing.T) {
	var a, b, c opgraph.Rank
	for i := range int32(1000) {
		a.Ops = append(a.Ops, opgraph.Op{Kind: opgraph.Send, Peer: 1, Amount: 4})
		b.Ops = append(b.Ops, opgraph.Op{Kind: opgraph.Recv, Peer: 0, Amount: 4},
			opgraph.Op{Kind: opgraph.Send, Peer: 2, Amount: 4})
		b.Edges = append(b.Edges, opgraph.Edge{Op: 2*i + 1, On: 2 * i})
		c.Ops = append(c.Ops, opgraph.Op{Kind: opgraph.Recv, Peer: 1, Amount: 4}, opgraph.Op{})
		c.Edges = append(c.Edges, opgraph.Edge{Op: 2*i + 1, On: 2 * i})
	}
	f := lower(t, a, b, c)
	require.Empty(t, f.Found)
	proven, wrong := proof.Verify(f.Schedule, proof.Options{})
	require.Empty(t, wrong)
	require.EqualValues(t, 2000, proven.Messages)
	require.Equal(t, 2, proven.Rounds)
}
