package model

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// checkOrder holds shares to the order of the links while that is kept, and the groups of flows of
// each link to the order of the links across.
func checkOrder(t *testing.T, x *MaxMin, kept, twins *int) {
	if !x.isOrdered {
		return
	}
	*kept++
	for p, i := range x.order {
		require.EqualValues(t, p, x.positions[i])
		if p > 0 {
			require.LessOrEqual(t, x.shares[x.order[p-1]], x.shares[i])
		}
		isTwin := false
		for j, k := range x.links[i].across {
			isFirst := x.links[k].isUnsaturated || int(x.positions[k]) > p
			require.Equal(t, isFirst, j < int(x.balances[i].held))
			isTwin = isTwin || x.shares[k] == x.shares[i]
		}
		if isTwin {
			require.True(t, x.isTwin[i])
			*twins++
		}
	}
}
