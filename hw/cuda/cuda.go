package cuda

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"collsim/hw"
	"collsim/internal/memory"
	"collsim/schedule"
)

// Executor plays schedules on the GPUs that CUDA shows: the first ranks on the first, and on each
// as many as comes out even. It holds contexts there, streams, events and kernels, from its first
// run until it is closed or a run fails.
type Executor struct {
	device *device
	images map[imageName][]byte // compiled kernels
}

// New returns an Executor. Nothing is loaded before its first run.
func New() *Executor { return &Executor{images: map[imageName][]byte{}} }

// Needs implements hw.Sizer: on the host, a copy of what is on the device.
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

// Run plays a job. After an error the device has been freed; where a call of the driver does not
// return, it cannot be, and the error says so.
func (e *Executor) Run(ctx context.Context, job *hw.Job) (*hw.Result, error) {
	env, err := job.Check()
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
	defer cancel() // of who is stuck, too: it ends when the call returns after all
	result, err := watched(ctx, d, env.Timeout, func() (*hw.Result, error) {
		result, err := execute(ctx, d, job, env)
		if err != nil {
			failed.Store(&err)
			d.leave() // what it says is of no use: the context is broken
		}
		return result, err
	})
	if stuck := (*stuckError)(nil); errors.As(err, &stuck) {
		e.images = map[imageName][]byte{} // who is stuck has the others
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

// newDevice returns a device of which nothing is loaded yet.
func newDevice(images map[imageName][]byte) *device {
	return &device{images: images, out: &outs{one: 1}, arguments: &launchArguments{},
		left: memory.Read}
}

// refusal is what of a schedule is not measured on so many machines, nil if all of it is.
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
		return hw.Refuse("cuda: a step has more than %d sources, or %d destinations", manyOperands,
			manyResults)
	}
	if machines > 1 {
		return oneSided(s, machines)
	}
	return nil
}

// stuckError is a call that has not returned.
type stuckError struct{ is *hw.Error }

func (e *stuckError) Error() string { return e.is.Error() }

// watched does work on a thread of its own, and returns when it has ended or when a call of the
// driver has not returned for the timeout.
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

// compiling reports whether a compiler is at work, which takes its time: NVRTC, or the driver's, of
// PTX.
func compiling(d *device) bool {
	doing := d.doing.Load()
	return doing == nil || *doing == "nvrtcCompileProgram" || *doing == "cuModuleLoadData" ||
		*doing == "cuInit"
}
