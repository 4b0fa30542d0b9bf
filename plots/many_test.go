package plots

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/trace"
	"collsim/unit"
)

// manyRanks is a run of ranks with a lane each, of which each ends at a time of its own.
func manyRanks(ranks int, end func(rank int) unit.Time) *trace.Trace {
	var lanes []int
	var ends []unit.Time
	for rank := range ranks {
		lanes, ends = append(lanes, 1), append(ends, end(rank))
	}
	t := lanesOf(lanes, ends)
	t.End = slices.Max(ends)
	return t
}

func names(rows []row) (list []string) {
	for _, r := range rows {
		list = append(list, strings.TrimSpace(r.node+" "+r.rank))
	}
	return list
}

// TestEqualRanksShareARow: up to 32 ranks each has its own, of more those that do the same share
// one, which says for how many it stands. Nobody is forgotten: they add up to all.
func TestEqualRanksShareARow(t *testing.T) {
	thirds := func(rank int) unit.Time { return unit.Time(5 + rank%3) }
	shown, note := rows([]Panel{{Trace: manyRanks(32, thirds)}}, 64, false)
	require.Len(t, shown[0], 32)
	require.Empty(t, note)
	shown, note = rows([]Panel{{Trace: manyRanks(512, thirds)}}, 64, false)
	require.Equal(t, []string{"rank 0 × 171", "rank 1 × 171", "rank 2 × 170"}, names(shown[0]))
	require.Equal(t, "512 ranks in 3 classes, each of ranks that do the same at the same times: "+
		"the first of each is shown", note)
	shown, _ = rows([]Panel{{Trace: manyRanks(512, thirds)}}, 2, false)
	require.Len(t, shown[0], 2, "classes that have no room are not shown in part")
	require.NotContains(t, names(shown[0])[0], "×")
	shown, _ = rows([]Panel{{Trace: manyRanks(64, thirds)}}, 64, true)
	require.Len(t, shown[0], 64, "each is asked for")
}

// TestEqualLanesShareARow: up to 8 lanes of a rank have their own rows, of more those that do the
// same share one, which says for how many it stands. The critical path finds it.
func TestEqualLanesShareARow(t *testing.T) {
	lanes := func(rows []row) (list []string) {
		for _, r := range rows {
			list = append(list, strings.TrimSpace(r.rank+" "+r.lane))
		}
		return list
	}
	run := lanesOf([]int{8, 9, 10}, []unit.Time{5, 5, 5})
	run.Intervals[20].End = 4 // lane 3 of rank 2
	run.End = 5
	path := []Span{{Rank: 1, Lane: 7, To: 5}}
	shown, note := rows([]Panel{{Trace: run, Path: path}}, 64, false)
	require.Equal(t, []string{"rank 0 lane 0", "lane 1", "lane 2", "lane 3", "lane 4", "lane 5",
		"lane 6", "lane 7", "rank 1 lane 0 × 9", "rank 2 lane 0 × 9", "lane 3"}, lanes(shown[0]))
	require.Equal(t, "lanes that do the same at the same times share a row", note)
	p := &panel{trace: run, rows: shown[0], path: path}
	require.Equal(t, []stretch{{8, 0, 5, false}}, p.pathOn())
	shown, note = rows([]Panel{{Trace: run}}, 64, true)
	require.Len(t, shown[0], 27)
	require.Empty(t, note)
	shown, _ = rows([]Panel{{Trace: run}, {Trace: run}}, 64, false)
	require.Len(t, shown[1], 27, "of several timelines, those of one may differ in the other")
	text, err := TimelinesText([]Panel{{Trace: run}}, TextOptions{})
	require.NoError(t, err)
	require.Contains(t, text, "\nrank 1  lane 0 x 9  S")

	// 64 ranks of 64 lanes each, of which those of rank 5 are as many of another kind.
	var many []int
	for range 64 {
		many = append(many, 64)
	}
	run = lanesOf(many, slices.Repeat([]unit.Time{5}, 64))
	for n := range run.Intervals[5*64+32 : 6*64] {
		run.Intervals[5*64+32+n].End = 3
	}
	shown, note = rows([]Panel{{Trace: run}}, 64, false)
	require.Equal(t, []string{"rank 0 × 63 lane 0 × 64", "rank 5 lane 0 × 32", "lane 32 × 32"},
		lanes(shown[0]))
	require.Equal(t, "64 ranks in 2 classes, each of ranks that do the same at the same times: the "+
		"first of each is shown; lanes that do the same at the same times share a row", note)
}

// TestMoreLanesThanRows: of ranks that have more lanes than there are rows, some of them are shown,
// whether the ranks are equal or not.
func TestMoreLanesThanRows(t *testing.T) {
	apart := func(differ bool) *trace.Trace {
		run := lanesOf(slices.Repeat([]int{80}, 40), slices.Repeat([]unit.Time{5}, 40))
		for n := range run.Intervals {
			run.Intervals[n].End = unit.Time(100 + n%80) // no two lanes of a rank do the same
			if differ {
				run.Intervals[n].End = unit.Time(100 + n)
			}
		}
		return run
	}
	shown, note := rows([]Panel{{Trace: apart(false)}}, 64, false)
	require.Len(t, shown[0], 64)
	require.Equal(t, "rank 0 × 40", shown[0][0].rank)
	require.Equal(t, "all 40 ranks do the same at the same times: the first is shown, with 64 of its "+
		"80 lanes", note)
	shown, note = rows([]Panel{{Trace: apart(true)}}, 64, false)
	require.Len(t, shown[0], 64)
	require.Equal(t, "2 of 40 ranks are shown: the first lanes of those that finish last, at the "+
		"busiest links, and the lowest", note)
}

// TestThoseThatMatter: of many different ranks, those on the critical path come first, then
// those at the busiest links, then the last, wherever they are.
func TestThoseThatMatter(t *testing.T) {
	run := manyRanks(100, func(rank int) unit.Time { return unit.Time(200 - rank) })
	p := Panel{Trace: run, Path: []Span{{Rank: 70, To: 50}, {Rank: 40, From: 50, To: 200}}}
	for rank := range 100 {
		p.Names = append(p.Names, fmt.Sprint("gpu", rank))
		carried := unit.Bytes(1)
		if rank == 90 {
			carried = 1000
		}
		run.Counters = append(run.Counters, trace.Counter{Name: fmt.Sprintf("gpu%d->switch", rank),
			Samples: []trace.Sample{{At: 1, Value: carried}}})
	}
	shown, note := rows([]Panel{p}, 3, false)
	require.Equal(t, []string{"rank 40", "rank 70", "rank 90"}, names(shown[0]))
	require.Equal(t, "3 of 100 ranks are shown: those longest on the critical path, at the busiest "+
		"links, and that finish last", note)
	p.Path, run.Counters = nil, nil
	shown, _ = rows([]Panel{p}, 3, false)
	require.Equal(t, []string{"rank 0", "rank 1", "rank 2"}, names(shown[0]), "they finish last")
}

// TestNodesStandTogether: ranks of a node are below one another, under its name, wherever they are
// in the order of ranks.
func TestNodesStandTogether(t *testing.T) {
	p := Panel{Trace: manyRanks(4, func(int) unit.Time { return 5 }),
		Names: []string{"node0/gpu0", "node1/gpu0", "node0/gpu1", "node1/gpu1"}}
	shown, _ := rows([]Panel{p}, 64, false)
	require.Equal(t, []string{"node0 rank 0 gpu0", "rank 2 gpu1", "node1 rank 1 gpu0", "rank 3 gpu1"},
		names(shown[0]))
	svg, err := Timelines([]Panel{p}, Options{})
	require.NoError(t, err)
	require.Contains(t, string(svg), ">node1<")
	text, err := TimelinesText([]Panel{p}, TextOptions{Width: 60})
	require.NoError(t, err)
	require.Contains(t, text, "node1  rank 1 gpu0")
}

// TestPathOnRows: a path goes from row to row while nothing between is hidden, on the row of
// whoever stands for a rank.
func TestPathOnRows(t *testing.T) {
	run := manyRanks(4, func(int) unit.Time { return 40 })
	p := &panel{trace: run, rows: []row{{track: 0, alike: []int32{0, 3}}, {track: 1}},
		path: []Span{{Rank: 0, To: 10}, {Rank: 3, From: 10, To: 20}, {Rank: 1, From: 20, To: 25},
			{Rank: 2, From: 25, To: 30}, {Rank: 1, From: 30, To: 40}}}
	require.Equal(t, []stretch{{0, 0, 20, false}, {1, 20, 25, true}, {1, 30, 40, false}}, p.pathOn())
	svg, err := Timelines([]Panel{{Trace: run, Path: p.path}}, Options{})
	require.NoError(t, err)
	require.Contains(t, string(svg), ">critical path<")
	svg, err = Timelines([]Panel{{Trace: run}}, Options{})
	require.NoError(t, err)
	require.NotContains(t, string(svg), ">critical path<")
}

// curves are so many, with looks one after the other from first on, step apart.
func curves(count, first, step int) []Series {
	var all []Series
	for n := range count {
		all = append(all, Series{Name: fmt.Sprint("curve ", n), Look: first + n*step,
			X: []unit.Bytes{8, 64, 512}, Y: []float64{1, float64(n), float64(2 * n)}})
	}
	return all
}

// TestFacets: every curve is in one facet, and in none do two look alike.
func TestFacets(t *testing.T) {
	for _, c := range []struct {
		count, step, groups int
	}{
		{8, 1, 0}, {9, 1, 2}, {30, 1, 6}, {30, 8, 6}, {3, lookCount * lookCount, 3}, {64, 7, 13},
		{2, 0, 2}, // two that want to look alike
	} {
		series := append(curves(c.count, 3, c.step), Series{Name: "bound", Bound: true,
			X: []unit.Bytes{8}, Y: []float64{9}})
		groups, bounds := facets(series)
		require.Len(t, groups, c.groups, "%d curves, %d apart", c.count, c.step)
		require.Len(t, bounds, 1)
		found := 0
		for _, g := range groups {
			seen := map[string]bool{}
			for _, s := range g {
				key := fmt.Sprint(curveColour(s.Look), shapeOf(s.Look))
				require.False(t, seen[key], "%s looks like another one beside it", s.Name)
				seen[key] = true
				found++
			}
		}
		if groups != nil {
			require.Equal(t, c.count, found)
		}
		svg, err := Curves(series, CurveOptions{Title: "many"})
		require.NoError(t, err)
		for n := range c.count {
			require.Equal(t, 1, strings.Count(string(svg), fmt.Sprintf(">curve %d<", n)))
		}
		require.NotContains(t, string(svg), "NaN")
	}
	_, err := Curves(curves(121, 0, 1), CurveOptions{})
	require.EqualError(t, err, "121 curves: at most 120 can be told apart: fewer, or more "+
		"pictures, are expected")
	_, err = Curves(curves(40, 0, 1), CurveOptions{Figure: Slide})
	require.ErrorContains(t, err, "have no room on a picture of this height")
}

// TestXNames: what is no number has its names below the axis, and beyond them is no place.
func TestXNames(t *testing.T) {
	series := []Series{{Name: "ring", X: []unit.Bytes{1, 2, 3}, Y: []float64{3, 2, 1}}}
	svg, err := Curves(series, CurveOptions{XName: "preset",
		XNames: []string{"ring", "mesh", "torus"}})
	require.NoError(t, err)
	require.Contains(t, string(svg), ">torus<")
	_, err = Curves(series, CurveOptions{XNames: []string{"ring", "mesh"}})
	require.EqualError(t, err,
		`series "ring": x = 3: at most 2, the number of names, is expected`)
	svg, err = Curves([]Series{{Name: "ring", X: []unit.Bytes{6, 24, 96}, Y: []float64{3, 2, 1}}},
		CurveOptions{XName: "ranks"})
	require.NoError(t, err)
	for _, label := range []string{">6<", ">24<", ">96<"} {
		require.Contains(t, string(svg), label, "numbers that are there have labels")
	}
}
