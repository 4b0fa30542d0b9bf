package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/formats"
	"collsim/scenarios"
	"collsim/schedule"
)

// TestPlaced: steps that a text names are named as the file does.
func TestPlaced(t *testing.T) {
	f := &formats.File{Format: "msccl", Where: func(rank, lane, step int) formats.Place {
		switch {
		case rank > 1:
			return formats.Place{Block: -1, Step: -1}
		case step < 0:
			return formats.Place{Line: 3, Block: lane, Step: -1, Text: "gpu tb"}
		case lane == 7:
			return formats.Place{Line: 9, Block: -1, Step: -1}
		case lane == 8:
			return formats.Place{Block: -1, Step: -1, Text: "node 4"}
		}
		return formats.Place{Line: 10 + step, Block: lane, Step: step, Text: "gpu step"}
	}}
	race := &schedule.Violation{Kind: schedule.Race, Rank: 1, Lane: 2, Step: 3, Chunk: 4}
	at := func(rank, lane, step int) schedule.At {
		return schedule.At{Rank: rank, Lane: lane, Step: step}
	}
	x := placed("my.xml", f, race.Say("%v and %v, %v, %v, %v, %v, %v", at(1, 2, 3), at(0, 0, 5),
		at(0, 7, 0), at(1, 8, 1), at(2, 0, 0), at(0, 1, -1), at(3, 1, -1)))
	require.Equal(t, "my.xml:13: race: gpu step, chunk 4: gpu step (line 13) and gpu step (line 15), "+
		"rank 0 lane 7 step 0 (line 9), node 4, rank 2 lane 0 step 0, gpu tb, rank 3 lane 1",
		x.String())
	require.Equal(t, 13, x.Line)
	require.Equal(t, PlacedStep{1, 2, 3, 13, 2, 3, "gpu step"}, x.Places[0])
	require.Len(t, x.Places, 5)

	x = placed("my.xml", f, &schedule.Violation{Kind: schedule.Missing, Rank: 2, Lane: -1, Step: -1,
		Chunk: 0, Text: "output element 0 is never written"})
	require.Equal(t, "my.xml: missing: rank 2 chunk 0: output element 0 is never written", x.String())
}

// TestFileOptions: what stands in brackets behind a file's name.
func TestFileOptions(t *testing.T) {
	o, err := fileOptions([]scenarios.Param{{Name: "protocol", Value: "LL"},
		{Name: "as", Value: "all-gather"}, {Name: "strict_nop", Value: "true"},
		{Name: "runtime", Value: "none"}})
	require.NoError(t, err)
	require.Equal(t, formats.Options{Protocol: "LL", As: collective.AllGather, StrictNop: true,
		Runtime: "none"}, o)
	for _, c := range []struct{ name, value, want string }{
		{"as", "all_gahter", "no kind"},
		{"strict_nop", "perhaps", "true or false is expected"},
		{"runtme", "none", "did you mean runtime?"},
		{"segment", "4", "there are protocol, strict_nop, as, runtime"},
	} {
		_, err := fileOptions([]scenarios.Param{{Name: c.name, Value: c.value}})
		require.ErrorContains(t, err, c.want)
	}
}
