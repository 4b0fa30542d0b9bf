package compare_test

import (
	"math/rand/v2"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/compare"
	"collsim/formats/measured"
	"collsim/unit"
)

func row(size unit.Bytes, us unit.Time, change ...func(*measured.Row)) measured.Row {
	r := measured.Row{Of: measured.Of{Kind: collective.AllReduce, Ranks: 8, Type: "float", Op: "sum"},
		Size: size, Time: us * unit.Microsecond, Root: -1}
	for _, f := range change {
		f(&r)
	}
	return r
}

// TestOf: calls that both sides have are paired by the median of their rows, whatever their names
// of types and algorithms; what differs in a fact that both state is of one side alone.
func TestOf(t *testing.T) {
	ring := func(r *measured.Row) { r.Algorithm = "RING"; r.Protocol = "LL" }
	tree := func(r *measured.Row) { r.Algorithm = "Tree"; r.Protocol = "LL" }
	ours := func(r *measured.Row) { r.Type, r.Algorithm, r.Line = "float32", "ring", 7 }
	half := func(r *measured.Row) { r.Type = "half" }
	r := compare.Of(
		compare.Side{Name: "a", Rows: []measured.Row{row(1024, 10, ring), row(1024, 12, ring),
			row(1024, 40, ring), row(2048, 20, tree), row(4096, 30, half), row(8192, 50)}},
		compare.Side{Name: "b", Rows: []measured.Row{row(1024, 24, ours), row(2048, 10, ours),
			row(4096, 30), row(8192, 40, ring), row(8192, 60, tree)}})
	require.Len(t, r.Pairs, 3)
	require.Equal(t, 12*unit.Microsecond, r.Pairs[0].A.Time)
	require.Equal(t, 3, r.Pairs[0].A.Rows)
	require.Equal(t, 7, r.Pairs[0].B.Line)
	require.InDelta(t, 2, r.Pairs[0].Ratio, 1e-12)
	require.InDelta(t, 0.8, r.Pairs[1].Ratio, 1e-12) // a call that does not say how matches both
	require.InDelta(t, 1.2, r.Pairs[2].Ratio, 1e-12)
	require.Equal(t, []int{0, 1, 2}, r.Worst)
	require.Equal(t, []int{0, 1}, r.Above(0.21)) // 50 over 40 is 1.25
	require.InDelta(t, 1.2, r.Median, 1e-12)
	require.InDelta(t, 2, r.P90, 1e-12)
	require.Len(t, r.OnlyA, 2)
	require.Len(t, r.OnlyB, 2)
}

// TestPlaces: calls in place are others than those out of place, and roots are told apart where
// both are stated.
func TestPlaces(t *testing.T) {
	inPlace := func(r *measured.Row) { r.InPlace = true }
	root := func(n int) func(*measured.Row) { return func(r *measured.Row) { r.Root = n } }
	for _, c := range []struct {
		a, b  func(*measured.Row)
		pairs int
	}{{inPlace, root(-1), 0}, {inPlace, inPlace, 1}, {root(0), root(1), 0}, {root(0), root(-1), 1}} {
		r := compare.Of(compare.Side{Rows: []measured.Row{row(8, 1, c.a)}},
			compare.Side{Rows: []measured.Row{row(8, 1, c.b)}})
		require.Len(t, r.Pairs, c.pairs)
	}
}

// TestLaws: a table agrees with itself, and the other way round ratios are the inverse.
func TestLaws(t *testing.T) {
	p := gopter.NewProperties(nil)
	p.Property("of itself and turned round", prop.ForAll(func(seed int64) bool {
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		random := func() (rows []measured.Row) {
			for range 1 + rng.IntN(12) {
				r := row(unit.Bytes(8<<rng.IntN(4)), unit.Time(1+rng.IntN(100)))
				r.Ranks, r.InPlace = 8*rng.IntN(3), rng.IntN(2) == 0
				r.Algorithm = []string{"", "ring", "Tree"}[rng.IntN(3)]
				rows = append(rows, r)
			}
			return rows
		}
		a, b := compare.Side{Name: "a", Rows: random()}, compare.Side{Name: "b", Rows: random()}
		there, back := compare.Of(a, b), compare.Of(b, a)
		if len(there.Pairs) != len(back.Pairs) || len(there.OnlyA) != len(back.OnlyB) {
			return false
		}
		product := 1.0
		for i := range there.Pairs {
			product *= there.Pairs[i].Ratio * back.Pairs[i].Ratio
		}
		itself := compare.Of(a, a)
		return product > 1-1e-9 && product < 1+1e-9 && len(itself.OnlyA)+len(itself.OnlyB) == 0
	}, gen.Int64()))
	p.TestingRun(t)
}

// TestNothing: tables without a common call have no median.
func TestNothing(t *testing.T) {
	r := compare.Of(compare.Side{}, compare.Side{Rows: []measured.Row{row(8, 1)}})
	require.Empty(t, r.Pairs)
	require.Len(t, r.OnlyB, 1)
	require.Zero(t, r.Median)
}
