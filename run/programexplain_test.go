package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// explained explains the programs of a scenario.
func explained(t *testing.T, file string, text []byte, set ...string) []*ProgramExplanation {
	t.Helper()
	s, err := Load(file, text, LoadOptions{Set: set})
	require.NoError(t, err)
	var list []*ProgramExplanation
	for _, p := range s.Programs {
		e, err := s.ExplainProgram(p, RunOptions{})
		require.NoError(t, err)
		list = append(list, e)
	}
	return list
}

// TestProgramSharesSumUp: whatever ranks do, shares are all of the time, and so are kinds.
func TestProgramSharesSumUp(t *testing.T) {
	small := []string{"program.iterations=2", "topology.ranks=4",
		`sweep.lowering.pipeline=["off", "seed", "repaired"]`}
	for name, set := range map[string][]string{
		"alike":  nil,
		"late":   {`topology.rank=[{match = "1", start = "80 us"}, {match = "2", slowdown = 1.5}]`},
		"ideal":  {`device.preset="ideal"`},
		"narrow": {`topology.bandwidth="20 GB/s"`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, e := range explained(t, "example:mlp", nil, append(set, small...)...) {
				var shares, kinds unit.Time
				for _, s := range e.Shares {
					require.Positive(t, s.Time)
					shares += s.Time
				}
				for _, s := range e.Kinds {
					kinds += s.Time
				}
				require.Equal(t, e.Result.Time, shares, e.Result.Point.ID)
				require.Equal(t, e.Result.Time, kinds, e.Result.Point.ID)
			}
		})
	}
}

// TestProgramWaitsForSMs: a gather beside a matmul that has all SMs waits until a wave of it has
// ended, and the time of that wave is the gather's waiting.
func TestProgramWaitsForSMs(t *testing.T) {
	e := explained(t, "wait.toml", []byte(`
[topology]
preset = "switch"
ranks = 4
bandwidth = "20 GB/s"
latency = "500 ns"
[device]
preset = "h100-sxm"
[[program.tensor]]
name = "a"
shape = [8192, 8192]
[[program.tensor]]
name = "x"
shape = [1024, 8192]
[[program.op]]
name = "product"
kernel = "matmul"
in = ["a", "a"]
out = "c"
[[program.op]]
name = "gather"
call = "all_gather"
algorithm = "ring"
in = "x"
out = "xs"
`))[0]
	var waits unit.Time
	for _, s := range e.Shares {
		if s.Kind == OnSMs {
			require.Equal(t, "gather", s.Op)
			waits += s.Time
		}
	}
	var longest unit.Time // that a rank's gather has waited for
	for _, b := range e.Result.Trace.Brackets {
		if b.Op == "gather" {
			longest = max(longest, b.Start-b.Ready)
		}
	}
	require.Positive(t, longest)
	require.Equal(t, longest, waits)
}
