package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/sim/simtest"
	"collsim/unit"
)

// TestDesignExample is the run whose numbers the design prints: ring on 8 ranks, 64 MiB, 100 Gbit/s
// and 500 ns a link, two links a message.
func TestDesignExample(t *testing.T) {
	s := simtest.Build(t, simtest.RingPlan(8, 1<<24))
	for _, sharing := range []Sharing{Fluid, FIFO} {
		env := simtest.OnSwitch(t, 8, 25*gbs/2, 500*unit.Nanosecond)
		env.Sharing = sharing
		r, err := Run(s, env, Options{Trace: true})
		require.NoError(t, err)
		// 14 rounds of 2·500 ns + 8 MiB / 12.5 GB/s
		require.Equal(t, unit.Time(9409240960), r.Time)
		require.Equal(t, int64(120), r.Steps)
		require.Equal(t, int64(112), r.Messages)
		require.Equal(t, unit.Bytes(939524096), r.BytesSent)
		require.Equal(t, unit.Bytes(1879048192), r.LinkBytes)
		for _, busy := range r.LinkBusy { // 0.9985 of the time
			require.Equal(t, unit.Time(9395240960), busy)
		}
		require.NoError(t, r.Trace.Validate())
	}
}
