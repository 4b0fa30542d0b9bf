package reference

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGuessedPart: a part has its number whatever is guessed, and one that is named with another
// length is noticed where the guess is right, too.
func TestGuessedPart(t *testing.T) {
	for guess := range int64(4) {
		p := partition{}
		for i := range int64(3) {
			require.Equal(t, i, p.number(4*i, 4, i))
		}
		require.Equal(t, int64(1), p.number(4, 4, guess))
		require.False(t, p.clash)
		require.Equal(t, int64(1), p.number(4, 2, guess))
		require.True(t, p.clash, "guessed %d", guess)
	}
}
