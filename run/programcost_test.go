package run

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
)

// TestProgramEstimateMeasured holds what programs are told to take against the user time of the
// command with GOMAXPROCS=1 on an AMD EPYC that others used too, the least of two: of other sizes,
// ranks and data than those by which figures were found. Of programs whose stretches
// are simulated one by one, as "repaired" pipelines of 10 iterations, no more than 0.4 is told.
// The first mlp and ddp, whose channels have changed since, were measured in an hour in which
// tensor-parallel took 7.40 s, and are what they took times 4.87 / 7.40.
func TestProgramEstimateMeasured(t *testing.T) {
	for _, c := range []struct {
		example string
		seconds float64
		set     []string
	}{
		{"mlp", 0.74, []string{`sweep.lowering.pipeline=["off"]`, "topology.ranks=32"}},
		{"mlp", 0.25, []string{`sweep.lowering.pipeline=["repaired"]`, `check.data="normal"`}},
		{"mlp", 0.61, []string{`sweep.lowering.pipeline=["off"]`, "program.iterations=10"}},
		{"tensor-parallel", 4.87, []string{`sweep.lowering.pipeline=["off"]`, "check.full=true"}},
		{"stages", 0.20, []string{`check.data="uniform"`}},
		{"ddp", 0.54, []string{`sweep.lowering.bucket=["25 MB"]`, "program.iterations=5"}},
		{"fsdp", 0.21, []string{"sweep.lowering.reorder=[true]", `check.data="normal"`}},
		{"moe", 0.35, []string{`check.data="normal"`}},
		{"zero3", 0.44, []string{"sweep.lowering.reorder=[true]", `check.memory="64 MiB"`}},
		{"training-step", 2.63, nil},
	} {
		if c.seconds > 0.5 && !tier.Long {
			continue
		}
		s, err := Load("example:"+c.example, nil, LoadOptions{Set: c.set})
		require.NoError(t, err)
		e, err := s.EstimateProgram(s.Programs[0])
		require.NoError(t, err)
		ratio := e.Seconds / SharedCore / c.seconds
		t.Logf("%s: %.2f s of %.2f s", c.example, e.Seconds, c.seconds)
		require.True(t, 1/1.5 <= ratio && ratio <= 1.5, "%v: %.2f", c, ratio)
	}
}

// TestProgramScaledBeforehand: an estimate is of the sizes that a run checks numbers on.
func TestProgramScaledBeforehand(t *testing.T) {
	less := func(memory string) []string { // which is soon done
		return tier.Of([]string{"check.memory=" + strconv.Quote(memory)}, nil)
	}
	for example, sets := range map[string][]string{"one-shot": nil,
		"low-contention": less("16 MiB"), "profile-moe": less("64 MiB"),
		"mlp": {`sweep.lowering.pipeline=["off"]`, `check.memory="64 KiB"`}} {
		s, err := Load("example:"+example, nil, LoadOptions{Set: sets})
		require.NoError(t, err)
		p := s.Programs[0]
		e, err := s.EstimateProgram(p)
		require.NoError(t, err)
		ran, err := (&runner{s: s}).carryProgram(p)
		require.NoError(t, err)
		if ran.Numbers == Off {
			require.Zero(t, e.NumberSeconds, example)
			continue
		}
		require.Positive(t, e.NumberSeconds, example)
		require.EqualValues(t, max(ran.Scaled, 1), e.scaled, example)
	}
}
