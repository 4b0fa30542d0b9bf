package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"collsim/hw"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/unit"
)

// Told holds the outcome for a rank of a run with faults that was executed, and whether it agrees
// with the simulation.
type Told struct {
	Rank  int
	Times int    // how often there was an outcome; once is right
	Err   string // empty: its part has succeeded
	Why   string // it does not agree; empty: it does
}

// suffers reports whether an executor injects faults.
func suffers(e scenarios.Executor) bool {
	return e == scenarios.Host || e == scenarios.Callbacks
}

// injected returns the faults of a simulated run for an executor.
func (f *Faulted) injected() (list []hw.Fault) {
	kinds := map[string]hw.FaultKind{"stops": hw.Stops, "dies": hw.Dies, "drops": hw.Drops,
		"late": hw.Late}
	for i, s := range f.Faults {
		if s.Struck {
			list = append(list, hw.Fault{Rank: s.Rank, Does: kinds[s.Does], Before: f.found[i].Before,
				Lane: f.found[i].Lane, Number: f.found[i].Number,
				For: time.Duration(s.Late / unit.Nanosecond)})
		}
	}
	return list
}

// suffer executes a job once, with the faults of a run, and keeps the outcomes for its ranks. It
// returns what was executed without failure, else nil.
func (v *validator) suffer(ctx context.Context, job *hw.Job, f *Faulted, to *Measured) (*hw.Result,
	error) {
	told := make([]Told, job.Schedule.Spec.Ranks)
	for rank := range told {
		told[rank].Rank = rank
	}
	job.Env.Warmup, job.Env.Repetitions, job.Env.Iterations = 0, 1, 1
	job.Env.Faults = f.injected()
	job.Done = func(rank int, err error) {
		if told[rank].Times++; err != nil {
			told[rank].Err = err.Error()
		}
	}
	done, err := v.device.Run(ctx, job)
	var failure *hw.Error
	if err != nil && !errors.As(err, &failure) {
		return nil, err
	}
	for rank := range told {
		told[rank].Why = f.disagrees(&told[rank], job.Schedule)
	}
	to.Told = told
	if failure != nil {
		return nil, nil
	}
	return done, nil
}

// disagrees says why the outcome for a rank is not that of the simulation; empty if it is. A rank
// that has ended its part may hear of a failure elsewhere all the same, since that may come first.
func (f *Faulted) disagrees(t *Told, s *schedule.Schedule) string {
	ended := slices.Contains(f.Ended, t.Rank) && (hw.EndsAlone(s) || f.teamEnded(t.Rank, s))
	switch {
	case t.Times != 1:
		return fmt.Sprintf("it was told %d times", t.Times)
	case t.Err == "" && f.Hangs && !ended:
		return "it was told of success, though it depends on a rank that has failed"
	case t.Err != "" && !f.Hangs:
		return "it was told of a failure, where the simulation ends"
	case t.Err != "" && !f.named(t.Err):
		return "what it was told names no rank that has failed"
	}
	return ""
}

// teamEnded reports whether all ranks of the team of a rank have ended, where there are teams.
func (f *Faulted) teamEnded(rank int, s *schedule.Schedule) bool {
	for _, t := range s.Teams() {
		if slices.Contains(t.Ranks, rank) {
			return !slices.ContainsFunc(t.Ranks, func(other int) bool {
				return !slices.Contains(f.Ended, other)
			})
		}
	}
	return false
}

// named reports whether a text names a rank with a fault.
func (f *Faulted) named(text string) bool {
	return slices.ContainsFunc(f.Faults, func(s Strike) bool {
		name := fmt.Sprintf("rank %d", s.Rank)
		for at := strings.Index(text, name); at >= 0; {
			text = text[at+len(name):]
			if text == "" || text[0] < '0' || text[0] > '9' {
				return true
			}
			at = strings.Index(text, name)
		}
		return false
	})
}

// agrees reports whether all outcomes are those of the simulation.
func agrees(told []Told) bool {
	return !slices.ContainsFunc(told, func(t Told) bool { return t.Why != "" })
}
