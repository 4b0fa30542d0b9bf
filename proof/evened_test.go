package proof

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/schedule"
)

// TestEvened: the proof of blocks that differ in size, by a walk of one rank on blocks that do not,
// is that of all ranks.
func TestEvened(t *testing.T) {
	tried := 0
	for ranks := 2; ranks <= tier.Of(7, 13); ranks++ {
		for channels := 1; channels <= 3; channels++ {
			for slices := 1; slices <= 2; slices++ {
				parts := int64(ranks * channels * slices)
				for _, count := range []int64{parts + 1, 2*parts - 1, 5*parts + int64(ranks) - 1, parts - 1} {
					s := ring(t, ranks, count, func(p *schedule.Plan) {
						p.Channels, p.Slices, p.Spec.InPlace = channels, slices, count%2 == 0
					})
					all, found := Verify(s, Options{Unfolded: true})
					require.Empty(t, found)
					one, found := Verify(s, Options{})
					require.Empty(t, found)
					if count < parts || count%parts == 0 { // a slice is empty, or all are of one size
						continue
					}
					tried++
					require.Equal(t, 1, one.Walked)
					all.Walked = 1
					require.Equal(t, all, one, "%d ranks, %d channels, %d slices, %d elements", ranks,
						channels, slices, count)
				}
			}
		}
	}
	require.Greater(t, tried, 90)
}

// detour is a ring of three ranks that sends the first block from another one's place, which holds
// as much only where blocks are of one size.
const detour = `schedule detour
collective all_reduce float32 sum
ranks 3
count %d
group 3
cut in block even 3 by rank
cut out block even 3 by rank
rank *
  lane 0
    copy in[0] into out[1]
    send out[1] to 1 @0
    recvReduceSend from 2, in[2] to 1 @1
    recvReduceCopySend from 2, in[1] into out[1] to 1 @2
    recvCopySend from 2 into out[0] to 1 @3
    recv from 2 into out[2] @4
`

// TestPlacesOfOthers: an element that is stored at another's place has no proof by even blocks.
func TestPlacesOfOthers(t *testing.T) {
	p, found := Verify(mustParse(t, fmt.Sprintf(detour, 6)), Options{})
	require.Empty(t, found)
	require.Equal(t, 1, p.Walked)
	require.Contains(t, verdict(mustParse(t, fmt.Sprintf(detour, 7)), Options{}),
		"copy stores 3 elements in a region of 2")
}
