package program_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/program"
	"collsim/proof"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// threeSMs is two ranks 2 µs and 10 GB/s apart, whose 3 SMs hold a block each. A matmul of 25 × 4
// elements, with 100 to sum up, is a block of 20 µs.
func threeSMs(t *testing.T) sim.Env {
	t.Helper()
	graph, err := topology.Switch(2, 10*unit.Rate(unit.GB), unit.Microsecond)
	require.NoError(t, err)
	d := device.Ideal()
	for name, value := range map[string]string{"sms": "3", "blocks_per_sm": "1",
		"vector_float32": "3 GFLOP/s", "tile": "25x4", "copy_engines": "2"} {
		require.NoError(t, device.Find(name).Set(&d, value))
	}
	return sim.Env{Graph: graph, Device: d, Slots: 8}
}

// TestPipelineByHand: gathering 20 000 bytes takes 2 + 2 µs, the matmul of all rows 4 blocks in two
// waves of 20 µs, and the wait 10 µs: 54 µs. In a pipeline the own half of the matmul has 2 of the
// 3 SMs, and in its 20 µs a barrier on the third, 2 µs, and the copy of the other's rows, 2 µs to
// ask and 2 + 2 µs to get them, are over. The other half takes 20 µs, the last barrier 2: 52 µs.
// If a rank has 25 rows, of which both ranks' are 2 blocks in one wave, that is 2 + 1 + 20 + 10 =
// 33 µs; as a pipeline the other half waits for 2 + 2 + 2 + 1 µs: 7 + 20 + 2 + 10 = 39 µs.
func TestPipelineByHand(t *testing.T) {
	for _, c := range []struct {
		rows         int64
		apart, piped unit.Time
		note, total  string
	}{
		{50, 54, 52, "pipeline [gather up]: pipeline repaired (the program takes 52.0 us; apart " +
			"54.0 us)",
			"pipeline []: 1 pipeline (52.0 us, 54.0 us without) 2.00 us"},
		{25, 33, 39, "pipeline [gather up]: left as it is (the program takes 33.0 us; as a pipeline " +
			"39.0 us)", ""},
	} {
		p := &program.Program{Name: "three", Ranks: 2, Tensors: []program.Tensor{
			{Name: "x", Type: dtype.Float32, Shape: collective.Shape{c.rows, 100}},
			{Name: "w", Type: dtype.Float32, Shape: collective.Shape{100, 4}}},
			Ops: []program.Op{{Name: "gather", Call: "all_gather", In: []string{"x"}, Out: "xs"},
				{Name: "up", Kernel: "matmul", In: []string{"xs", "w"}, Out: "h"}, wait(10)}}
		passes, time := program.Lowering{}, timedBy(threeSMs(t))
		took := map[program.Pipeline]unit.Time{}
		for _, passes.Pipeline = range []program.Pipeline{program.NoPipeline, program.RepairedPipeline,
			program.PipelineIfFaster} {
			low, err := program.LowerBy(p, passes, program.Guide{Choose: byName, Time: time})
			require.NoError(t, err)
			_, found := proof.Verify(low.Schedule, proof.Options{})
			require.Empty(t, found)
			took[passes.Pipeline], err = time(low.Schedule)
			require.NoError(t, err)
			if passes.Pipeline == program.PipelineIfFaster {
				want := []string{c.note}
				if c.total != "" {
					want = append(want, c.total)
				}
				require.Equal(t, want, notesOf(low))
			}
		}
		require.Equal(t, map[program.Pipeline]unit.Time{
			program.NoPipeline:       c.apart * unit.Microsecond,
			program.RepairedPipeline: c.piped * unit.Microsecond,
			program.PipelineIfFaster: min(c.apart, c.piped) * unit.Microsecond}, took)
	}
}
