package reference

import (
	"fmt"
	"math/big"
	"testing"

	"collsim/collective"
	"collsim/dtype"

	"github.com/stretchr/testify/require"
)

// TestBoundTermByTerm evaluates the formulas of the type rounding, and of what scales add to them,
// once more, in arbitrary precision and from their statement: no term may be missing, and none may
// be larger than it has to be. Inputs are 1 on every rank, so Σ|x| = n.
func TestBoundTermByTerm(t *testing.T) {
	for _, n := range []int{2, 3, 7, 48, 300} {
		for _, height := range []int{2, 6, n - 1} {
			for _, op := range []collective.Op{collective.Sum, collective.Avg, collective.PremulSum} {
				for _, avg := range []collective.AvgMode{collective.AvgNCCL, collective.AvgPost} {
					for _, widens := range []bool{false, true} {
						s := collective.Spec{Kind: collective.AllReduce, Op: op, Avg: avg, Factor: 0.3,
							Ranks: n, Count: 1}
						r := rounding{n: n, height: min(height, n-1), widens: widens}
						termByTerm[dtype.F16](t, s, r)
						termByTerm[dtype.BF16](t, s, r)
						termByTerm[dtype.E5M2](t, s, r)
						if !widens {
							termByTerm[float32](t, s, r)
						}
					}
				}
			}
		}
	}
}

func termByTerm[T dtype.Number](t *testing.T, s collective.Spec, r rounding) {
	t.Helper()
	s.Type = dtype.Of[T]()
	name := fmt.Sprint(s.Type, s.Op, s.Avg, r)
	inputs := make([][]T, s.Ranks)
	for i := range inputs {
		inputs[i] = []T{dtype.From[T](1)}
	}
	c := newComparison(newDefinition(&s, reader(inputs), false), r)
	want := boundOf(s.Type, r)
	within(t, want, c.bound, name)

	o := c.d.origin(0, 0)
	c.elements(0, 0, []T{dtype.From[T](-7)}, o) // not right, so a tolerance is asked for
	n, u := exact(float64(s.Ranks)), exact(unitRoundoff(s.Type))
	one, least := exact(1), exact(s.Type.Smallest())
	half := exact(c.format.ulp(c.right[0]) / 2)
	again := summed(summed(want, u), product(want, u)) // (1+B)(1+u) − 1: one rounding more
	switch {
	case scaling(s) == "before":
		f := exact(dtype.Value(factor[T](&s)))
		off := exact(0) // |f − 1/n|, for each of the inputs
		if s.Op == collective.Avg {
			off.Abs(new(big.Float).SetPrec(400).Sub(f, quotientOf(one, n)))
		}
		want = summed(product(summed(product(f, again), off), n),
			product(product(summed(one, want), n), product(least, exact(0.5))))
	case scaling(s) == "after":
		want = summed(quotientOf(product(again, n), n), product(least, exact(0.5)))
	default:
		want = product(want, n)
	}
	within(t, summed(want, half), c.tolerance[0], name)
}

func scaling(s collective.Spec) string {
	switch {
	case s.ScalesBefore():
		return "before"
	case s.ScalesAfter():
		return "after"
	}
	return ""
}

// boundOf is the formula at the type rounding.
func boundOf(t dtype.Type, r rounding) *big.Float {
	grow := func(u float64, k int) *big.Float {
		x := exact(1)
		for range k {
			x = product(x, exact(1+u))
		}
		return x
	}
	one, u := exact(1), unitRoundoff(t)
	b := grow(u, r.height)
	b.Sub(b, one)
	if rump := product(exact(float64(r.n-1)), exact(u)); rump.Cmp(b) < 0 {
		b = rump
	}
	if !r.widens {
		return b
	}
	b = product(summed(one, b), grow(0x1p-24, r.n+1))
	return b.Sub(b, one)
}

// within requires that a float64 is no less than what it stands for, and hardly more.
func within(t *testing.T, want *big.Float, got float64, name string) {
	t.Helper()
	least, _ := want.Float64()
	require.GreaterOrEqual(t, got, least*(1-0x1p-52), name)
	require.LessOrEqual(t, got, least*(1+0x1p-9), name) // grown is nu/(1−nu) for nu below 2^−10
}

func exact(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }

func summed(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(400).Add(a, b) }

func product(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(400).Mul(a, b) }

func quotientOf(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(400).Quo(a, b) }

// TestTogether: what workers have found makes one report, whichever of them found it.
func TestTogether(t *testing.T) {
	worker := func() *comparison[float32] {
		return &comparison[float32]{report: Report{RanksAgree: true, Depth: 3, Bound: 0.5}}
	}
	for at := range 3 {
		list := []*comparison[float32]{worker(), worker(), worker()}
		require.Equal(t, Report{Numbers: NumbersExact, RanksAgree: true, Depth: 3, Bound: 0.5},
			together(list))
		list[at].report.RanksAgree = false
		list[at].report.MaxULP, list[at].report.MaxRelative = 2, 0.25
		list[at].mean.add(0, 6*ulpUnit, 4)
		list[(at+1)%3].mean.add(0, 0, 8)
		list[at].inexact = true
		require.Equal(t, Report{Numbers: NumbersBounded, MaxULP: 2, MeanULP: 0.5, MaxRelative: 0.25,
			Depth: 3, Bound: 0.5}, together(list))
		list[at].report.Wrong, list[at].report.First = 2, &Mismatch{Rank: 1, Element: 7}
		list[(at+1)%3].report.Wrong = 3
		list[(at+1)%3].report.First = &Mismatch{Rank: 1, Element: 5}
		got := together(list)
		require.Equal(t, NumbersMismatch, got.Numbers)
		require.EqualValues(t, 5, got.Wrong)
		require.Equal(t, &Mismatch{Rank: 1, Element: 5}, got.First)
	}
}
