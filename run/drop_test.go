package run_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/run"
)

// TestDrop: a run that keeps no results holds as much memory after many points as after few; one
// that keeps them holds more. Nothing is timed: what is live is counted after a collection.
func TestDrop(t *testing.T) {
	const scenario = `[topology]
preset = "switch"
ranks = 4
bandwidth = "400 Gbit/s"
latency = "1 us"
[[collective]]
kind = "all_reduce"
algorithm = "ring"
bytes = { from = "1 KiB", to = "%d KiB", step = "1 KiB" }
[check]
numbers = false
`
	const n = 600
	s, err := run.Load("s.toml", fmt.Appendf(nil, scenario, 2*n), run.LoadOptions{})
	require.NoError(t, err)
	live := func(drop bool) (grown float64) {
		var at [2]float64
		done := 0
		report, err := s.Run(context.Background(), run.RunOptions{Drop: drop, Done: func(*run.Result) {
			if done++; done%n == n/2 { // at a quarter, and at three quarters
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				at[done/n] = float64(m.HeapAlloc)
			}
		}})
		require.NoError(t, err)
		require.Equal(t, 2*n, done)
		require.Equal(t, 2*n, len(report.Results)+report.Dropped)
		require.Equal(t, drop, report.Dropped > 0)
		require.True(t, report.Good())
		return at[1] - at[0]
	}
	kept, dropped := live(false), live(true)
	const least = 400 // bytes of a result, far less than it has
	require.Greater(t, kept, float64(n*least))
	require.Less(t, dropped, kept/2)
}
