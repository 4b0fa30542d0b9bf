package cuda

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/hw"
	"collsim/hw/hwtest"
	"collsim/kernel"
	"collsim/schedule"
)

// TestFaults: each way in which the device fails is an error that names the call, the code and
// where that is known; the device has then been freed, and the executor can be used again.
func TestFaults(t *testing.T) {
	s := ring(t)
	for _, c := range []struct {
		name, options, call, code, text string
		placed, gone                    bool
	}{
		{name: "memory", options: "memory=200", call: "cuMemAlloc_v2",
			code: "CUDA_ERROR_OUT_OF_MEMORY", placed: true,
			text: "rank 0: cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY: out of memory: 512 bytes are asked " +
				"for, 200 of the device's 200 are free"},
		{name: "memory on the way", options: "memory=2050", call: "cuMemAlloc_v2",
			code: "CUDA_ERROR_OUT_OF_MEMORY", placed: true, text: "lane 0 step 0: cuMemAlloc_v2"},
		{name: "launch", options: "launch=3", call: "cuLaunchKernel",
			code: "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", placed: true,
			text: "lane 0 step 0: cuLaunchKernel: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many"},
		{name: "fault", options: "fault=12", call: "cuEventQuery",
			code: "CUDA_ERROR_ILLEGAL_ADDRESS", text: "not over, when that was found: rank "},
		{name: "lost", options: "lost=12", call: "cuEventQuery",
			code: "CUDA_ERROR_DEVICE_UNAVAILABLE", gone: true},
	} {
		standin(t, "seed=1 "+c.options)
		e := executor(t)
		in := hwtest.AnyInputs(s, rand.New(rand.NewPCG(1, 1)))
		_, err := e.Run(context.Background(), &hw.Job{Schedule: s, Inputs: in})
		var failed *hw.Error
		require.ErrorAs(t, err, &failed, c.name)
		require.Equal(t, [2]string{c.call, c.code}, [2]string{failed.Call, failed.Code}, c.name)
		require.Equal(t, c.placed, failed.Rank >= 0, c.name)
		require.ErrorContains(t, err, c.text, c.name)
		if c.gone {
			_, err := e.Run(context.Background(), &hw.Job{Schedule: s, Inputs: in})
			require.ErrorAs(t, err, &failed)
			require.Equal(t, "cuCtxCreate_v2", failed.Call)
		}
		standin(t, "")
		agrees(t, e, s, hw.Env{}, rand.New(rand.NewPCG(2, 1)))
	}
}

// TestProgramFaults: what fails in the kernel of a program, in a graph, or on one of several GPUs
// is told as what fails elsewhere, and everything is free afterwards.
func TestProgramFaults(t *testing.T) {
	o, err := kernel.Parse("matmul m=4 k=3 n=2 float32*float32->float32")
	require.NoError(t, err)
	matmul := computes(t, o)
	whole := graphed(t, ring(t), func(int) int32 { return 1 })
	for _, c := range []struct {
		name, options    string
		s                *schedule.Schedule
		call, code, text string
	}{
		{"a kernel", "fault=2", matmul, "cuEventQuery", "CUDA_ERROR_ILLEGAL_ADDRESS",
			"not over, when that was found: rank 0 lane 0 step 0 (compute)"},
		{"its launch", "launch=1", matmul, "cuLaunchKernel", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
			"rank 0 lane 0 step 0: "},
		{"memory", "memory=100", matmul, "cuMemAlloc_v2", "CUDA_ERROR_OUT_OF_MEMORY", "rank 0"},
		{"a graph", "graph=1", whole, "cuGraphInstantiateWithFlags", "CUDA_ERROR_OUT_OF_MEMORY", ""},
		{"in a graph", "fault=12", whole, "cuEventQuery", "CUDA_ERROR_ILLEGAL_ADDRESS",
			"in graph 1"},
		{"lost in a graph", "lost=12", whole, "cuEventQuery", "CUDA_ERROR_DEVICE_UNAVAILABLE", ""},
		{"two GPUs", "devices=2 fault=12", ring(t), "cuEventQuery", "CUDA_ERROR_ILLEGAL_ADDRESS",
			"not over, when that was found: rank "},
		{"memory of the second", "devices=2 memory=100", ring(t), "cuMemAlloc_v2",
			"CUDA_ERROR_OUT_OF_MEMORY", "bytes are asked for"},
		{"one of two lost", "devices=2 lost=12", ring(t), "", "CUDA_ERROR_DEVICE_UNAVAILABLE", ""},
	} {
		standin(t, "seed=1 "+c.options)
		e := executor(t)
		job := &hw.Job{Schedule: c.s, Env: hw.Env{Timeout: 5 * time.Second}}
		if c.s.Tensors == nil {
			job.Inputs = quietInputs(c.s)
		} else {
			job.Tensors = anyTensors(c.s, rand.New(rand.NewPCG(1, 1)))
		}
		_, err := e.Run(context.Background(), job)
		var failed *hw.Error
		require.ErrorAs(t, err, &failed, c.name)
		require.Equal(t, c.code, failed.Code, c.name)
		require.True(t, c.call == "" || c.call == failed.Call, "%s: %v", c.name, err)
		require.ErrorContains(t, err, c.text, c.name)
		standin(t, "")
		agrees(t, e, ring(t), hw.Env{}, rand.New(rand.NewPCG(2, 1)))
	}
}

// hangs runs a job on a device that does not end what it was given, and wants a text to be told of
// that, in which %v is the timeout. A machine that does much else may hold any call for as long:
// then the job has longer, and longer.
func hangs(t *testing.T, e *Executor, options string, job *hw.Job, want string) {
	t.Helper()
	for timeout := 200 * time.Millisecond; ; timeout *= 4 {
		standin(t, options)
		job.Env.Timeout = timeout
		_, err := e.Run(context.Background(), job)
		text := strings.ReplaceAll(want, "%v", timeout.String())
		if timeout > 10*time.Second {
			require.ErrorContains(t, err, text)
		}
		standin(t, "")
		if err != nil && strings.Contains(err.Error(), text) {
			break
		}
		t.Logf("longer than %v: %v", timeout, err)
		time.Sleep(timeout)
	}
	agrees(t, e, ring(t), hw.Env{}, rand.New(rand.NewPCG(2, 1)))
}

// testHangOfSeveral: who waits for whom is told of ranks on several GPUs, and of what is in a
// graph, step by step where a timeline is asked for.
func testHangOfSeveral(t *testing.T) {
	whole := graphed(t, ring(t), func(int) int32 { return 1 })
	for _, c := range []struct {
		options string
		s       *schedule.Schedule
		trace   bool
		want    string
	}{
		{"devices=4 hang=9", ring(t), false, "rank 1 lane 0 step 1 (recvReduceSend chunk 0) waits " +
			"for a message from rank 0 lane 0"},
		{"seed=2 hang=9", whole, true, "rank 0 lane 0 step 0: wait: timeout: no progress for " +
			"%v: the device has not ended it (send in graph 1 chunk 0), and it waits for nothing else; " +
			"rank 1 lane 0 step 1 (recvReduceSend in graph 1 chunk 0) waits for a message from rank 0"},
		{"seed=2 hang=9", whole, false, "has not ended it (send in graph 1"},
	} {
		hangs(t, executor(t), c.options,
			&hw.Job{Schedule: c.s, Inputs: quietInputs(c.s), Env: hw.Env{Trace: c.trace}}, c.want)
	}
}

// TestHang: a device that does not end what it was given is told after the timeout, with who waits
// for whom; so is a call that does not return. The executor can be used again. It waits while
// machines execute, which are processes of their own; nothing else is on this one's device then.
func TestHang(t *testing.T) {
	standinPath(t)
	t.Parallel()
	t.Run("several", testHangOfSeveral)
	s, e := ring(t), executor(t)
	job := &hw.Job{Schedule: s, Inputs: hwtest.AnyInputs(s, rand.New(rand.NewPCG(1, 1)))}
	hangs(t, e, "hang=2", job, // the first eight take inputs and outputs there
		"wait: timeout: no progress for %v: the device has not taken the inputs")
	hangs(t, e, "hang=9", job, "rank 0 lane 0 step 0: wait: timeout: no progress for %v: the "+
		"device has not ended it (send chunk 0), and it waits for nothing else; "+
		"rank 1 lane 0 step 1 (recvReduceSend chunk 0) waits for a message from rank 0 lane 0, "+
		"rank 2 lane 0 step 2 (recvReduceSend chunk 0) waits for a message from rank 1 lane 0, "+
		"rank 3 lane 0 step 3 (recvReduceCopySend chunk 0) waits for a message from rank 2 lane 0")
	hangs(t, e, "block=5", job, "cuLaunchKernel: timeout: it has not returned for %v; the "+
		"device is held until this process ends")

	standin(t, "load=400") // a compiler of the driver's has all the time that it needs
	require.NoError(t, e.Close())
	_, err := e.Run(context.Background(), &hw.Job{Schedule: s, Inputs: job.Inputs,
		Env: hw.Env{Timeout: 200 * time.Millisecond}})
	require.NoError(t, err)

	standin(t, "hang=9")
	why := errors.New("that is enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(100*time.Millisecond, func() { cancel(why) })
	job.Env.Timeout = time.Minute
	_, err = e.Run(ctx, job)
	require.ErrorIs(t, err, why)
	standin(t, "")
	agrees(t, e, s, hw.Env{}, rand.New(rand.NewPCG(2, 1)))
}

// TestStuck: what can never be issued is told at once, with who waits for whom.
func TestStuck(t *testing.T) {
	standin(t, "")
	e := executor(t)
	told := func(s *schedule.Schedule, env hw.Env) string {
		in := hwtest.AnyInputs(s, rand.New(rand.NewPCG(1, 1)))
		_, err := e.Run(context.Background(), &hw.Job{Schedule: s, Inputs: in, Env: env})
		require.Error(t, err)
		return err.Error()
	}
	s, before, after := hwtest.NeverComes(t)
	require.Equal(t, before+"nothing more can be issued"+after, told(s, hw.Env{}))
	s, want := hwtest.NeverReceived(t)
	require.Equal(t, want, told(s, hw.Env{}))
	for _, c := range []struct {
		text, want string
		slots      int
	}{
		{`schedule slots
collective broadcast float32
ranks 2
root 0
count 4
cut in block even 4
cut out block even 4
rank 0
  lane 0
    send in[0] to 1 @0
    send in[1] to 1 @0
rank 1
  lane 0
    nop @0
`, "waits for a slot from rank 1 lane 0", 1},
		{`schedule misfit
collective reduce float32 sum
ranks 1
root 0
count 8
rank 0
  lane 0
    compute (cast 4 float32->float32) in into out @0
`, "rank 0 lane 0 step 0: step: malformed: compute 32 bytes of float32 for a: float32 4 is " +
			"expected", 0},
	} {
		s, err := schedule.Parse(c.text)
		require.NoError(t, err)
		require.Contains(t, told(s, hw.Env{Slots: c.slots}), c.want)
	}
}
