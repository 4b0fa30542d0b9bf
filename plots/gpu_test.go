package plots_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/plots"
	"collsim/trace"
	"collsim/unit"
)

// twoStreams is a program of a GPU each on two ranks, of which the second begins so much later: a
// matmul beside a copy by an engine and a barrier, then another one.
//
//	compute  up.......... down....
//	comm     copy! ......
func twoStreams(late unit.Time) plots.Panel {
	const us = unit.Microsecond
	t := &trace.Trace{End: 100*us + late}
	for rank, by := range []unit.Time{0, late} {
		lane := int32(2 * rank)
		t.Tracks = append(t.Tracks, trace.Track{Rank: int32(rank)},
			trace.Track{Rank: int32(rank), Lane: 1})
		row := int32(len(t.Rows))
		t.Rows = append(t.Rows, trace.Row{Rank: int32(rank), Called: "compute"},
			trace.Row{Rank: int32(rank), Number: 1, Called: "comm"},
			trace.Row{Rank: int32(rank), Kind: trace.CopyEngine})
		add := func(row, track int32, op, name string, ready, start, end unit.Time) {
			t.Brackets = append(t.Brackets, trace.Bracket{Row: row, Track: track, Lanes: 1, Op: op,
				Name: name, Issued: by, Ready: by + ready, Start: by + start, End: by + end})
		}
		add(row, lane, "up", "up", 0, 0, 60*us)
		add(row, lane, "down", "down", 60*us, 60*us, 100*us)
		add(row+1, lane+1, "gather", "copy", 5*us, 10*us, 40*us)
		last := &t.Brackets[len(t.Brackets)-1]
		last.Waits = []trace.Wait{{From: by + 20*us, To: by + 30*us, Peer: 1 - int32(rank)}}
		add(row+1, lane+1, "gather", "barrier", 40*us, 40*us, 44*us)
		add(row+2, lane+1, "gather", "copy", 5*us, 10*us, 40*us)
		t.SMs = append(t.SMs, []trace.Level{{At: by, Value: 100}, {At: by + 60*us, Value: 50},
			{At: by + 100*us}})
		t.Memories = append(t.Memories, trace.Counter{Samples: []trace.Sample{{At: by},
			{At: by + 50*us, Value: 50 * unit.MB}, {At: by + 100*us, Value: 50 * unit.MB}}})
	}
	return plots.Panel{Trace: t, Ops: []string{"gather", "up", "down"}, SMs: 100,
		HBM: 2e12, Path: []plots.Span{{Rank: 1, Lane: 0, From: late, To: t.End}}}
}

func TestStreamsGolden(t *testing.T) {
	svg, err := plots.Timelines([]plots.Panel{twoStreams(20 * unit.Microsecond)}, plots.Options{
		Title: "a layer, 2 ranks", Caption: caption, WidthMM: 120})
	require.NoError(t, err)
	requireXML(t, svg)
	path := filepath.Join("testdata", "streams.svg")
	if *update {
		require.NoError(t, os.WriteFile(path, svg, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(svg))
}

// TestStreamsText has a row for each stream, engine, the SMs and the memory, and 100 of 100 SMs,
// then half of them; memory moves 50 MB in 50 us, half of its 2 TB/s.
func TestStreamsText(t *testing.T) {
	text, err := plots.TimelinesText([]plots.Panel{twoStreams(20 * unit.Microsecond)},
		plots.TextOptions{Width: 72})
	require.NoError(t, err)
	lines := strings.Split(text, "\n")
	require.Equal(t, "rank 0  compute        up---------------------|down-----------|", lines[0])
	require.Contains(t, lines[1], "..A--|....A--|A") // it waits for its peer in between
	require.True(t, strings.HasPrefix(lines[2], "        copy engine 0"), lines[2])
	require.Equal(t, "        SMs of 100     "+strings.Repeat("#", 24)+"8555", lines[3][:51])
	require.Contains(t, lines[4], "HBM of 2 TB/s  5555")
	require.Contains(t, text, "rank 1  compute")
	require.Contains(t, text, "A gather   B up   C down   1-9 tenths at work, # all")
}

// TestStreamsAlike: ranks of a program that do the same share their rows, however few they are; the
// same on lanes have rows of their own.
func TestStreamsAlike(t *testing.T) {
	p := twoStreams(0)
	text, err := plots.TimelinesText([]plots.Panel{p}, plots.TextOptions{})
	require.NoError(t, err)
	require.Contains(t, text, "rank 0 x 2  compute")
	require.Contains(t, text, "all 2 ranks do the same at the same times: the first is shown")
	p.Ops = nil // a collective: lanes, and below them the engine and what is at work
	text, err = plots.TimelinesText([]plots.Panel{p}, plots.TextOptions{})
	require.NoError(t, err)
	require.Contains(t, text, "rank 1  lane 0")
	require.Contains(t, text, "copy engine 0")
	require.NotContains(t, text, "compute")
}

// TestStreamsOfStems: of many operations, those whose names differ in numbers alone share a colour
// and a letter, and keep their names.
func TestStreamsOfStems(t *testing.T) {
	p := twoStreams(0)
	p.Ops = nil
	for n := range 14 {
		p.Ops = append(p.Ops, fmt.Sprintf("up%d", n))
	}
	p.Trace.Brackets[0].Op, p.Trace.Brackets[0].Name = "up3", "up3"
	p.Trace.Brackets[1].Op, p.Trace.Brackets[1].Name = "up12", "up12"
	text, err := plots.TimelinesText([]plots.Panel{p}, plots.TextOptions{})
	require.NoError(t, err)
	require.Contains(t, text, "compute        up3---")
	require.Contains(t, text, "|up12--")
	require.Contains(t, text, "A up*   B gather")
}
