package run_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/run"
	"collsim/unit"
)

const summed = `[topology]
preset = "switch"
ranks = 2
bandwidth = "10 GB/s"
latency = "1 us"
[program]
iterations = 3
[[program.tensor]]
name = "x"
shape = [10000]
[[program.op]]
name = "twice"
kernel = "add"
in = ["x", "x"]
out = "a"
[[program.op]]
name = "sum"
call = "all_reduce"
algorithm = "ring"
in = "a"
out = "b"
[check]
numbers = false
`

// TestKeysOfBuffers: keys of [lowering] reach the passes, in a file, by --set, and as axes; what
// they cannot be is told with file and line.
func TestKeysOfBuffers(t *testing.T) {
	// 20 000 bytes: a sum of 6 µs, and 5 µs for each of two buffers, in each of three iterations.
	for set, want := range map[string]unit.Time{
		`registering="5 us"`:                               18 * unit.Microsecond, // all is private
		`register=true`:                                    18 * unit.Microsecond,
		`register=true,registering="5 us"`:                 48 * unit.Microsecond,
		`register=true,registering="5 us",persistent=true`: 28 * unit.Microsecond,
		// 4 chunks of 5000 bytes of 2·2.25 µs; copies cost nothing on this device
		`comm_buffer="10 KB"`: 3 * 18 * unit.Microsecond,
	} {
		var sets []string
		for _, key := range strings.Split(set, ",") {
			sets = append(sets, "lowering."+key)
		}
		results := ran(t, summed, sets...)
		require.Equal(t, want, results[0].Time, set)
	}
	results := ran(t, summed, `sweep.lowering.comm_buffer=["0 B","10 KB","40 KB"]`)
	require.Len(t, results, 3)
	require.Equal(t, results[0].Time, results[2].Time)
	for line, want := range map[string]string{
		`registering = "5"`:  "p.toml:25: lowering.registering",
		`comm_buffer = "8M"`: "p.toml:25: lowering.comm_buffer",
		`persistent = 3`:     "p.toml:25: lowering.persistent",
		`persistant = true`:  "p.toml:25: lowering.persistant",
		`register = "yes"`:   "p.toml:25: lowering.register",
	} {
		_, err := run.Load("p.toml", []byte(summed+"[lowering]\n"+line+"\n"), run.LoadOptions{})
		require.ErrorContains(t, err, want)
	}
}
