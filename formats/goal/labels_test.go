package goal

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLabels holds labels to a map: those that count, those that skip, those with zeros in front,
// and others.
func TestLabels(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var l labels
	for range 50 {
		l.clear()
		known := map[string]int32{}
		prefix := []string{"l", "op_", "x1y"}[rng.IntN(3)]
		for op := range int32(300) {
			label := fmt.Sprintf("%s%d", prefix, op)
			switch rng.IntN(6) {
			case 0:
				label = fmt.Sprintf("%s%d", prefix, rng.IntN(5000))
			case 1:
				label = fmt.Sprintf("%s0%d", prefix, rng.IntN(300))
			case 2:
				label = []string{prefix, prefix + "a", "l", "z7", prefix + "99999999999"}[rng.IntN(5)]
			}
			want, twice := known[label]
			got, found := l.find([]byte(label))
			require.Equal(t, twice, found, label)
			if twice {
				require.Equal(t, want, got, label)
				continue
			}
			known[label] = op
			l.add([]byte(label), op)
			require.LessOrEqual(t, len(l.counted), 1000+4*int(op))
		}
		some := l.some()
		require.True(t, slices.IsSorted(some))
		require.Len(t, some, len(known))
		for _, label := range some {
			op, found := l.find([]byte(label))
			require.True(t, found)
			require.Equal(t, known[label], op, label)
		}
	}
}

// TestFarLabels: labels that leave many numbers out take no memory for these.
func TestFarLabels(t *testing.T) {
	var l labels
	for op := range int32(5000) {
		l.add(fmt.Appendf(nil, "l%d", 1000*op), op)
	}
	require.LessOrEqual(t, len(l.counted), 1000+4*5000)
	for op := range int32(5000) {
		got, known := l.find(fmt.Appendf(nil, "l%d", 1000*op))
		require.True(t, known)
		require.Equal(t, op, got)
	}
}
