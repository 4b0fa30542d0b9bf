package plots

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/trace"
	"collsim/unit"
)

// TestTurns draws two microbatches of a pipeline: a colour a pass, a shade a microbatch, whatever
// comes first.
func TestTurns(t *testing.T) {
	run := &trace.Trace{End: 40, Tracks: []trace.Track{{}},
		Intervals: []trace.Interval{{Kind: trace.Compute, Chunk: -1, Peer: -1, End: 40, Done: 40}},
		Rows:      []trace.Row{{Kind: trace.Stream, Called: "compute"}}}
	turns, ops := map[string]Turn{}, []string{}
	for _, one := range []struct {
		name string
		turn Turn
	}{{"late", Turn{"forward", 1}}, {"first", Turn{"forward", 0}}, {"late:grad", Turn{"backward", 1}},
		{"first:grad", Turn{"backward", 0}}} {
		turns[one.name] = one.turn
		start := 10 * unit.Time(len(ops))
		ops = append(ops, one.name)
		run.Brackets = append(run.Brackets, trace.Bracket{Lanes: 1, Name: "matmul", Op: one.name,
			Issued: start, Ready: start, Start: start, End: start + 10})
	}
	svg, err := Timelines([]Panel{{Trace: run, Ops: ops, Turns: turns}}, Options{})
	require.NoError(t, err)
	for _, fill := range []string{"#A6CEE8", "#0B4F86", "#F9D9A0", "#B8620B"} {
		require.Regexp(t, regexp.QuoteMeta("fill:"+fill), string(svg))
	}
	require.Contains(t, string(svg), ">forward (the number is the microbatch)<")
	require.Contains(t, string(svg), "late: matmul")
	text, err := TimelinesText([]Panel{{Trace: run, Ops: ops, Turns: turns}}, TextOptions{})
	require.NoError(t, err)
	require.Contains(t, text, "F forward   B backward   the number is the microbatch")
}
