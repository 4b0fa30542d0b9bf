package plots

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/trace"
	"collsim/unit"
)

func TestLooksAreDistinct(t *testing.T) {
	letters, colours := map[string]bool{}, map[uint32]bool{}
	for _, used := range []string{"-", "|", ".", " ", ":"} { // the rest of a text timeline
		letters[used] = true
	}
	for n, k := range kinds() {
		require.EqualValues(t, n, k, "a legend is in the order of the kinds")
		look := lookOf(k)
		require.Len(t, look.letter, 1)
		require.False(t, letters[look.letter], "%v shares the letter %q", k, look.letter)
		colour := uint32(look.fill.R)<<16 | uint32(look.fill.G)<<8 | uint32(look.fill.B)
		require.False(t, colours[colour], "%v shares the colour %06x", k, colour)
		letters[look.letter], colours[colour] = true, true
	}
	require.Panics(t, func() { lookOf(6) })
}

func TestAxis(t *testing.T) {
	const us = unit.Microsecond
	cases := []struct {
		end    unit.Time
		most   int
		unit   string
		labels []string
	}{
		{0, 5, "us", []string{"0"}},
		{1, 5, "ps", []string{"0", "1"}},
		{7, 3, "ps", []string{"0", "2", "4", "6"}},
		{999, 5, "ps", []string{"0", "200", "400", "600", "800"}},
		{1000, 5, "ns", []string{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}},
		{500 * us, 5, "us", []string{"0", "100", "200", "300", "400", "500"}},
		{500*us - 1, 3, "us", []string{"0", "200", "400"}},
		{9409 * us, 8, "ms", []string{"0", "2", "4", "6", "8"}},
		{9409 * us, 2, "ms", []string{"0", "5"}},
		{1050 * us, 4, "ms", []string{"0.0", "0.5", "1.0"}},
		{unit.Second + 1, 19, "s", []string{"0.0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7",
			"0.8", "0.9", "1.0"}},
		{30 * unit.Second, 2, "s", []string{"0", "20"}},
	}
	for _, c := range cases {
		a := newAxis(c.end, c.most)
		var labels []string
		for _, tick := range a.ticks() {
			labels = append(labels, a.label(tick))
		}
		require.Equal(t, c.unit, a.scale.name, "end %d", c.end)
		require.Equal(t, c.labels, labels, "end %d", c.end)
	}
}

func TestAxisHoldsAnyTime(t *testing.T) {
	for end := unit.Time(1); end <= unit.Forever && end > 0; end = end*3 + 1 {
		for most := 2; most < 20; most++ {
			ticks := newAxis(end, most).ticks()
			require.LessOrEqual(t, len(ticks), most+1)
			require.Less(t, end-ticks[len(ticks)-1], ticks[1], "the next tick is beyond the end")
		}
	}
}

// lanesOf is a run of ranks with so many lanes each, of which each rank ends at a time of its own.
func lanesOf(lanes []int, ends []unit.Time) *trace.Trace {
	t := &trace.Trace{}
	for rank, n := range lanes {
		for lane := range n {
			step := trace.Interval{Track: int32(len(t.Tracks)), End: ends[rank]}
			t.Intervals = append(t.Intervals, step)
			t.Tracks = append(t.Tracks, trace.Track{Rank: int32(rank), Lane: int32(lane)})
		}
	}
	return t
}

// TestRowsOfSeveral: a rank that is late in one timeline is shown in all that have it.
func TestRowsOfSeveral(t *testing.T) {
	one := []int{1, 1, 1, 1, 1, 1}
	panels := []Panel{{Trace: lanesOf(one, []unit.Time{7, 7, 7, 7, 7, 8})},
		{Trace: lanesOf(one, []unit.Time{9, 9, 9, 10, 9, 9})},
		{Trace: lanesOf([]int{1, 1, 2, 2}, []unit.Time{1, 2, 2, 1})}}
	shown, note := rows(panels, 4, false)
	var tracks [][]int32
	for _, of := range shown {
		tracks = append(tracks, nil)
		for _, r := range of {
			tracks[len(tracks)-1] = append(tracks[len(tracks)-1], r.track)
		}
	}
	// Rank 3 is the last by the second. The third has two rows for it, and one left.
	require.Equal(t, [][]int32{{0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 4, 5}}, tracks)
	require.Equal(t, "12 of 18 rows are shown: the lowest ranks, and those that finish last", note)
}

func TestRowsThatAreShown(t *testing.T) {
	cases := []struct {
		name  string
		lanes []int
		ends  []unit.Time
		most  int
		want  []int32 // tracks
		gaps  []int   // rows with ranks left out above
	}{
		{"all fit", []int{1, 2, 1}, []unit.Time{1, 2, 3}, 4, []int32{0, 1, 2, 3}, nil},
		{"none", nil, nil, 4, nil, nil},
		{"all alike: the lowest", []int{1, 1, 1, 1, 1}, []unit.Time{7, 7, 7, 7, 7}, 3,
			[]int32{0, 1, 2}, nil},
		{"half for the late", []int{1, 1, 1, 1, 1, 1}, []unit.Time{7, 7, 7, 7, 9, 8}, 4,
			[]int32{0, 1, 4, 5}, []int{2}},
		{"room that the lowest leave is used", []int{1, 2, 2, 1}, []unit.Time{1, 1, 1, 1}, 4,
			[]int32{0, 1, 2, 5}, []int{3}},
		{"ranks are shown whole", []int{2, 2, 2}, []unit.Time{1, 2, 3}, 5,
			[]int32{0, 1, 4, 5}, []int{2}},
		{"a rank with too many lanes", []int{9, 1, 1}, []unit.Time{9, 1, 1}, 4,
			[]int32{0, 1, 9, 10}, nil},
		{"every rank has too many", []int{9, 9, 9}, []unit.Time{1, 8, 9}, 4,
			[]int32{0, 1, 18, 19}, []int{2}},
		{"one rank with too many", []int{9}, []unit.Time{1}, 4, []int32{0, 1, 2, 3}, nil},
		{"one row", []int{2, 2}, []unit.Time{1, 2}, 1, []int32{0}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			run := lanesOf(c.lanes, c.ends)
			all, note := rows([]Panel{{Trace: run}}, c.most, true)
			shown := all[0]
			var tracks []int32
			var gaps []int
			for n, r := range shown {
				tracks = append(tracks, r.track)
				if r.gap {
					gaps = append(gaps, n)
				}
			}
			require.Equal(t, c.want, tracks)
			require.Equal(t, c.gaps, gaps)
			require.Equal(t, len(tracks) < len(run.Tracks), note != "", "what is left out is told")
		})
	}
}
