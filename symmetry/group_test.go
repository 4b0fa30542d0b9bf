package symmetry

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGroup: ranks add, subtract and turn round digit by digit, whatever the digits.
func TestGroup(t *testing.T) {
	for _, g := range []Group{{1}, {7}, {2}, {2, 2}, {2, 2, 2, 2}, {3, 5}, {2, 3, 2}, {1, 4, 1}} {
		digits := func(a int32) (d []int32) {
			for i := len(g) - 1; i >= 0; i-- {
				d, a = append(d, a%g[i]), a/g[i]
			}
			slices.Reverse(d)
			return d
		}
		backwards := slices.Clone(g)
		slices.Reverse(backwards)
		for a := range int32(g.Order()) {
			if slices.Equal(g, backwards) {
				want := digits(a)
				slices.Reverse(want)
				require.Equal(t, want, digits(g.Mirror(a)), "%v: %d", g, a)
			}
			for b := range int32(g.Order()) {
				sum, x, y := digits(g.Add(a, b)), digits(a), digits(b)
				for i := range g {
					require.Equal(t, (x[i]+y[i])%g[i], sum[i], "%v: %d and %d", g, a, b)
				}
				require.Equal(t, a, g.Sub(g.Add(a, b), b), "%v: %d and %d", g, a, b)
				n := int32(1) // so many move together
				for a+n < int32(g.Order()) && g.Add(a+n, b)-(a+n) == g.Add(a, b)-a {
					n++
				}
				require.Equal(t, n, g.Together(a, b), "%v: %d and %d", g, a, b)
				if outer := g.Outermost(b); b > 0 {
					require.True(t, outer <= b && g.Add(a, b)/outer != a/outer, "%v: %d", g, b)
				}
			}
		}
	}
}
