package run_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"collsim/run"
)

// TestDrop: a run that keeps no results holds none of them after their points; one that keeps them
// holds all. Those that the collector leaves are counted, so nothing else of the process matters.
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
	const n = 200
	s, err := run.Load("s.toml", fmt.Appendf(nil, scenario, n), run.LoadOptions{})
	require.NoError(t, err)
	held := func(drop bool) (count int) {
		var seen []weak.Pointer[run.Result]
		report, err := s.Run(context.Background(), run.RunOptions{Drop: drop, Done: func(r *run.Result) {
			seen = append(seen, weak.Make(r))
		}})
		require.NoError(t, err)
		runtime.GC()
		for _, r := range seen {
			if r.Value() != nil {
				count++
			}
		}
		require.Len(t, seen, n)
		require.Equal(t, n, len(report.Results)+report.Dropped)
		require.Equal(t, drop, report.Dropped > 0)
		require.True(t, report.Good())
		return count
	}
	require.Equal(t, n, held(false))
	require.Less(t, held(true), 5) // those in hand
}
