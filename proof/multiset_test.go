package proof

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
)

// TestMultisets: multisets added in random orders have the same numbers as sorted lists of them,
// and equal numbers if and only if they have equal elements.
func TestMultisets(t *testing.T) {
	r := rand.New(rand.NewPCG(18, 1))
	b := newMultisets()
	type counted [40]int32
	lists := map[multiset]counted{0: {}}
	known := map[counted]multiset{{}: 0}
	all := []multiset{0}
	for n := range int32(len(counted{})) {
		one := counted{}
		one[n] = 1
		x := b.of(n)
		require.True(t, b.isOne(x))
		lists[x], known[one], all = one, x, append(all, x)
	}
	again := 0
	for range tier.Of(4000, 40000) {
		x, y := all[r.IntN(len(all))], all[r.IntN(min(len(all), 60))]
		sum := lists[x]
		for n, times := range lists[y] {
			sum[n] += min(times, often-sum[n])
		}
		z := b.union(x, y)
		require.Equal(t, z, b.union(y, x))
		if was, ok := known[sum]; ok {
			again++
			require.Equal(t, was, z)
			continue
		}
		_, taken := lists[z]
		require.False(t, taken, "another has that number")
		lists[z], known[sum], all = sum, z, append(all, z)
		got, last := counted{}, int32(-1)
		b.each(z, func(n, times int32) bool {
			require.Greater(t, n, last)
			got[n], last = times, n
			return true
		})
		require.Equal(t, sum, got)
	}
	require.Greater(t, again, 40)
}

// TestMultisetsShare: a sum that grows by a term each time takes memory for the terms alone, and
// all numbers once are one node, in whichever order they came.
func TestMultisetsShare(t *testing.T) {
	const n = 1 << 12
	up, down := newMultisets(), newMultisets()
	x, y := multiset(0), multiset(0)
	for i := range int32(n) {
		x, y = up.union(x, up.of(i)), down.union(down.of(n-1-i), y)
	}
	require.Equal(t, trie{bits: 12, times: 1}, up.nodes[x])
	require.Equal(t, up.nodes[x], down.nodes[y])
	require.Less(t, len(up.nodes), 10*n)
	total := 0
	require.False(t, up.each(x, func(_, times int32) bool {
		total += int(times)
		return total < 10
	}))
	require.Equal(t, 10, total)
	twice := up.union(x, x)
	require.Equal(t, trie{bits: 12, times: 2}, up.nodes[twice])
	often := up.union(x, up.intern(trie{bits: 12, times: often}))
	require.Equal(t, fmt.Sprint(trie{bits: 12, times: 1<<31 - 1}), fmt.Sprint(up.nodes[often]))
}
