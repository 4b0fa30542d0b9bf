package run_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/run"
	"collsim/scenarios"
	"collsim/unit"
)

// TestReadOnce: a file that a scenario names with several parameters, for several kinds and in
// several collectives is read once, whether it is there or not.
func TestReadOnce(t *testing.T) {
	const text = `[topology]
preset = "switch"
ranks = 4
bandwidth = "100 Gbit/s"
latency = "500 ns"
[[collective]]
kind = "all_reduce"
algorithm = ["file:allpairs.xml", "file:allpairs.xml(protocol=LL)"]
bytes = ["1 KiB", "1 MiB"]
[[collective]]
kind = ["all_reduce", "broadcast"]
algorithm = "file:nowhere.xml"
bytes = "1 KiB"
`
	reads := map[string]int{}
	read := func(path string, _ unit.Bytes) ([]byte, error) {
		reads[path]++
		if path == "allpairs.xml" {
			return scenarios.ExampleFile(path)
		}
		return nil, os.ErrNotExist
	}
	_, err := run.Load("s.toml", []byte(text), run.LoadOptions{Read: read})
	require.ErrorContains(t, err, `s.toml:12: collective[1].algorithm = "file:nowhere.xml"`)
	require.Equal(t, map[string]int{"allpairs.xml": 1, "nowhere.xml": 1}, reads)
}
