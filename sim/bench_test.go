package sim

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/schedule"
	"collsim/unit"
)

func BenchmarkRing(b *testing.B) {
	for _, sharing := range []Sharing{FIFO, Fluid} {
		for _, ranks := range []int{64, 256, 1024} {
			b.Run(fmt.Sprintf("%v-%d", sharing, ranks), func(b *testing.B) {
				s := build(b, ringPlan(ranks, 1<<24))
				env := onSwitch(b, ranks, 25*gbs/2, 500*unit.Nanosecond)
				env.Sharing = sharing
				b.ReportAllocs()
				sends := int64(0)
				for b.Loop() {
					r, err := Run(s, env, Options{})
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
		for i, o := range []Options{{}, {Critical: true}, {Trace: true}} {
			name := [...]string{"nothing", "critical", "trace"}[i]
			b.Run(fmt.Sprintf("%v-%s", sharing, name), func(b *testing.B) {
				s := build(b, ringPlan(256, 1<<24))
				env := onSwitch(b, 256, 25*gbs/2, 500*unit.Nanosecond)
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
			s := build(b, directPlan(64, 1<<20))
			env := onSwitch(b, 64, 25*gbs/2, 500*unit.Nanosecond)
			env.Sharing = sharing
			b.ReportAllocs()
			for b.Loop() {
				_, err := Run(s, env, Options{})
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkJittered is fluid sharing at its worst: as many sizes as messages, all at once.
func BenchmarkJittered(b *testing.B) {
	for _, ranks := range []int{32, 64, 128} {
		b.Run(fmt.Sprint(ranks), func(b *testing.B) {
			s := build(b, jitteredPlan(ranks))
			env := onSwitch(b, ranks, 25*gbs/2, 500*unit.Nanosecond)
			visits := int64(0)
			for b.Loop() {
				e := newEngine(s, &env, Options{})
				require.NoError(b, e.runFluid())
				visits += e.visits
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(visits), "ns/visit")
		})
	}
}

// jitteredPlan is direct with a size of its own for every message.
func jitteredPlan(ranks int) schedule.Plan {
	p := directPlan(ranks, 0)
	p.Spec.Kind = collective.AllToAllV
	for r := range ranks {
		row := make([]int64, ranks)
		for c := range row {
			row[c] = 1_000_000 + int64((r*ranks+c)*7919%1_000_003)
		}
		p.Spec.Splits = append(p.Spec.Splits, row)
	}
	return p
}
