package program_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/dtype"
	"collsim/kernel"
	"collsim/program"
	"collsim/schedule"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// slow is a device on which nothing costs time but a matmul and the links: one SM that does an
// operation of bfloat16 in a nanosecond, and two copy engines.
func slow() device.Device {
	d := device.Ideal()
	d.GPU = device.GPU{SMs: 1, BlocksPerSM: 32, MatmulEfficiency: 1_000_000, CopyEngines: 2,
		Tile: device.Tile{Rows: 1 << 20, Columns: 1 << 20}}
	d.GPU.Tensor.BFloat16 = 1_000_000_000
	d.GPU.Vector.BFloat16, d.GPU.Vector.Float32 = 1<<50, 1<<50
	return d
}

// TestPipelineLimits: where links are free, a pipeline takes the time of its matmuls; where
// matmuls are, that of what every rank pulls.
func TestPipelineLimits(t *testing.T) {
	const rows, k, n = 3, 8, 5 // of a shard: 240 operations, 48 bytes of A and 30 of a product
	for ranks := 2; ranks <= 8; ranks++ {
		for _, v := range []program.Variant{program.Seed, program.Repaired} {
			gather := program.Shards{Ranks: ranks, Variant: v, A: tensor(dtype.BFloat16, rows, k),
				Bs: []kernel.Tensor{tensor(dtype.BFloat16, k, n)}}
			scatter := gather
			scatter.A = tensor(dtype.BFloat16, int64(rows*ranks), k)
			for _, c := range []struct {
				name   string
				build  func(program.Shards) (*schedule.Schedule, error)
				shards program.Shards
				pulled unit.Bytes // of each other rank
			}{
				{"gather", program.AllGatherMatmul, gather, rows * k * 2},
				{"scatter", program.MatmulReduceScatter, scatter, rows * n * 2},
			} {
				name := fmt.Sprintf("%s %v, %d ranks", c.name, v, ranks)
				s, err := c.build(c.shards)
				require.NoError(t, err, name)

				// p matmuls of 2·3·8·5 operations, one after the other on one SM, and what the sum of a
				// scatter takes, p·15 additions at 2^50 a second: less than a picosecond.
				free, err := topology.FullMesh(ranks, unit.Unlimited, 0)
				require.NoError(t, err)
				d := slow()
				ran, err := sim.Run(s, sim.Env{Graph: free, Device: d, Slots: 8}, sim.Options{})
				require.NoError(t, err, name)
				want := unit.Time(ranks) * 240 * unit.Nanosecond
				require.InDelta(t, int64(want), int64(ran.Time), 1, name)

				// p−1 pulls over a port of 1 byte a nanosecond: both streams' pulls share it.
				port, err := topology.Switch(ranks, unit.Rate(unit.GB), 0)
				require.NoError(t, err)
				d.GPU.Tensor.BFloat16 = 1 << 60
				ran, err = sim.Run(s, sim.Env{Graph: port, Device: d, Slots: 8}, sim.Options{})
				require.NoError(t, err, name)
				want = unit.Time(ranks-1) * unit.Time(c.pulled) * unit.Nanosecond
				require.InDelta(t, int64(want), int64(ran.Time), float64(4*ranks), name)
			}
		}
	}
}
