package model

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// checkLadder: while it is kept, levels are in its order, and so are the flows of each link: the
// first are those that cross higher ones.
func checkLadder(t *testing.T, x *MaxMin, kept, twins *int) {
	if !x.isKept {
		return
	}
	*kept++
	for p, i := range x.rungs {
		require.EqualValues(t, p, x.places[i])
		if p > 0 {
			require.LessOrEqual(t, x.levels[x.rungs[p-1]], x.levels[i])
		}
		isTwin := false
		for j, k := range x.links[i].across {
			isFirst := x.links[k].isSlack || int(x.places[k]) > p
			require.Equal(t, isFirst, j < int(x.balances[i].weight))
			isTwin = isTwin || x.levels[k] == x.levels[i]
		}
		if isTwin {
			require.True(t, x.isTwin[i])
			*twins++
		}
	}
}
