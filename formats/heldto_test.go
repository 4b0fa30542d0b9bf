package formats_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/formats"
	"collsim/schedule"
)

// TestHeldTo: a file without data is held to what it is asked to be, as if read so, and to nothing
// if asked nothing; what was read first stays as it is.
func TestHeldTo(t *testing.T) {
	const text = "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n"
	read := func(o formats.Options) *formats.File {
		f, err := formats.Read("x.goal", strings.NewReader(text), o)
		require.NoError(t, err)
		return f
	}
	first := read(formats.Options{As: collective.Broadcast})
	for _, o := range []formats.Options{{}, {As: collective.Barrier},
		{As: collective.Broadcast, Root: 1}, {As: collective.Reduce, Root: 1}} {
		held, err := formats.HeldTo(first, o)
		require.NoError(t, err)
		require.Equal(t, read(o).Causal, held.Causal)
		require.Same(t, first.Schedule, held.Schedule)
		require.Equal(t, &schedule.Causal{Kind: collective.Broadcast}, first.Causal)
	}
	_, err := formats.HeldTo(first, formats.Options{File: "x.goal", As: collective.Broadcast, Root: 2})
	require.EqualError(t, err, "x.goal: root 2: there are 2 ranks")
}
