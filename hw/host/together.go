package host

import (
	"context"
	"fmt"
	"sync"
	"time"

	"collsim/hw"
	"collsim/schedule"
	"collsim/unit"
)

// together plays a job with all ranks in this process.
func (h *Host) together(ctx context.Context, job *hw.Job, env hw.Env) (*hw.Result, error) {
	s := job.Schedule
	w, since := &shared{}, time.Now()
	dirty := env.Iterations > 1 && writes(s)
	for rank := range s.Spec.Ranks {
		p := newPlayer(s, rank, env.Slots)
		p.net, p.stock, p.input, p.since = w, h.stock, job.Inputs[rank], since
		p.iterations, p.tracing, p.dirty = env.Iterations, env.Trace, dirty
		w.players = append(w.players, p)
	}
	if err := w.link(); err != nil {
		return nil, err
	}
	result := &hw.Result{RanOn: hw.Here("host", h.config.Transport.String())}
	var origin unit.Time
	for i := range env.Warmup + env.Repetitions {
		start, end, err := w.repeat(ctx, env)
		if err != nil {
			return nil, err
		}
		if i < env.Warmup {
			continue
		}
		r, zero := hw.Measure(start, end)
		result.Repetitions = append(result.Repetitions, r)
		if env.Trace && result.Fastest() == len(result.Repetitions)-1 {
			origin = zero
			for _, p := range w.players {
				p.keep()
			}
		}
	}
	recordings := make([]hw.Recording, len(w.players))
	for rank, p := range w.players {
		result.Outputs = append(result.Outputs, p.output())
		recordings[rank] = p.recording()
		recordings[rank].Shift(-origin)
	}
	if env.Trace {
		result.Trace = hw.Timeline(s, env.Iterations, recordings)
	}
	return result, nil
}

// repeat plays all ranks once, watched.
func (w *shared) repeat(ctx context.Context, env hw.Env) (start, end []unit.Time, err error) {
	start, end = make([]unit.Time, len(w.players)), make([]unit.Time, len(w.players))
	for _, p := range w.players {
		p.reset()
	}
	gate := make(chan struct{})
	var ranks, watcher sync.WaitGroup
	for rank, p := range w.players {
		ranks.Go(func() {
			var err error
			if start[rank], end[rank], err = p.play(gate); err != nil {
				w.fail(err)
			}
		})
	}
	watching, stop := context.WithCancel(ctx)
	watcher.Go(func() {
		if hw.Watch(watching, env.Timeout, w.progress) {
			w.fail(hw.Stalled(w.waits(), env.Timeout, slots(w.players[0].s, env)))
		} else if err := context.Cause(ctx); err != nil {
			w.fail(fmt.Errorf("host: %w", err))
		}
	})
	close(gate)
	ranks.Wait()
	stop()
	watcher.Wait()
	if f := w.failed.Load(); f != nil {
		return nil, nil, f.err
	}
	return start, end, w.unreceived()
}

// slots is what connections hold that do not say.
func slots(s *schedule.Schedule, env hw.Env) int {
	if s.Slots > 0 {
		return s.Slots
	}
	return env.Slots
}

// fail stops all ranks, each with the first error of all.
func (w *shared) fail(err error) {
	w.failed.CompareAndSwap(nil, &failure{err})
	for _, p := range w.players {
		p.fail(w.failed.Load().err)
	}
}

func (w *shared) progress() (sum int64) {
	for _, p := range w.players {
		sum += p.progress()
	}
	return sum
}

func (w *shared) waits() (all []schedule.Waiting) {
	for _, p := range w.players {
		all = append(all, p.waits()...)
	}
	return all
}

// unreceived reports messages that nobody has taken.
func (w *shared) unreceived() error {
	for _, p := range w.players {
		for _, in := range p.ins {
			if left := in.far.sent - in.got; left > 0 {
				return w.players[in.From].errorf(int(in.FromLane), -1,
					"%d messages to rank %d lane %d are never received", left, in.To, in.ToLane)
			}
		}
	}
	return nil
}
