package proof

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// randomClock knows about half of a few lanes.
func randomClock(random *rand.Rand) (c clock) {
	for lane := range int32(8) {
		if random.IntN(2) == 0 {
			c = append(c, known{lane, 1 + random.Int32N(4)})
		}
	}
	return c
}

// TestTake: a clock that knows more in place knows what merge says, and merge changes neither.
func TestTake(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10000 {
		a, b := randomClock(random), randomClock(random)
		wasA, wasB := slices.Clone(a), slices.Clone(b)
		all := slices.Clone(merge(a, b))
		require.Equal(t, wasA, a)
		require.Equal(t, wasB, b)
		subset := !slices.ContainsFunc(b, func(k known) bool { return !a.knows(known{k.lane, 0}) })
		require.Equal(t, subset, a.take(b))
		if subset {
			require.Equal(t, all, a)
		}
		require.Equal(t, all, slices.Clone(merge(a, b))) // what was taken before is not lost
		require.Equal(t, wasB, b)
	}
}

// TestKnow: a lane's clock changes in place only while nobody else has it.
func TestKnow(t *testing.T) {
	r := &racer{clocks: make([]clock, 2), own: make([]bool, 2), sent: make([]clock, 2),
		lent: make([]bool, 2)}
	told := clock{{1, 1}}
	r.know(0, told)
	require.False(t, r.own[0]) // it is told itself
	r.know(0, clock{{1, 3}, {2, 1}})
	require.Equal(t, clock{{1, 1}}, told)
	r.know(0, clock{{3, 1}})
	require.True(t, r.own[0])
	r.lend(0, r.clocks[0])
	r.know(0, clock{{3, 7}})
	require.Equal(t, clock{{1, 3}, {2, 1}, {3, 1}}, r.sent[0])
	require.Equal(t, clock{{1, 3}, {2, 1}, {3, 7}}, r.clocks[0])
}
