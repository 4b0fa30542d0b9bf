package rank

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/schedule"
)

// pair is an exchange of two ranks: each sends its vector and adds what comes.
const pair = `schedule pair
collective all_reduce float32 sum
ranks 2
count 3
rank 0
  lane 0
    send in to 1 @0
    recvReduceCopy from 1, in into out @0
rank 1
  lane 0
    send in to 0 @0
    recvReduceCopy from 0, in into out @0
`

func parsed(t *testing.T) *schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(pair)
	require.NoError(t, err)
	return s
}

// TestSurvey: of two exchanges, each member talks with its own; nothing writes to an input unless
// it lies in the output's place.
func TestSurvey(t *testing.T) {
	s, err := schedule.Compose("", 5, nil, []schedule.Part{{Ranks: []int{4, 0}, Schedule: parsed(t)},
		{Ranks: []int{1, 3}, Schedule: parsed(t)}})
	require.NoError(t, err)
	v, err := look(s)
	require.NoError(t, err)
	require.Equal(t, [][]int32{{4}, {3}, nil, {1}, {0}}, v.peers)
	require.False(t, v.reload)
	for from, to := range map[string]string{"float32 sum": "float32 sum in place",
		"rank 1\n  lane 0\n": "rank 1\n  lane 0\n    copy out into in @0\n"} {
		s, err := schedule.Parse(strings.Replace(pair, from, to, 1))
		require.NoError(t, err)
		v, err = look(s)
		require.NoError(t, err)
		require.True(t, v.reload)
	}
}

// TestSurveyCounts: in how many slices ever, as many messages must be received as are sent.
func TestSurveyCounts(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"count 3", "count 3\nslices 3", ""},
		{"    send in to 0 @0\n", "", "rank 0 lane 0: step: malformed: from rank 1 lane 0: " +
			"1 more awaited than are sent"},
		{"    send in to 0 @0\n", "    send in to 0 @0\n    send in to 0 @0\n", "rank 1 lane 0: " +
			"step: malformed: to rank 0 lane 0: 1 more sent than are received"},
	} {
		s, err := schedule.Parse(strings.Replace(pair, c.from, c.to, 1))
		require.NoError(t, err)
		if _, err = look(s); c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, c.want)
	}
}
