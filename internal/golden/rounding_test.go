package golden

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
)

// TestRoundingOfBFloat16: why sums in bfloat16 differ from ours, which round ties to even, as IEEE
// 754 has it. MPICH rounds ties away from zero; oneCCL, on a processor without AVX-512, cuts off
// what does not fit: with these the order of recursive doubling has their bits.
func TestRoundingOfBFloat16(t *testing.T) {
	rounded := map[string]func(float32) float32{
		"mpich": func(x float32) float32 {
			return math.Float32frombits((math.Float32bits(x) + 1<<15) &^ (1<<16 - 1))
		},
		"oneccl": func(x float32) float32 {
			return math.Float32frombits(math.Float32bits(x) &^ (1<<16 - 1))
		},
	}
	found := 0
	for _, library := range libraries(t) {
		for _, r := range recorded(t, library) {
			round := rounded[r.name()]
			if round == nil || r.algorithm != "recursive_doubling" || r.function != "all_reduce" ||
				r.spec.Type != dtype.BFloat16 {
				continue
			}
			found++
			var bytes []byte
			for i := range int(r.spec.Count) {
				x := math.Float32bits(neighbours(r.spec.Ranks).at(i, round))
				bytes = append(bytes, byte(x>>16), byte(x>>24))
			}
			require.Equal(t, r.value, hexOf(bytes), "%+v", r)
			require.NotEqual(t, r.value, ours("recursive-doubling").execute(t, &r), "%+v", r)
			require.True(t, strings.HasPrefix(r.why(), "bfloat16 is "), r.why())
		}
	}
	require.Equal(t, 6, found)
}

// at is the sum of an element in bfloat16, rounded after every addition.
func (s *sum) at(index int, round func(float32) float32) float32 {
	if s.left == nil {
		bits := element(dtype.BFloat16, collective.Sum, s.rank, index)
		return math.Float32frombits(uint32(bits) << 16)
	}
	return round(s.left.at(index, round) + s.right.at(index, round))
}

// neighbours is recursive doubling: the first ranks, as many as are needed, join in pairs to make a
// power of two; then partners at distance 1, 2, 4, … add.
func neighbours(ranks int) *sum {
	q := power(ranks)
	var all []*sum
	for rank := 0; rank < ranks; rank++ {
		s := input(rank)
		if rank < 2*(ranks-q) {
			rank++
			s = plus(s, input(rank))
		}
		all = append(all, s)
	}
	return doubled(all)
}
