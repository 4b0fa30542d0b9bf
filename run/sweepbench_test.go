package run_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/run"
)

// sweepText is a sweep of 8 GPUs: 5 sizes by 5 rates by 5 latencies.
const sweepText = `[topology]
preset = "switch"
ranks = 8
[check]
numbers = false
[collective]
kind = "all_reduce"
algorithm = "ring"
bytes = ["64 KiB", "1 MiB", "4 MiB", "16 MiB", "64 MiB"]
[sweep]
"topology.bandwidth" = ["100 Gbit/s", "200 Gbit/s", "400 Gbit/s", "800 Gbit/s", "1600 Gbit/s"]
"topology.latency" = ["300 ns", "500 ns", "1 us", "2 us", "5 us"]
`

// sweepOfNodes is a sweep of two DGX H100.
const sweepOfNodes = `[topology]
preset = "dgx-h100"
nodes = 2
[check]
numbers = false
[collective]
kind = "all_reduce"
algorithm = "ring"
bytes = ["64 KiB", "1 MiB", "4 MiB", "16 MiB", "64 MiB"]
[sweep]
"topology.network.bandwidth" = ["200 Gbit/s", "400 Gbit/s", "800 Gbit/s"]
"topology.network.latency" = ["500 ns", "1 us", "2 us", "3 us", "5 us"]
`

// BenchmarkSweep reads, proves and times all points of sweeps of rates, latencies and sizes, and
// reports the time that each takes.
func BenchmarkSweep(b *testing.B) {
	const tree = `collective.algorithm="double-binary-tree"`
	const small = `collective.bytes=["64 KiB", "128 KiB", "256 KiB", "512 KiB", "1 MiB"]`
	for _, c := range []struct {
		name, text string
		sets       []string
	}{
		{"ring of 8", sweepText, nil},
		{"ring of 64", sweepText, []string{"topology.ranks=64"}},
		{"tree of 8 up to 1 MiB", sweepText, []string{tree, small}},
		{"tree of 64 up to 1 MiB", sweepText, []string{tree, small, "topology.ranks=64"}},
		{"tree of 8", sweepText, []string{tree}},
		{"tree of 64", sweepText, []string{tree, "topology.ranks=64"}},
		{"ring of 2 nodes", sweepOfNodes, nil},
		{"tree of 2 nodes up to 1 MiB", sweepOfNodes, []string{tree, small}},
		{"NCCL's choice of 2 nodes", sweepOfNodes, []string{`collective.algorithm="nccl:auto"`}},
	} {
		b.Run(c.name, func(b *testing.B) {
			points := 0
			for b.Loop() {
				s, err := run.Load("sweep.toml", []byte(c.text), run.LoadOptions{Set: c.sets})
				require.NoError(b, err)
				report, err := s.Run(context.Background(), run.RunOptions{})
				require.NoError(b, err)
				points += len(report.Results)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(points), "us/point")
		})
	}
}
