package algostest

import (
	"testing"

	"collsim/schedule"
	"collsim/unit"

	"github.com/stretchr/testify/require"
)

// TestEarliest works out by hand what no algorithm has: 100 bytes take 100 ns, a latency 10.
//
//	rank 0  silent put …100, packets …300, kernel …350, two messages with one slot each for their
//	        tags …450 …550
//	rank 1  the packets are there at 310, the second message at 560, the first at 460
func TestEarliest(t *testing.T) {
	const ns = unit.Nanosecond
	parse := func(first string) *schedule.Schedule {
		s, err := schedule.Parse("schedule\ncollective all_reduce int8 sum\nranks 2\ncount 100\n" +
			"slots 1\nrank 0\n  lane 0\n    " + first + ` @0
    put in to 1 at out packet @0
    compute 50000ps @0
    send in to 1/0:1 @0
    send in to 1/0:2 @0
rank 1
  lane 0
    wait from put 0 @0
    recv from 0/0:2 into out @0
    recv from 0/0:1 into out @0
`)
		require.NoError(t, err)
		return s
	}
	ends, err := Earliest(parse("put in to 1 at out silent"), 10*ns, 1e9, 0)
	require.NoError(t, err)
	require.Equal(t, []unit.Time{550 * ns, 560 * ns}, ends)
	for _, first := range []string{"put in to multimem{0,1} at out",
		"reduce multimem{0,1} in into out"} {
		_, err = Earliest(parse(first), 10*ns, 1e9, 0)
		require.ErrorIs(t, err, errMultimem)
	}
}
