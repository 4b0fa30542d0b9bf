package cuda

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/internal/memory"
	"collsim/kernel"
	"collsim/schedule"
)

// An Executor executes schedules on the GPUs that CUDA shows: consecutive ranks on each, evenly
// distributed. It holds contexts, streams, events and kernels from its first run until it is closed
// or a run fails.
type Executor struct {
	device *device
	images map[imageName][]byte // compiled kernels
}

// New returns an Executor. Nothing is loaded before its first run.
func New() *Executor { return &Executor{images: map[imageName][]byte{}} }

// Needs implements hw.Sizer: the host has a copy of the buffers on the device.
func (*Executor) Needs(s *schedule.Schedule) int64 { return hw.Together(s) }

// Close frees the device.
func (e *Executor) Close() error {
	d := e.device
	if e.device = nil; d == nil {
		return nil
	}
	_, err := watched(context.Background(), d, hw.DefaultTimeout, func() (*hw.Result, error) {
		err := d.enter(0)
		if err == nil {
			err = d.leave()
		}
		return nil, err
	})
	return err
}

// Run executes a job. After an error the device has been freed. It cannot be freed if a call of the
// driver does not return; the error then says so.
func (e *Executor) Run(ctx context.Context, job *hw.Job) (*hw.Result, error) {
	env, err := job.CheckSound()
	if err != nil {
		return nil, err
	}
	if err := refusal(job.Schedule, 1); err != nil {
		return nil, err
	}
	d := e.device
	if e.device = nil; d == nil {
		d = newDevice(e.images)
	}
	var failed atomic.Pointer[error]
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // also of a stuck thread, which ends if its call returns after all
	result, err := watched(ctx, d, env.Timeout, func() (*hw.Result, error) {
		result, err := execute(ctx, d, job, env)
		if err != nil {
			failed.Store(&err)
			d.leave() // ignore its error: the context is broken
		}
		return result, err
	})
	if stuck := (*stuckError)(nil); errors.As(err, &stuck) {
		e.images = map[imageName][]byte{} // the stuck thread may still use the old ones
		if first := failed.Load(); first != nil {
			return nil, errors.Join(*first, stuck.is)
		}
		return nil, stuck.is
	}
	if err != nil {
		return nil, err
	}
	e.device = d
	return result, nil
}

// newDevice returns a device that has loaded nothing yet.
func newDevice(images map[imageName][]byte) *device {
	return &device{images: images, out: &outs{one: 1}, arguments: &launchArguments{},
		left: memory.Read}
}

// bitwise returns an operator of a schedule, or of a part or team of it, that no kernel has: and,
// or, xor; 0 if there is none.
func bitwise(s *schedule.Schedule) collective.Op {
	specs := []*collective.Spec{&s.Spec}
	for _, parts := range [][]schedule.Part{s.Parts(), s.Teams()} {
		for i := range parts {
			specs = append(specs, &parts[i].Schedule.Spec)
		}
	}
	for _, spec := range specs {
		if spec.Op >= collective.And {
			return spec.Op
		}
	}
	return 0
}

// castsBools reports whether a step converts bools to numbers, or numbers to bools.
func castsBools(step *schedule.Step) bool {
	o := step.Kernel
	return o != nil && o.Kind == kernel.Cast && (o.A == dtype.Bool || o.Out == dtype.Bool)
}

// refusal returns a Refusal if a schedule cannot be executed on so many machines, else nil.
func refusal(s *schedule.Schedule, machines int) error {
	if s.AnyStep(func(step *schedule.Step) bool {
		if step.Kernel != nil {
			return false
		}
		sources := 0
		for i := range step.From {
			sources += max(len(step.From[i].Team), 1)
		}
		results := len(step.To)
		for i := range step.Send {
			results += max(len(step.Send[i].Team), 1)
		}
		return sources > manyOperands || results > manyResults
	}) {
		return hw.Refuse("a step has more than %d sources, or %d destinations", manyOperands,
			manyResults)
	}
	if op := bitwise(s); op != 0 {
		return hw.Refuse("no program for GPUs combines by %v; the executor host does", op)
	}
	var without kernel.Kind
	if s.AnyStep(func(step *schedule.Step) bool {
		if step.Kernel != nil && step.Kernel.Reads != "" {
			without = step.Kernel.Kind
		}
		return without != 0
	}) {
		return hw.Refuse("no program for GPUs computes %v; the executor host does", without)
	}
	if s.AnyStep(castsBools) {
		return hw.Refuse("no program for GPUs casts bools; the executor host does")
	}
	if machines > 1 {
		return oneSided(s, machines)
	}
	return nil
}

// A stuckError is a call of the driver that has not returned.
type stuckError struct{ is *hw.Error }

// Error formats the call.
func (e *stuckError) Error() string { return e.is.Error() }

// watched runs work on a locked thread. It returns when work does, or with an error when a call of
// the driver has not returned for the timeout.
func watched(ctx context.Context, d *device, timeout time.Duration,
	work func() (*hw.Result, error)) (*hw.Result, error) {
	type outcome struct {
		result *hw.Result
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		result, err := work()
		done <- outcome{result, err}
	}()
	ticker := time.NewTicker(min(timeout/4+1, time.Second))
	defer ticker.Stop()
	beat, since := d.beat.Load(), time.Now()
	for {
		select {
		case o := <-done:
			return o.result, o.err
		case <-ticker.C:
		}
		if now := d.beat.Load(); now != beat {
			beat, since = now, time.Now()
		}
		limit := timeout
		if ctx.Err() != nil {
			limit = min(timeout, time.Second)
		}
		if time.Since(since) < limit || compiling(d) {
			continue
		}
		return nil, &stuckError{&hw.Error{Call: *d.doing.Load(), Code: "timeout", Rank: -1, Lane: -1,
			Step: -1, Text: fmt.Sprintf("it has not returned for %v; the device is held until this "+
				"process ends", limit)}}
	}
}

// compiling reports whether the current call compiles or initializes, which may exceed the timeout:
// NVRTC, or the driver's compiler of PTX.
func compiling(d *device) bool {
	doing := d.doing.Load()
	return doing == nil || *doing == "nvrtcCompileProgram" || *doing == "cuModuleLoadData" ||
		*doing == "cuInit"
}
