package program_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/program"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// TestTogether: the host launches two calls one after the other, in 50 µs each, or both at once:
// then the second begins when the first has ended. Results stay in tensors of their own.
func TestTogether(t *testing.T) {
	graph, err := topology.Switch(2, 10*unit.Rate(unit.GB), unit.Microsecond)
	require.NoError(t, err)
	d, err := device.Lookup("h100-sxm")
	require.NoError(t, err)
	d.Launch = 50 * unit.Microsecond
	time := timedBy(sim.Env{Graph: graph, Device: d, Slots: 8})
	for _, kind := range []string{"all_gather", "reduce_scatter", "all_to_all"} {
		lowered := func(second string, passes program.Lowering) unit.Time {
			p := &program.Program{Name: "p", Ranks: 2, Tensors: vectors("x", "y"), Ops: []program.Op{
				{Name: "a", Call: kind, In: []string{"x"}, Out: "p"},
				{Name: "b", Call: second, In: []string{"y"}, Out: "q"}}}
			low, err := program.LowerBy(p, passes, program.Guide{Choose: byName, Time: time})
			require.NoError(t, err)
			soundly(t, low)
			took, err := time(low.Schedule)
			require.NoError(t, err)
			return took
		}
		apart, one := lowered(kind, program.Lowering{}), lowered(kind, program.Lowering{Coalesce: true})
		alone := apart - 100*unit.Microsecond // behind the second launch
		require.Equal(t, 50*unit.Microsecond+2*alone-d.GPU.LaunchLatency, one, kind)
		require.Equal(t, lowered("send_recv", program.Lowering{}),
			lowered("send_recv", program.Lowering{Coalesce: true}))
	}
}

// TestMeanNotes: a pipeline that takes a mean of NCCL's, and rounds otherwise, says so; one of a
// sum, or of a mean that divides the sum, does not.
func TestMeanNotes(t *testing.T) {
	for call, noted := range map[string]bool{"reduce_scatter avg": true, "reduce_scatter": false,
		"reduce_scatter avg average post": false} {
		p := &program.Program{Name: "p", Ranks: 2, Tensors: []program.Tensor{f64("x", 4, 4)},
			Ops: []program.Op{{Name: "mm", Kernel: "matmul", In: []string{"x", "x"}, Out: "h"},
				{Name: "mean", Call: call, In: []string{"h"}, Out: "y"}}}
		low, err := program.Lower(p, program.Lowering{Pipeline: program.RepairedPipeline}, byName)
		require.NoError(t, err)
		note := "pipeline [mm mean]: rounds otherwise than mean (it divides the sum once; mean " +
			"multiplies what it adds by 1/n, rounded)"
		require.Equal(t, noted, slices.Contains(notesOf(low), note), "%s: %v", call, notesOf(low))
	}
}
