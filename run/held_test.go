package run_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/run"
	"collsim/sim"
)

// TestHeld: what holds a run up that no link does is named, and lifting it makes the run faster.
// Where a link does, nothing else is named; nor are slots that make no difference.
func TestHeld(t *testing.T) {
	d, err := device.Lookup("h100-sxm")
	require.NoError(t, err)
	of := func(algorithm string, set ...string) *run.Result {
		s, err := run.Load("s.toml", []byte(oneNode(&d, algorithm)), run.LoadOptions{Set: set})
		require.NoError(t, err)
		report, err := s.Run(context.Background(), run.RunOptions{})
		require.NoError(t, err)
		return report.Results[0]
	}
	for _, c := range []struct {
		algorithm, set string
		what           sim.What
		slots          bool
		lift           string
	}{
		{`"ring(channels=4)"`, "seed=1", sim.Transfer, false, "device.lane_rate=unlimited"},
		{`"one-shot"`, "device.launch=30 ms", sim.Launch, false, "device.launch=0 s"},
		{`"ring"`, "device.overhead=300 us", sim.Overhead, false, "device.overhead=0 s"},
		{`"double-binary-tree"`, "sim.slots=1", 0, true, "sim.slots=0"},
	} {
		r := of(c.algorithm, c.set)
		require.NotNil(t, r.Held, "%+v", c)
		require.Equal(t, c.slots, r.Held.Slots, "%+v", c)
		if !c.slots {
			require.Equal(t, c.what, r.Held.What, "%+v", c)
		}
		require.Empty(t, r.Held.Link, "%+v", c)
		require.Equal(t, r.Time, r.Held.Of, "%+v", c)
		lifted := of(c.algorithm, c.set, c.lift)
		require.Less(t, lifted.Time, r.Time, "%+v", c)
		if c.slots {
			require.Equal(t, r.Time-lifted.Time, r.Held.Time, "%+v", c)
		}
	}
	require.Nil(t, of(`"fastest"`).Held)
	if held := of(`"ring(channels=4)"`, "sim.slots=8").Held; held != nil {
		require.False(t, held.Slots)
	}
}
