package simtest

import (
	"math/rand/v2"
	"testing"

	"collsim/kernel"
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// GPU makes the device of an environment a small random GPU. Any of its figures may be set.
func GPU(rng *rand.Rand, env *model.Env) {
	few := []unit.Time{0, 0, 100 * unit.Nanosecond, 250 * unit.Nanosecond}
	d := &env.Device
	g := &d.GPU
	g.SMs, g.BlocksPerSM = 4+rng.IntN(8), 1+rng.IntN(4)
	g.Vector.Float32 = 1_000_000_000
	g.Tile.Rows, g.Tile.Columns = 1+rng.Int64N(8), 1+rng.Int64N(8)
	g.LaunchLatency, g.EventLatency = few[rng.IntN(4)], few[rng.IntN(4)]
	g.GraphLaunch, g.GraphNode = few[rng.IntN(4)], few[rng.IntN(4)]
	d.Launch = few[rng.IntN(4)]
	if rng.IntN(2) == 0 {
		g.HBM = []unit.Rate{GBs, 2 * GBs, 8 * GBs}[rng.IntN(3)]
	}
	g.CopyEngines = 1 + rng.IntN(3)
	g.CopyEngineRate = []unit.Rate{0, GBs, 2 * GBs}[rng.IntN(3)]
}

// Marked returns a copy of a random schedule in which some steps begin brackets, and some are
// kernels that read and write. Resident blocks may wait for one another, so it may stall.
func Marked(t testing.TB, rng *rand.Rand, s *schedule.Schedule) *schedule.Schedule {
	t.Helper()
	return Rewritten(t, s, func(_, _ int, step schedule.Step, add func(schedule.Step)) {
		if rng.IntN(3) == 0 {
			mark := &schedule.Launch{Engine: schedule.Engine(rng.IntN(3)), Graph: max(0, rng.Int32N(5)-2),
				Priority: rng.Int32N(2)}
			if mark.Engine == schedule.SMs {
				mark.Blocks, mark.PerSM = rng.Int32N(3), rng.Int32N(4)
			}
			step.Launch = mark
		}
		add(step)
		if rng.IntN(4) == 0 && s.Slices == 1 {
			add(schedule.Step{Kernel: schedule.Opaque(unit.Time(1 + rng.IntN(300_000))),
				Launch: &schedule.Launch{Blocks: rng.Int32N(30), PerSM: rng.Int32N(4)}})
		}
		if rng.IntN(4) == 0 && s.Slices == 1 { // elements are of one byte, and blocks of 100
			at := schedule.Region{First: rng.Int32N(100), Run: 1, Times: 1}
			to := at
			to.Buffer = schedule.Output
			op, err := kernel.Parse("cast 100 int8->int8")
			if err != nil {
				t.Fatal(err)
			}
			add(schedule.Step{Kernel: &op, From: []schedule.Source{{Region: at}},
				To: []schedule.Region{to}, Launch: &schedule.Launch{Blocks: rng.Int32N(3)}})
		}
	})
}
