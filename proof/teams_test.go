package proof

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/schedule"
)

// TestViolationsOfTeams: what is wrong with the schedule of a team is told by the team's ranks, in
// all that names one.
func TestViolationsOfTeams(t *testing.T) {
	const head = "schedule x\ncollective all_gather int32\nranks 3\ncount 4\n" +
		"cut out block even 3\n"
	for _, c := range []struct{ name, text, want string }{
		{"missing", head + `rank 0
  lane 0
    copy in into out[0]
rank 1
  lane 0
    copy in into out[1]
rank 2
  lane 0
    copy in into out[2]
`, "missing: rank 2 chunk 0: output element 0 is never written\n" +
			"missing: rank 2 chunk 1: output element 4 is never written\n" +
			"missing: rank 4 chunk 0: output element 0 is never written\n" +
			"missing: rank 4 chunk 2: output element 8 is never written\n" +
			"missing: rank 7 chunk 1: output element 4 is never written\n" +
			"missing: rank 7 chunk 2: output element 8 is never written\n"},
		{"misplaced", head + `rank 0
  lane 0
    copy in into out[0]
    copy in into out[1]
    copy in into out[2]
rank 1
  lane 0
    copy in into out[0 x2]
rank 2
  lane 0
    nop
`, "malformed: rank 4 lane 0 step 0 chunk 0: copy stores 4 elements in a region of 8\n" +
			"misplaced: rank 7 chunk 1: output element 4 holds the input of rank 7, which does not " +
			"belong there\nmisplaced: rank 7 chunk 2: output element 8 holds the input of rank 7, " +
			"which does not belong there\n"},
		{"race", head + `rank 0
  lane 0
    put in to 1 at out[0] silent
    signal to free 1
rank 1
  lane 0
    put in to 0 at out[1] silent
    wait from free 0
    copy in into out[1]
rank 2
  lane 0
    nop
`, "race: rank 4 lane 0 step 0 chunk 1: the caller of rank 7 reads and rank 4 lane 0 step 0 " +
			"writes out element 4 of rank 7; nothing orders them\n"},
		{"stall", head + `rank 0
  lane 0
    recv from 1 into out[1]
    send in to 1
rank 1
  lane 0
    recv from 0 into out[0]
    send in to 0
rank 2
  lane 0
    nop
`, "deadlock: rank 7 lane 0 step 0 chunk 1: 2 lanes wait in a circle\n" +
			"  rank 7 lane 0 step 0  recv chunk 1  waits for a message from rank 4 lane 0\n" +
			"  rank 4 lane 0 step 0  recv chunk 0  waits for a message from rank 7 lane 0, above\n"},
		{"unmatched", head + `rank 0
  lane 0
    send in to 1
rank 1
  lane 0
    nop
rank 2
  lane 0
    nop
`, "unmatched: rank 7 lane 0: 1 messages to rank 4 lane 0 are never received\n"},
	} {
		member, err := schedule.Parse(c.text)
		require.NoError(t, err, c.name)
		s, err := schedule.Compose("", 9, nil, []schedule.Part{{Ranks: []int{7, 4, 2}, Schedule: member}})
		require.NoError(t, err)
		_, found := Verify(s, Options{})
		require.NotEmpty(t, found, c.name)
		text := verdict(s, Options{})
		require.Contains(t, text, c.want, c.name)
		for _, v := range found {
			require.Contains(t, []int{7, 4, 2}, v.Rank, c.name)
			for _, at := range v.Steps {
				require.Contains(t, []int{7, 4, 2}, at.Rank, c.name)
			}
			require.NotRegexp(t, `rank [013568]`, text, c.name)
		}
	}
}

// TestVerifyTeams: two rings of three, on the even and the odd ranks, and a rank that does nothing.
func TestVerifyTeams(t *testing.T) {
	member := ring(t, 3, 30, nil)
	s, err := schedule.Compose("", 7, nil, []schedule.Part{{Ranks: []int{0, 2, 4}, Schedule: member},
		{Ranks: []int{5, 3, 1}, Schedule: member}})
	require.NoError(t, err)
	proven, found := Verify(s, Options{Traffic: true})
	require.Empty(t, found)
	require.Equal(t, int64(2*3*4), proven.Messages)
	require.Len(t, proven.Traffic, 6)
	require.Equal(t, []Traffic{{0, 2, 160}, {1, 5, 160}}, proven.Traffic[:2])
}
