package fold

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/unit"
)

func BenchmarkRing(b *testing.B) {
	for _, sharing := range []model.Sharing{model.FIFO, model.Fluid} {
		for _, ranks := range []int{1024, 4096, 16384, 65536} {
			b.Run(fmt.Sprintf("%v-%d", sharing, ranks), func(b *testing.B) {
				s := simtest.Build(b, simtest.RingPlan(ranks, 1<<24))
				env := simtest.OnSwitch(b, ranks, 25*simtest.GBs/2, 500*unit.Nanosecond)
				env.Sharing = sharing
				b.ReportAllocs()
				sends := int64(0)
				for b.Loop() {
					r, err := Run(s, &env)
					require.NoError(b, err)
					sends += r.Messages
				}
				b.ReportMetric(float64(sends)/b.Elapsed().Seconds(), "sends/s")
			})
		}
	}
}
