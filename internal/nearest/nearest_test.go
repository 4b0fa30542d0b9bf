package nearest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"
)

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"ring", "ring", 0},
		{"", "ring", 4},
		{"rign", "ring", 1},          // a swap
		{"algoritm", "algorithm", 1}, // an insertion
		{"rings", "ring", 1},         // a deletion
		{"ping", "ring", 1},          // a replacement
		{"ca", "abc", 3},             // no place is edited twice; unrestricted Damerau would say 2
		{"kitten", "sitting", 3},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, Distance(tt.a, tt.b), "%s %s", tt.a, tt.b)
	}
}

// distance is the recursive definition, for short names only.
func distance(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	i, j := len(a)-1, len(b)-1
	last := 1
	if a[i] == b[j] {
		last = 0
	}
	d := min(distance(a[:i], b[:j])+last, distance(a[:i], b)+1, distance(a, b[:j])+1)
	if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
		d = min(d, distance(a[:i-1], b[:j-1])+1)
	}
	return d
}

func TestDistanceEqualsItsDefinition(t *testing.T) {
	params := gopter.DefaultTestParametersWithSeed(1)
	params.MinSuccessfulTests = 300
	p := gopter.NewProperties(params)
	// Words of up to 5 letters of a, b, c from the digits of a number.
	word := func(n int) string {
		var s strings.Builder
		for ; n > 0; n /= 4 {
			if n%4 > 0 {
				s.WriteByte("abc"[n%4-1])
			}
		}
		return s.String()
	}
	p.Property("distance", prop.ForAll(func(a, b int) bool {
		d := Distance(word(a), word(b))
		return d == distance(word(a), word(b)) && d == Distance(word(b), word(a))
	}, gen.IntRange(0, 1023), gen.IntRange(0, 1023)))
	p.TestingRun(t)
}

func TestTo(t *testing.T) {
	names := []string{"ring", "recursive-doubling", "bruck", "binomial", "direct", "flat"}
	require.Equal(t, []string{"ring"}, To("rign", names, 3))
	require.Equal(t, []string{"ring"}, To("RING", names, 3))
	require.Equal(t, []string{"recursive-doubling"}, To("recursive", names, 3))
	require.Equal(t, []string{"binomial"}, To("binomail", names, 3))
	require.Empty(t, To("tree", names, 3))
	require.Empty(t, To("", names, 3))
	require.Empty(t, To("rign", nil, 3))
	require.Equal(t, []string{"gpu0", "gpu2"}, To("gpu1", []string{"gpu0", "gpu2", "gpu3"}, 2))
	require.Empty(t, To(strings.Repeat("x", 1<<20), names, 3), "long names cost little")
}

func ExampleTo() {
	fmt.Println(To("algoritm", []string{"kind", "algorithm", "bytes"}, 1))
	// Output: [algorithm]
}
