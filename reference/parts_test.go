package reference

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/schedule"
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

// TestUntouchedScratch: what no step names of scratch is no part, so nobody goes through it; what
// no step names of the output is one.
func TestUntouchedScratch(t *testing.T) {
	const text = `schedule
collective all_reduce float32 sum
ranks 2
count 1000
scratch 100000
cut in block even 4
cut out block even 4
cut scratch block even 400
rank 0
  lane 0
    copy in[0] into scratch[0] @0
rank 1
  lane 0
    copy in[0] into out[0] @0
`
	s, err := schedule.Parse(text)
	require.NoError(t, err)
	v, err := look(s, lookOptions{limit: 1 << 20})
	require.NoError(t, err)
	require.Equal(t, []int64{250}, v.parts[schedule.Scratch].lengths)
	require.Equal(t, []int64{250, 750}, v.parts[schedule.Output].lengths)
}
