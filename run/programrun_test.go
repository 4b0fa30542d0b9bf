package run

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// TestProgramsInterrupted: what is finished is reported, with the error that ended it.
func TestProgramsInterrupted(t *testing.T) {
	s, err := Load("example:mlp", nil, LoadOptions{Set: []string{"check.numbers=false"}})
	require.NoError(t, err)
	require.Len(t, s.Programs, 2)
	ctx, stop := context.WithCancel(context.Background())
	told := 0
	report, err := s.Run(ctx, RunOptions{Program: func(*ProgramResult) {
		told++
		stop()
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, told)
	require.Len(t, report.Programs, 1)
	require.Equal(t, s.Programs[0], report.Programs[0].Point)
}

// TestProgramTooLarge: a program that does not fit is refused before anything is run, by every
// command that would carry it out.
func TestProgramTooLarge(t *testing.T) {
	s, err := Load("example:mlp", nil, LoadOptions{Set: []string{"topology.ranks=8"},
		Free: Memory{Bytes: unit.MiB, Of: "this machine"}})
	require.NoError(t, err)
	const want = "of memory: this machine has 1 MiB left"
	_, err = s.Run(context.Background(), RunOptions{Program: func(*ProgramResult) {
		t.Error("nothing is run")
	}})
	require.ErrorContains(t, err, want)
	_, err = s.ExplainProgram(s.Programs[0], RunOptions{})
	require.ErrorContains(t, err, want)
	_, err = s.VerifyProgram(s.Programs[1], -1)
	require.ErrorContains(t, err, want)
	e, err := s.EstimateProgram(s.Programs[0])
	require.NoError(t, err, "an estimate is not refused")
	require.Greater(t, e.Memory, s.Free.Bytes)
	require.Equal(t, 4, e.Parts)
}

// TestProgramEstimateCounts: steps and messages of a program are those that are simulated, but for
// the two of each lane that wait for, and tell, other parts.
func TestProgramEstimateCounts(t *testing.T) {
	s, err := Load("example:mlp", nil, LoadOptions{Set: []string{"check.numbers=false"}})
	require.NoError(t, err)
	for _, p := range s.Programs {
		e, err := s.EstimateProgram(p)
		require.NoError(t, err)
		result, err := (&runner{s: s, options: RunOptions{Trace: true}}).carryProgram(p)
		require.NoError(t, err)
		require.EqualValues(t, len(result.Trace.Messages), e.Messages)
		require.LessOrEqual(t, int64(len(result.Trace.Intervals)), e.Steps+
			2*int64(len(result.Trace.Tracks)))
		require.Greater(t, 2*int64(len(result.Trace.Intervals)), e.Steps)
	}
}
