package run_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/run"
	"collsim/unit"
)

// TestDatalessFileIsStreamed: a file without data is opened and read once, whatever points it has,
// and is never asked for as a whole.
func TestDatalessFileIsStreamed(t *testing.T) {
	const text = `[topology]
preset = "switch"
ranks = 2
bandwidth = "1 GB/s"
latency = "1 us"

[[collective]]
kind = ["custom", "broadcast"]
bytes = "8 B"
algorithm = "file:one.goal"
`
	const goal = "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n"
	opened, closed := 0, 0
	s, err := run.Load("s.toml", []byte(text), run.LoadOptions{
		Read: func(string, unit.Bytes) ([]byte, error) { return nil, errors.New("as a whole") },
		Open: func(name string, _ unit.Bytes) (io.ReadCloser, error) {
			require.Equal(t, "one.goal", name)
			opened++
			return &counted{strings.NewReader(goal), &closed}, nil
		}})
	require.NoError(t, err)
	require.Len(t, s.Points, 2)
	require.Equal(t, [2]int{1, 1}, [2]int{opened, closed})
}

// counted counts how often it is closed.
type counted struct {
	io.Reader
	closed *int
}

func (c *counted) Close() error {
	*c.closed++
	return nil
}
