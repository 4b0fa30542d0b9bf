package event

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/topology"
	"collsim/unit"
)

// BenchmarkRing is a ring all-reduce of ranks with a lane each and eight slots a connection: over
// one link a message between neighbours, or over two through a switch.
func BenchmarkRing(b *testing.B) {
	for _, network := range []string{"ring", "switch"} {
		for _, ranks := range []int{64, 256, 1024, 4096} {
			b.Run(fmt.Sprintf("%s/%d", network, ranks), func(b *testing.B) {
				s := simtest.Build(b, simtest.RingPlan(ranks, int64(ranks)*4096))
				g, err := topology.New(network, ranks, 25*simtest.GBs/2, 500*unit.Nanosecond)
				require.NoError(b, err)
				env := model.Env{Graph: g, Device: device.Ideal(), Sharing: model.FIFO, Slots: 8}
				b.ReportAllocs()
				sends := int64(0)
				for b.Loop() {
					r, err := Run(s, &env, nil)
					require.NoError(b, err)
					sends += r.Messages
				}
				b.ReportMetric(float64(sends)/1e6/b.Elapsed().Seconds(), "Msends/s")
			})
		}
	}
}
