package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/unit"
)

// TestProgramTakesMeasured holds what programs take against the largest resident set of the
// command when it ran them, on two cores that others worked on as well. Of 20 pipelines, half of it
// is what has not been collected of the tries at smaller sizes.
func TestProgramTakesMeasured(t *testing.T) {
	const uncollected = 140
	for _, c := range []struct {
		example   string
		mebibytes float64
		set       []string
	}{
		{"mlp", 111, []string{`sweep.lowering.pipeline=["repaired"]`}},
		{"mlp", 94, []string{`sweep.lowering.pipeline=["off"]`}},
		{"mlp", 243, []string{`sweep.lowering.pipeline=["off"]`, "topology.ranks=32"}},
		{"mlp", 55, []string{`sweep.lowering.pipeline=["off"]`, "topology.ranks=32",
			"check.numbers=false"}},
		{"ddp", 95, []string{`sweep.lowering.bucket=["25 MB"]`}},
		{"ddp", 68, []string{`sweep.lowering.bucket=["1 MB"]`, "program.iterations=30",
			"check.numbers=false"}},
		{"fsdp", 134, []string{"sweep.lowering.reorder=[true]"}},
		{"stages", 227, nil},
		{"mlp", uncollected, []string{`sweep.lowering.pipeline=["repaired"]`, "program.iterations=20"}},
		{"mlp", 73, []string{`sweep.lowering.pipeline=["off"]`, "program.iterations=20"}},
	} {
		if !tier.Long && len(c.set) > 1 {
			continue
		}
		s, err := Load("example:"+c.example, nil, LoadOptions{Set: c.set})
		require.NoError(t, err)
		e, err := s.EstimateProgram(s.Programs[0])
		require.NoError(t, err)
		ratio := float64(e.Memory) / float64(unit.MiB) / c.mebibytes
		require.True(t, 1 <= ratio && ratio <= 4, "%v: %.2f", c, ratio)
	}
}
