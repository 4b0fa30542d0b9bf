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

// TestTake: a clock that knows more in place knows what merge says, taken at once or one by one,
// and merge changes neither.
func TestTake(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10000 {
		a, b := randomClock(random), randomClock(random)
		wasA, wasB := slices.Clone(a), slices.Clone(b)
		all := slices.Clone(merge(a, b))
		require.Equal(t, wasA, a)
		require.Equal(t, wasB, b)
		one := slices.Clone(a)
		for _, k := range b {
			_, is := one.find(k.lane)
			isThere := slices.ContainsFunc(one, func(o known) bool { return o.lane == k.lane })
			require.Equal(t, isThere, is)
			one = one.raise(k)
			require.True(t, one.knows(k))
			require.False(t, one.knows(known{k.lane, 9}))
		}
		require.True(t, slices.Equal(all, one), "%v: %v and %v", one, a, b)
		taken := slices.Clone(a).absorb(b)
		require.True(t, slices.Equal(all, taken), "%v: %v and %v", taken, a, b)
		require.True(t, slices.Equal(all, merge(taken, b))) // what was taken before is not lost
		require.Equal(t, wasB, b)
	}
}

// TestKnow: a lane's clock changes in place only while nobody else has it.
func TestKnow(t *testing.T) {
	r := &racer{clocks: make([]clock, 2), own: make([]bool, 2), copied: make([]bool, 2),
		sent: make([]clock, 4), lent: make([]bool, 4)}
	news := clock{{1, 1}}
	r.learn(0, news)
	require.False(t, r.own[0]) // it is told itself
	r.learn(0, clock{{1, 3}, {2, 1}})
	require.Equal(t, clock{{1, 1}}, news)
	r.learn(0, clock{{3, 1}})
	require.True(t, r.own[0])
	r.lend(0, 0)
	r.learn(0, clock{{3, 7}})
	require.Equal(t, clock{{1, 3}, {2, 1}, {3, 1}}, r.sent[0])
	require.Equal(t, clock{{1, 3}, {2, 1}, {3, 7}}, r.clocks[0])

	r.lend(1, 0) // and what it tells to many, as it is, is copied once
	r.lend(2, 0)
	r.sent[3] = r.clocks[0]
	require.False(t, r.own[0])
	r.learn(0, clock{{3, 8}})
	for _, sent := range r.sent[1:] {
		require.Equal(t, clock{{1, 3}, {2, 1}, {3, 7}}, sent)
	}
	require.True(t, r.sent[2].is(r.sent[3]))
	require.True(t, r.lent[1] && !r.lent[2])
	require.Equal(t, clock{{1, 3}, {2, 1}, {3, 8}}, r.clocks[0])
	require.True(t, r.own[0])
}
