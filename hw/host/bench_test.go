package host

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
	"collsim/hw"
	"collsim/schedule"
)

// BenchmarkRing is an all-reduce of 2 and of 4 ranks over each transport: MB/s are bytes of the
// vector a second, without reset and barrier, of the median repetition.
func BenchmarkRing(b *testing.B) {
	for _, transport := range []Transport{Goroutines, Unix, TCP} {
		for _, ranks := range []int{2, 4} {
			for _, bytes := range []int64{4 << 10, 1 << 20, 16 << 20} {
				b.Run(fmt.Sprintf("%v/%d/%dKiB", transport, ranks, bytes>>10), func(b *testing.B) {
					h, err := New(Config{Transport: transport})
					require.NoError(b, err)
					defer h.Close()
					s := ringOf(b, ranks, bytes/4, dtype.Float32)
					job := &hw.Job{Schedule: s, Env: hw.Env{Slots: 8, Warmup: 2, Repetitions: b.N}}
					for range ranks {
						job.Inputs = append(job.Inputs, make([]byte, bytes))
					}
					b.ResetTimer()
					r, err := h.Run(context.Background(), job)
					require.NoError(b, err)
					median, _ := r.Median()
					b.ReportMetric(float64(bytes)/float64(median)*1e6, "MB/s")
					b.ReportMetric(float64(median)/1e6, "µs/ring")
				})
			}
		}
	}
}

// BenchmarkText is what it takes to send a schedule to a process: its text printed and read.
func BenchmarkText(b *testing.B) {
	grouped := ringOf(b, 64, 1<<20, dtype.Float32)
	lines := &strings.Builder{} // the same without a group: a program a rank, no loops
	fmt.Fprintf(lines, "schedule ring\ncollective all_reduce float32 sum\nranks 64\ncount 1048576\n"+
		"cut in block even 64\ncut out block even 64\n")
	for rank := range 64 {
		next, prev := (rank+1)%64, (rank+63)%64
		fmt.Fprintf(lines, "rank %d\n  lane 0\n    send in[%d] to %d @0\n", rank, rank, next)
		for i := 1; i < 64; i++ {
			fmt.Fprintf(lines, "    recvReduceSend from %d, in[%d] to %d @%d\n", prev, (rank+64-i)%64,
				next, i)
		}
	}
	long, err := schedule.Parse(lines.String())
	require.NoError(b, err)
	for _, c := range []struct {
		name string
		s    *schedule.Schedule
	}{{"loops", grouped}, {"lines", long}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.s.String())))
			for range b.N {
				_, err := schedule.Parse(c.s.String())
				require.NoError(b, err)
			}
		})
	}
}
