package run_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/hw"
	"collsim/report"
	"collsim/unit"
)

// TestValidateNCCL: a library that chooses by itself is held against what was picked for the
// simulation, its own estimates against the model's, and a loop of calls against one call of it.
func TestValidateNCCL(t *testing.T) {
	const text = `topology.preset = "dgx-h100"
check.numbers = false
hardware.executor = "nccl"
hardware.tolerance = { bits = "any", choice = "equal" }
benchmark.calls = 4
[collective]
kind = "all_reduce"
algorithm = "nccl:auto"
bytes = ["8 KiB", "64 KiB"]
`
	says := []string{"Ring LL, 1 channel", "Ring LL, 3 channels"}
	change := func(job *hw.Job, r *hw.Result) (*hw.Result, error) {
		require.Equal(t, 4, job.Env.Iterations)
		r.Chose, r.Estimate = says[0], 10*unit.Microsecond
		says = says[1:]
		return r, nil
	}
	r := validated(t, text, change)
	require.False(t, r.Good())
	require.Equal(t, []string{"the library chose otherwise in 1 of 2 cases, first in " +
		r.Results[1].Point.ID + `; choice = "equal" is asked for`}, r.Misses)
	for i, want := range []bool{true, false} {
		result := r.Results[i]
		same, known := result.SameChoice()
		require.True(t, known)
		require.Equal(t, want, same, result.Picked)
		require.Equal(t, 2500*unit.Nanosecond, result.Measured.Time) // 10 us are four calls
		require.Equal(t, float64(result.PerCall()-2500*unit.Nanosecond)/float64(2500*unit.Nanosecond),
			result.Measured.Error)
	}
	page := report.ValidationText(r)
	require.Contains(t, page, "# choice   1 of 2 as simulated\n")
	require.Contains(t, page, "# model    NCCL's own estimates of 2 calls are off")
	js, err := report.JSON(r)
	require.NoError(t, err)
	require.Contains(t, string(js), `"same_choice": true`)
	require.Contains(t, string(js), `"estimate_ps": 10000000`)
}
