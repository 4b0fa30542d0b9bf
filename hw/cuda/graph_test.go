package cuda

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/hwtest"
	"collsim/reference"
	"collsim/schedule"
)

// counted is one of the stand-in's counters.
func counted(t *testing.T, name string) int {
	t.Helper()
	handle, err := open(standinPath(t))
	require.NoError(t, err)
	at, err := symbol(handle, name)
	require.NoError(t, err)
	return int(invoke(at))
}

// graphed is a schedule whose lanes all begin with a launch in a graph: all ranks in the same, or
// each in its own.
func graphed(t *testing.T, s *schedule.Schedule, number func(rank int) int32) *schedule.Schedule {
	t.Helper()
	head := schedule.Schedule{Name: s.Name, Spec: s.Spec, Cuts: s.Cuts, Memory: s.Memory,
		Slices: s.Slices, Slots: s.Slots}
	var lanes []int
	for rank := range s.Spec.Ranks {
		lanes = append(lanes, s.Program(rank).Lanes())
	}
	made, err := schedule.Assemble(head, lanes, func(rank, lane int, add func(schedule.Step)) {
		p := s.Program(rank)
		for c := p.Walk(lane); !c.Done(); c.Next(1) {
			var step schedule.Step
			p.Load(&c, &step)
			if c.Step == 0 {
				step.Launch = &schedule.Launch{Graph: number(rank)}
			}
			add(step)
		}
	})
	require.NoError(t, err)
	return made
}

// TestGraphs: what a schedule has in one graph is one launch a repetition, on one GPU and on
// several; bits are the same, and a timeline has the steps inside.
func TestGraphs(t *testing.T) {
	for _, options := range []string{"seed=1 delay=50", "seed=2 delay=50 devices=2",
		"seed=3 delay=50 devices=3 apart=1"} {
		for _, name := range []string{"ring", "two-shot", "recursive-doubling"} {
			a, err := algos.Find(collective.AllReduce, name)
			require.NoError(t, err)
			s, err := a.Build(collective.Spec{Kind: collective.AllReduce, Op: collective.Sum,
				Type: dtype.BFloat16, Ranks: 4, Count: 37}, algos.Options{})
			require.NoError(t, err)
			s = graphed(t, s, func(int) int32 { return 1 })
			standin(t, options)
			e := executor(t)
			agrees(t, e, s, hw.Env{Slots: 8, Repetitions: 3}, rand.New(rand.NewPCG(1, 5)))
			require.Equal(t, 3, counted(t, "standin_replays"), name)
			agrees(t, e, s, hw.Env{Slots: 8, Trace: true}, rand.New(rand.NewPCG(1, 5)))
			agrees(t, e, s, hw.Env{Slots: 8, Iterations: 3}, rand.New(rand.NewPCG(1, 5)))
		}
	}
}

// TestCutGraphs: ranks whose graphs wait for each other have them cut; so has a graph that waits
// for a lane outside, which waits for the graph.
func TestCutGraphs(t *testing.T) {
	s := graphed(t, ring(t), func(rank int) int32 { return int32(rank%2 + 1) })
	standin(t, "seed=1 delay=50")
	e := executor(t)
	agrees(t, e, s, hw.Env{}, rand.New(rand.NewPCG(1, 5)))
	require.Greater(t, counted(t, "standin_replays"), 2)

	s, err := schedule.Parse(`schedule between
collective broadcast float32
ranks 1
root 0
count 4
scratch 4
rank 0
  lane 0
    copy in into scratch post launch(sms graph=1) @0
    copy out into scratch after 1#1 @0
    copy scratch into out @0
  lane 1
    copy scratch into out after 0#1 post launch(sms priority=1 graph=2) @0
`)
	require.NoError(t, err)
	standin(t, "seed=2 delay=50")
	agrees(t, e, s, hw.Env{}, rand.New(rand.NewPCG(1, 5)))
	require.Equal(t, 3, counted(t, "standin_replays"))
}

// TestDroppedInGraphs: whichever wait is left out, before a graph, in it or behind it, either it is
// refused, or the result is wrong, or the two are ordered by other waits all the same.
func TestDroppedInGraphs(t *testing.T) {
	whole := graphed(t, ring(t), func(int) int32 { return 1 })
	half := graphed(t, ring(t), func(rank int) int32 { return int32(rank % 2) })
	for _, c := range []struct {
		s       *schedule.Schedule
		devices int
		wrong   int
	}{{whole, 1, 20}, {half, 1, 10}, {whole, 2, 20}} {
		count, _ := standin(t, fmt.Sprintf("seed=1 devices=%d", c.devices))
		e := executor(t)
		in := quietInputs(c.s)
		want, err := reference.RunBytes(c.s, in, reference.RunOptions{})
		require.NoError(t, err)
		got, err := outputs(e, c.s, in)
		require.NoError(t, err)
		require.Equal(t, want, got)
		waits, wrong, refused := count(), 0, 0
		for drop := 1; drop <= waits; drop++ {
			_, inverted := standin(t, fmt.Sprintf("seed=%d devices=%d drop=%d", drop, c.devices, drop))
			got, err := outputs(e, c.s, in)
			switch failed := (*hw.Error)(nil); {
			case err != nil:
				require.ErrorAs(t, err, &failed)
				require.Equal(t, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", failed.Code)
				refused++
			case inverted() == 0:
				require.Equal(t, want, got, "wait %d of %d", drop, waits)
			default:
				require.NotEqual(t, want, got, "wait %d of %d", drop, waits)
				wrong++
			}
		}
		t.Logf("%d waits: without %d the result is wrong, %d are refused", waits, wrong, refused)
		require.GreaterOrEqual(t, wrong+refused, c.wrong)
	}
}

// outputs are what a schedule gives on the device.
func outputs(e *Executor, s *schedule.Schedule, in [][]byte) (got [][]byte, err error) {
	result, err := e.Run(context.Background(), &hw.Job{Schedule: s, Inputs: in})
	if err != nil {
		return nil, err
	}
	for _, out := range result.Outputs {
		got = append(got, append([]byte{}, out...))
	}
	return got, nil
}

// quietInputs are inputs of any bits that are no NaN.
func quietInputs(s *schedule.Schedule) [][]byte {
	in := hwtest.AnyInputs(s, rand.New(rand.NewPCG(3, 4)))
	for _, b := range in {
		for i := range b {
			b[i] = 0x30 | b[i]&0x0f
		}
	}
	return in
}
