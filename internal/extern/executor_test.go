package extern

import (
	"context"
	"testing"

	"collsim"
	"collsim/fidelity"
	"collsim/run"

	"github.com/stretchr/testify/require"
)

const measured = `[topology]
preset = "switch"
ranks = 5
bandwidth = "100 Gbit/s"
latency = "500 ns"

[collective]
kind = "all_reduce"
algorithm = ["ring", "rabenseifner"]
bytes = "1 KiB"
dtype = ["float32", "int32"]

[hardware]
executor = "interpreter"
repetitions = 3
`

// TestExecutor: a scenario names the executor, and its bits and times are held against the
// simulation as those of collsim's own are; what it refuses is left out, with its reason.
func TestExecutor(t *testing.T) {
	s, err := collsim.Load("measured.toml", []byte(measured), collsim.LoadOptions{
		Executors: []string{"interpreter"}})
	require.NoError(t, err)
	report, err := s.Validate(context.Background(), run.ValidateOptions{
		Open: run.OpenWith(InterpreterRow())})
	require.NoError(t, err)
	require.True(t, report.Good())
	require.Len(t, report.Results, 4)
	for _, r := range report.Results {
		m := r.Measured
		if r.Point.Spec.Type.String() == "int32" {
			require.Equal(t, "int32: only float32", m.Skipped)
			continue
		}
		require.Equal(t, fidelity.Equal, m.Bits)
		require.Equal(t, 3, m.Repetitions)
		require.Positive(t, m.Time)
		require.Equal(t, "interpreter", m.RanOn.Executor)
	}

	_, err = collsim.Load("measured.toml", []byte(measured), collsim.LoadOptions{})
	require.ErrorContains(t, err, "interpreter", "a name that nobody has told of")
	_, err = s.Validate(context.Background(), run.ValidateOptions{Open: run.OpenWith()})
	require.ErrorContains(t, err, `hardware.executor = "interpreter"`)
}
