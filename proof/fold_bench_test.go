package proof

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/schedule"
)

// BenchmarkRing is the proof of a ring all_reduce, one block a rank.
func BenchmarkRing(b *testing.B) {
	for _, ranks := range []int{1024, 65536, 1 << 20} {
		b.Run(fmt.Sprint(ranks), func(b *testing.B) {
			s := ring(b, ranks, int64(ranks)*16, nil)
			benchmarkProof(b, s)
		})
	}
}

func benchmarkProof(b *testing.B, s *schedule.Schedule) {
	b.Helper()
	b.ReportAllocs()
	steps := int64(0)
	for b.Loop() {
		p, found := Verify(s, Options{})
		require.Empty(b, found)
		steps += p.Steps
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys>>20), "MiB")
}
