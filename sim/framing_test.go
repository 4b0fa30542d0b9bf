package sim_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/schedule"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// TestFramings: a message of 1,201 bytes has 1,201 more on every link as packets, and goes in 11
// lines of 128 bytes as lines; what is received is the same. A wire has 1 GB/s and 1 us.
func TestFramings(t *testing.T) {
	g, err := topology.FullMesh(2, 1e9, unit.Microsecond)
	require.NoError(t, err)
	for _, c := range []struct {
		mark  string
		bytes unit.Bytes
	}{{"", 1201}, {" packet", 2402}, {" line", 1408}} {
		s, err := schedule.Parse(strings.ReplaceAll(`schedule one
collective broadcast uint8
ranks 2
root 0
count 1201
rank 0
  lane 0
    copy in into out @0
    send in to 1 MARK@0
rank 1
  lane 0
    recv from 0 into out @0
`, " MARK", c.mark+" "))
		require.NoError(t, err)
		for _, sharing := range []sim.Sharing{sim.FIFO, sim.Fluid} {
			for _, engine := range []sim.Engine{sim.Best, sim.Event} {
				r, err := sim.Run(s, sim.Env{Graph: g, Device: device.Ideal(), Sharing: sharing},
					sim.Options{Engine: engine})
				require.NoError(t, err)
				require.Equal(t, unit.Microsecond+unit.Time(c.bytes)*unit.Nanosecond, slices.Max(r.LaneEnd),
					c.mark)
				require.Equal(t, c.bytes, r.LinkBytes)
				require.Equal(t, unit.Bytes(1201), r.BytesSent)
			}
		}
	}
	for _, bad := range []string{"send in to 1 packet line @0", "signal to 1 packet @0",
		"signal to 1 line @0"} {
		_, err := schedule.Parse("schedule one\ncollective send_recv uint8\nranks 2\ncount 4\n" +
			"rank *\n  lane 0\n    " + bad + "\n")
		require.ErrorContains(t, err, "line", bad)
	}
}
