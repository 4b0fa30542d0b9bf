package sim

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/sim/simtest"
	"collsim/unit"
)

func BenchmarkRing(b *testing.B) {
	for _, sharing := range []Sharing{FIFO, Fluid} {
		for _, ranks := range []int{64, 256, 1024} {
			b.Run(fmt.Sprintf("%v-%d", sharing, ranks), func(b *testing.B) {
				s := simtest.Build(b, simtest.RingPlan(ranks, 1<<24))
				env := simtest.OnSwitch(b, ranks, 25*gbs/2, 500*unit.Nanosecond)
				env.Sharing = sharing
				b.ReportAllocs()
				sends := int64(0)
				for b.Loop() {
					r, err := Run(s, env, Options{Engine: Event})
					require.NoError(b, err)
					sends += r.Messages
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(sends), "ns/send")
			})
		}
	}
}

// BenchmarkAsked is what a trace and a critical path cost where they are asked for.
func BenchmarkAsked(b *testing.B) {
	for _, sharing := range []Sharing{FIFO, Fluid} {
		for i, o := range []Options{{Engine: Event}, {Critical: true}, {Trace: true}} {
			name := [...]string{"nothing", "critical", "trace"}[i]
			b.Run(fmt.Sprintf("%v-%s", sharing, name), func(b *testing.B) {
				s := simtest.Build(b, simtest.RingPlan(256, 1<<24))
				env := simtest.OnSwitch(b, 256, 25*gbs/2, 500*unit.Nanosecond)
				env.Sharing = sharing
				b.ReportAllocs()
				sends := int64(0)
				for b.Loop() {
					r, err := Run(s, env, o)
					require.NoError(b, err)
					sends += r.Messages
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(sends), "ns/send")
			})
		}
	}
}

func BenchmarkDirect64(b *testing.B) {
	for _, sharing := range []Sharing{FIFO, Fluid} {
		b.Run(sharing.String(), func(b *testing.B) {
			s := simtest.Build(b, simtest.DirectPlan(64, 1<<20))
			env := simtest.OnSwitch(b, 64, 25*gbs/2, 500*unit.Nanosecond)
			env.Sharing = sharing
			b.ReportAllocs()
			for b.Loop() {
				_, err := Run(s, env, Options{Engine: Event})
				require.NoError(b, err)
			}
		})
	}
}
