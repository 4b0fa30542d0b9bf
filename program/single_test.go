package program_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/program"
	"collsim/proof"
	"collsim/reference"
	"collsim/schedule"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// TestProgramOfOneCollective: a program of one collective is proven as that collective is, has its
// numbers, and takes its time, messages and bytes, by every algorithm.
func TestProgramOfOneCollective(t *testing.T) {
	calls := map[collective.Kind]string{collective.AllReduce: "all_reduce",
		collective.AllGather:     "all_gather",
		collective.ReduceScatter: "reduce_scatter avg", collective.AllToAll: "all_to_all",
		collective.Broadcast: "broadcast root 1"}
	for _, a := range algos.Table() {
		for _, kind := range a.Kinds {
			call, ok := calls[kind]
			if !ok {
				continue
			}
			for i, ranks := range []int{2, 3, 4} {
				for _, count := range []int64{1, int64(ranks) - 1, 5 * int64(ranks), 1001} {
					name := fmt.Sprintf("%s %s, %d ranks, %d", call, a.Name, ranks, count)
					one := &program.Program{Ranks: ranks, Tensors: []program.Tensor{{Name: "x",
						Type:  []dtype.Type{dtype.Float32, dtype.BFloat16, dtype.Int8}[i],
						Shape: collective.Shape{count}, Memory: program.Symmetric}},
						Ops: []program.Op{{Name: "call", Call: call, In: []string{"x"}, Out: "y"}}}
					if kind == collective.ReduceScatter || kind == collective.AllToAll {
						one.Tensors[0].Shape = collective.Shape{count * int64(ranks)}
					}
					var alone *schedule.Schedule
					low, err := program.Lower(one, program.Lowering{}, func(spec collective.Spec, _ string,
						_ []int, _ bool) (program.Chosen, error) {
						s, err := a.Build(spec, algos.Options{})
						alone = s
						return program.Chosen{Schedule: s, Name: a.Name}, err
					})
					if alone == nil && err != nil {
						continue // not for so many ranks
					}
					require.NoError(t, err, name)
					_, found := proof.Verify(low.Schedule, proof.Options{})
					require.Empty(t, found, name)
					report, err := reference.Check(low.Schedule, reference.CheckOptions{})
					require.NoError(t, err, name)
					require.Equal(t, reference.NumbersExact, report.Numbers, name)
					graph, err := topology.Switch(ranks, 10*unit.Rate(unit.GB), unit.Microsecond)
					require.NoError(t, err)
					env := sim.Env{Graph: graph, Device: device.Ideal(), Slots: 8}
					want, err := sim.Run(alone, env, sim.Options{})
					require.NoError(t, err, name)
					got, err := sim.Run(low.Schedule, env, sim.Options{})
					require.NoError(t, err, name)
					require.Equal(t, want.Time, got.Time, name)
					require.Equal(t, want.BytesSent, got.BytesSent, name)
					require.Equal(t, want.Messages, got.Messages, name)
				}
			}
		}
	}
}
