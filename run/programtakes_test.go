package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/unit"
)

// TestProgramTakesMeasured holds what programs take against the largest resident set of the
// command when it ran them, on two cores that others worked on as well.
func TestProgramTakesMeasured(t *testing.T) {
	for _, c := range []struct {
		example   string
		mebibytes float64
		set       []string
	}{
		{"mlp", 97, []string{`sweep.lowering.pipeline=["repaired"]`}},
		{"mlp", 72, []string{`sweep.lowering.pipeline=["off"]`}},
		{"mlp", 167, []string{`sweep.lowering.pipeline=["off"]`, "topology.ranks=32"}},
		{"mlp", 69, []string{`sweep.lowering.pipeline=["off"]`, "topology.ranks=32",
			"check.numbers=false"}},
		{"ddp", 62, []string{`sweep.lowering.bucket=["25 MB"]`}},
		{"ddp", 556, []string{`sweep.lowering.bucket=["1 MB"]`, "program.iterations=30",
			"check.numbers=false"}},
		{"fsdp", 96, []string{"sweep.lowering.reorder=[true]"}},
		{"stages", 160, nil},
		{"mlp", 144, []string{`sweep.lowering.pipeline=["repaired"]`, "program.iterations=20"}},
		{"mlp", 90, []string{`sweep.lowering.pipeline=["off"]`, "program.iterations=20"}},
	} {
		if !tier.Long && len(c.set) > 1 {
			continue
		}
		s, err := Load("example:"+c.example, nil, LoadOptions{Set: c.set})
		require.NoError(t, err)
		e, err := s.EstimateProgram(s.Programs[0])
		require.NoError(t, err)
		ratio := float64(e.Memory) / float64(unit.MiB) / c.mebibytes
		require.True(t, 0.85 <= ratio && ratio <= 1.5, "%v: %.2f", c, ratio)
	}
}
