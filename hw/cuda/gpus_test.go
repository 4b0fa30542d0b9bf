package cuda

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/hwtest"
	"collsim/schedule"
)

// TestGPUs: every algorithm, its ranks on three GPUs that reach each other's memory, and on two
// that do not, gives the bits that it gives on one.
func TestGPUs(t *testing.T) {
	peers := map[string]int{}
	const together, apart = "seed=6 delay=20 devices=3", "seed=7 delay=20 devices=2 apart=1"
	for _, options := range []string{together, apart} {
		standin(t, options)
		e := executor(t)
		for i, a := range algos.Table() {
			for j, kind := range a.Kinds {
				r := rand.New(rand.NewPCG(uint64(i), uint64(j)))
				spec := hwtest.AnySpec(kind, []int{4, 6, 8}[i%3], r)
				operators := hwtest.Operators(kind)
				spec.Op = operators[(i+j)%len(operators)].Op
				if kind != collective.Barrier {
					spec.Type = dtype.All()[(i+j)%len(dtype.All())]
				}
				if collective.CheckOp(spec.Op, spec.Type) != nil || spec.Op >= collective.And {
					spec.Op = collective.Sum // no kernel for GPUs has and, or and xor
					if spec.Type == dtype.Bool {
						spec.Type = dtype.Uint8
					}
				}
				s, err := a.Build(spec, algos.Options{})
				if err != nil {
					continue // not for so many ranks
				}
				agrees(t, e, s, hw.Env{Slots: 2 * spec.Ranks, Trace: i%3 == 0}, r)
			}
		}
		peers[options] = counted(t, "standin_peers")
		require.Contains(t, e.device.version(2), "2 GPUs: stand-in driver: ordering and plumbing")
	}
	t.Logf("copies between GPUs: %v", peers) // by copy engines, and where kernels cannot reach
	require.Greater(t, peers[apart], 100)
}

// TestStray: a kernel that touches the memory of a GPU which its own does not reach is found by the
// stand-in, so that TestGPUs means something.
func TestStray(t *testing.T) {
	standin(t, "seed=1 devices=2 apart=1")
	e, s := executor(t), ring(t)
	job := &hw.Job{Schedule: s, Inputs: quietInputs(s)}
	_, err := e.Run(context.Background(), job)
	require.NoError(t, err)
	for _, g := range e.device.gpus {
		g.reaches = []bool{true, true}
	}
	_, err = e.Run(context.Background(), job)
	var failed *hw.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, "CUDA_ERROR_ILLEGAL_ADDRESS", failed.Code)
}

// TestSkew: the clocks of GPUs are put side by side, and how far off that may be is told.
func TestSkew(t *testing.T) {
	s := ring(t)
	job := &hw.Job{Schedule: s, Inputs: quietInputs(s), Env: hw.Env{Repetitions: 3}}
	standin(t, "seed=1")
	result, err := executor(t).Run(context.Background(), job)
	require.NoError(t, err)
	require.Zero(t, result.Skew)
	standin(t, "seed=1 devices=4")
	result, err = executor(t).Run(context.Background(), job)
	require.NoError(t, err)
	require.Positive(t, result.Skew)
	for _, r := range result.Repetitions {
		for rank, end := range r.End {
			require.Greater(t, end, r.Start[rank])
			require.LessOrEqual(t, r.Start[rank], result.Skew)
		}
	}
}

// TestPriorities: a lane goes on, on another stream, behind what it has done, when a launch asks
// for another priority; more than the GPU has is its highest.
func TestPriorities(t *testing.T) {
	s, err := schedule.Parse(`schedule priorities
collective broadcast float32
ranks 1
root 0
count 1000
scratch 1000
rank 0
  lane 0
    copy in into scratch launch(sms priority=1) @0
    copy scratch into out launch(sms priority=5) @0
    copy out into scratch launch(sms) @0
    copy scratch into out launch(copy priority=9) @0
`)
	require.NoError(t, err)
	standin(t, "seed=4 delay=200")
	e := executor(t)
	agrees(t, e, s, hw.Env{Iterations: 2}, rand.New(rand.NewPCG(1, 1)))
	var priorities []int32
	for _, one := range e.device.gpus[0].streams[1:] {
		priorities = append(priorities, one.priority)
	}
	require.Equal(t, []int32{1, 2, 0}, priorities)
}
