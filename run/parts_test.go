package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/scenarios"
	"collsim/schedule"
)

// TestNoneOf says why nothing is the fastest.
func TestNoneOf(t *testing.T) {
	require.Equal(t, "there is no algorithm for this kind yet", noneOf(nil))
	require.Equal(t, "no algorithm can do this; ring: too few ranks", noneOf([]Candidate{
		{Algorithm: scenarios.Algorithm{Name: "ring"}, Why: "too few ranks"}}))
}

// TestNumbersWithoutDefinition: what cannot be compared is off, with the reason.
func TestNumbersWithoutDefinition(t *testing.T) {
	s, err := schedule.Assemble(schedule.Schedule{Spec: collective.Spec{Kind: collective.Custom,
		Type: dtype.Float32, Ranks: 1, Splits: [][]int64{{1}, {1}}}}, []int{0}, nil)
	require.NoError(t, err)
	scenario, err := Load("example:ring", nil, LoadOptions{})
	require.NoError(t, err)
	r := &Result{Point: scenario.Points[0]}
	run := &runner{s: scenario, numbers: func(check func()) { check() }}
	require.NoError(t, run.compute(&made{whole: s, members: []member{{s, 1}}}, r, nil))
	require.Equal(t, Off, r.Numbers)
	require.Equal(t, "custom has no definition to compare with", r.NumbersOff)
}
