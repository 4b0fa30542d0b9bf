package perfetto_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats/perfetto"
	"collsim/trace"
	"collsim/unit"
)

// BenchmarkWrite writes 100,000 steps on 8 lanes.
func BenchmarkWrite(b *testing.B) {
	run := &trace.Trace{End: 100_000 * unit.Nanosecond}
	for rank := range int32(8) {
		run.Tracks = append(run.Tracks, trace.Track{Rank: rank})
		for i := range 12_500 {
			at := unit.Time(i) * unit.Nanosecond
			run.Intervals = append(run.Intervals, trace.Interval{Track: rank, Kind: trace.Send,
				Verb: trace.VerbSend, Chunk: int32(i), Peer: (rank + 1) % 8, Bytes: unit.Bytes(i),
				Ready: at, Start: at, Done: at, End: at + unit.Nanosecond})
		}
	}
	for b.Loop() {
		require.NoError(b, perfetto.Write(io.Discard, run, perfetto.Options{}))
	}
}
