package program_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/program"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// pipelined is a pipeline of stages of a rank each, through which microbatches go. A stage takes 3
// us forward and 7 us back: kernels of which no more is known stand before a matmul, and, in the
// backward pass, before its gradient.
func pipelined(stages, microbatches int, order program.Order) *program.Program {
	return interleaved(stages, 1, microbatches, order)
}

// interleaved is a pipeline whose stages have several chunks each, which take as long as a stage
// of pipelined.
func interleaved(stages, chunks, microbatches int, order program.Order) *program.Program {
	p := &program.Program{Name: "pipeline", Ranks: stages, Gradient: true, Order: order}
	for s := range stages {
		name := fmt.Sprint("stage", s)
		p.Stages = append(p.Stages, name)
		p.Groups = append(p.Groups, program.Group{Name: name, Teams: [][]int{{s}}})
	}
	all := stages * chunks
	for s := 1; s < all; s++ {
		p.Groups = append(p.Groups, program.Group{Name: fmt.Sprint("to", s),
			Teams: [][]int{{(s - 1) % stages, s % stages}}})
	}
	for s := range all {
		p.Tensors = append(p.Tensors, f64(fmt.Sprint("w", s), 2, 2))
	}
	for m := range microbatches {
		x := f64(fmt.Sprint("x0_", m), 2, 2)
		x.NoGradient = true
		p.Tensors = append(p.Tensors, x)
	}
	for s := range all {
		for m := range microbatches {
			for _, part := range []string{"F", "mul", "B", "send"} {
				in, out := fmt.Sprintf("x%d_%d", s, m), fmt.Sprintf("y%d_%d", s, m)
				o := program.Op{Name: fmt.Sprintf("%s%d:%d", part, s, m), Microbatch: m,
					Group: fmt.Sprint("stage", s%stages)}
				switch part {
				case "F":
					o.Kernel, o.Backward, o.In = "opaque 3 us", "opaque 0 s", []string{in}
				case "mul":
					o.Kernel, o.In, o.Out = "matmul", []string{in, fmt.Sprint("w", s)}, out
				case "B":
					o.Kernel, o.Backward, o.In = "opaque 1 ps", "opaque 7 us", []string{out}
					if s == all-1 {
						o.In = nil // nobody reads a result
					}
				case "send":
					if s == all-1 {
						continue
					}
					o.Call, o.Group, o.In = "broadcast", fmt.Sprint("to", s+1), []string{out}
					o.Out, o.Async, o.Stream = fmt.Sprintf("x%d_%d", s+1, m), true, o.Group
				}
				p.Ops = append(p.Ops, o)
			}
		}
	}
	return p
}

// TestBubble: where communication takes next to no time, a pipeline of p stages and m microbatches
// takes m+p−1 passes forward and back in either order, of which p−1 are the bubble (Narayanan et
// al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", SC 2021,
// section 2.2: (p−1)/m of the ideal time).
func TestBubble(t *testing.T) {
	for _, order := range []program.Order{program.AsWritten, program.OneForwardOneBackward} {
		for _, stages := range []int{2, 3, 4} {
			graph, err := topology.Switch(stages, unit.Unlimited, 0)
			require.NoError(t, err)
			env := sim.Env{Graph: graph, Device: device.Ideal(), Slots: 8}
			for _, m := range []int{1, 2, 4, 8} {
				low, err := program.Lower(pipelined(stages, m, order), program.Lowering{}, byName)
				require.NoError(t, err)
				ran, err := sim.Run(low.Schedule, env, sim.Options{})
				require.NoError(t, err)
				passes := unit.Time(m+stages-1) * 10 * unit.Microsecond
				require.GreaterOrEqual(t, ran.Time, passes)
				require.Less(t, ran.Time, passes+unit.Nanosecond, "%v: %d stages, %d", order, stages, m)
			}
		}
	}
}

// TestInterleavedBubble: with v chunks a stage, p−1 passes through a chunk are the bubble, a v-th
// of what it is with as much in one chunk (Narayanan et al., SC 2021, section 2.2.2).
func TestInterleavedBubble(t *testing.T) {
	for _, c := range []struct{ stages, chunks, microbatches int }{
		{2, 2, 2}, {2, 2, 4}, {2, 3, 8}, {3, 2, 3}, {3, 2, 6}, {4, 2, 8}, {4, 4, 12}, {4, 1, 8}} {
		graph, err := topology.Switch(c.stages, unit.Unlimited, 0)
		require.NoError(t, err)
		p := interleaved(c.stages, c.chunks, c.microbatches, program.InterleavedOneForwardOneBackward)
		low, err := program.Lower(p, program.Lowering{}, byName)
		require.NoError(t, err)
		ran, err := sim.Run(low.Schedule, sim.Env{Graph: graph, Device: device.Ideal(), Slots: 8},
			sim.Options{})
		require.NoError(t, err)
		passes := unit.Time(c.chunks*c.microbatches+c.stages-1) * 10 * unit.Microsecond
		require.GreaterOrEqual(t, ran.Time, passes)
		require.Less(t, ran.Time, passes+unit.Nanosecond, "%+v", c)
	}
}

// TestInterleavedOrder: who does what when, of 2 stages with 2 chunks each and 4 microbatches, as
// Megatron's get_schedule_table has it: passes are named by chunk and microbatch.
func TestInterleavedOrder(t *testing.T) {
	p := interleaved(2, 2, 4, program.InterleavedOneForwardOneBackward)
	low, err := program.Lower(p, program.Lowering{}, byName)
	require.NoError(t, err)
	turns := make([]string, 2)
	for _, o := range low.Ops {
		pass, of := o.Names[0][:1], o.Names[0][1:]
		if strings.HasSuffix(of, ":grad") != (pass == "B") || pass != "F" && pass != "B" {
			continue
		}
		at := of[0] - '0'
		turns[at%2] += fmt.Sprintf(" %s%d%s", pass, at/2, of[2:3])
	}
	require.Equal(t, []string{
		" F00 F01 F10 F11 F02 B10 F03 B11 F12 B00 F13 B01 B12 B13 B02 B03",
		" F00 F01 F10 B10 F11 B11 F02 B00 F03 B01 F12 B12 F13 B13 B02 B03"}, turns)
	derives(t, interleaved(2, 2, 2, program.InterleavedOneForwardOneBackward), 7)

	err = interleaved(2, 2, 4, program.OneForwardOneBackward).Validate()
	require.ErrorContains(t, err, `order "1f1b" is none of this program: F2:0, of stage stage0 and `+
		`microbatch 0, needs send1:0`)
	err = interleaved(2, 2, 3, program.InterleavedOneForwardOneBackward).Validate()
	require.ErrorContains(t, err, `order "interleaved-1f1b" has as many microbatches as stages, or a `+
		`multiple: 2 stages have 3`)
}

// TestOneForwardOneBackward: who does what when, of 4 stages and 6 microbatches.
func TestOneForwardOneBackward(t *testing.T) {
	p := pipelined(4, 6, program.OneForwardOneBackward)
	low, err := program.Lower(p, program.Lowering{}, byName)
	require.NoError(t, err)
	turns := make([]string, 4)
	for _, o := range low.Ops {
		pass, of := o.Names[0][:1], o.Names[0][1:]
		if strings.HasSuffix(of, ":grad") != (pass == "B") || pass != "F" && pass != "B" {
			continue
		}
		turns[of[0]-'0'] += " " + pass + of[2:3]
	}
	require.Equal(t, []string{
		" F0 F1 F2 F3 B0 F4 B1 F5 B2 B3 B4 B5",
		" F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 B4 B5",
		" F0 F1 B0 F2 B1 F3 B2 F4 B3 F5 B4 B5",
		" F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5"}, turns)
	derives(t, pipelined(3, 3, program.OneForwardOneBackward), 5)
	derives(t, pipelined(2, 4, program.OneForwardOneBackward), 6)
}

// TestOrderRefuses: what has no such order, at its key.
func TestOrderRefuses(t *testing.T) {
	for _, c := range []struct {
		damage func(p *program.Program)
		key    string
		want   string
	}{
		{func(p *program.Program) { p.Gradient = false }, "order",
			`order "1f1b" is one of forward and backward passes: gradient = "full" is expected with it`},
		{func(p *program.Program) { p.Stages = nil }, "stages",
			`the names of at least 2 groups, one for each stage, are expected with order "1f1b"`},
		{func(p *program.Program) { p.Stages[1] = "nobody" }, "stages", `there is no group "nobody"`},
		{func(p *program.Program) { p.Stages[1] = "to1" }, "stages",
			"rank 0 is of stage0 and of to1: one stage a rank is expected"},
		{func(p *program.Program) { p.Stages[0], p.Stages[1] = p.Stages[1], p.Stages[0] }, "repeat",
			`order "1f1b" is none of this program: F1:1, of stage stage1 and microbatch 1, needs send0:1;`},
	} {
		p := pipelined(2, 3, program.OneForwardOneBackward)
		c.damage(p)
		err := p.Validate()
		require.ErrorContains(t, err, c.want)
		var wrong *program.Error
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, c.key, wrong.Key)
	}
}
