package run

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// TestLoweredOnce: a program that was lowered to estimate its memory is carried out as it is, with
// the same result; one whose calls are compared first is lowered again, and one of a trace too.
func TestLoweredOnce(t *testing.T) {
	for _, c := range []struct {
		algorithm string
		trace     bool
		left      int // programs that are not taken
	}{{"ring", false, 0}, {"ring", true, 1}, {"fastest", false, 0}} {
		text := fmt.Sprintf(`[topology]
nodes = 16
[topology.node]
preset = "switch"
ranks = 8
bandwidth = "450 GB/s"
latency = "1 us"
[topology.network]
preset = "rails"
bandwidth = "50 GB/s"
latency = "1 us"
[check]
numbers = false
[program]
group = [{ name = "tp", ranks = "node" }]
tensor = [{ name = "x", shape = [64, 64] }]
op = [{ name = "sum", call = "all_reduce", algorithm = %q, in = "x", out = "y", group = "tp" }]
`, c.algorithm)
		s, err := Load("s.toml", []byte(text), LoadOptions{})
		require.NoError(t, err)
		want, err := s.Run(context.Background(), RunOptions{})
		require.NoError(t, err)
		s.Free = Memory{Bytes: unit.GiB, Of: "the test"}
		known, _, err := s.affordable(runs, 1)
		require.NoError(t, err)
		var low *lowering
		if m := known[s.Programs[0].Point]; m != nil {
			low = m.program
		}
		require.Equal(t, c.algorithm == "ring", low != nil)
		list, err := s.runPrograms(context.Background(), RunOptions{Trace: c.trace}, known)
		require.NoError(t, err)
		require.Len(t, known, c.left)
		got := list[0]
		require.Equal(t, low != nil && !c.trace, low != nil && got.Lowered == low.Lowered)
		require.Equal(t, want.Programs[0].Time, got.Time)
		require.Equal(t, Proved, got.Proof)
	}
}

// TestLoweredOnceToExplain: a look at the memory that a program takes does not lower it once more
// where it is explained or verified, with the same result.
func TestLoweredOnceToExplain(t *testing.T) {
	s, err := Load("example:mlp", nil, LoadOptions{})
	require.NoError(t, err)
	p := s.Programs[0]
	lower := testing.AllocsPerRun(1, func() {
		_, _, err := (&runner{s: s}).lower(p, nil)
		require.NoError(t, err)
	})
	for _, do := range []func() any{
		func() any {
			e, err := s.ExplainProgram(p, RunOptions{})
			require.NoError(t, err)
			return [2]any{e.WhatIf, e.Shares}
		},
		func() any {
			v, err := s.VerifyProgram(p, -1)
			require.NoError(t, err)
			return v.Proof
		},
	} {
		var want, got any
		s.Free = Memory{}
		alone := testing.AllocsPerRun(1, func() { want = do() })
		s.Free = Memory{Bytes: unit.GiB, Of: "the test"}
		looked := testing.AllocsPerRun(1, func() { got = do() })
		require.Equal(t, want, got)
		require.Less(t, looked-alone, lower/2)
	}
}
