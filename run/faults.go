package run

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"collsim/formats/dumps"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/sim"
	"collsim/unit"
)

// Faulted says what came of the faults of a point.
type Faulted struct {
	Faults  []Strike
	Without unit.Time // how long it takes without them
	// Hangs says that the run comes to no end. Ended are the ranks that have ended all the same,
	// Waits has the lanes that wait for other ranks, the first first, and Dump the calls of all, as
	// a job that hangs leaves them.
	Hangs bool
	Ended []int
	Waits []HungLane
	Dump  *dumps.Dump
	// Watchdog has what PyTorch's watchdog writes of it. Verdicts say why it hangs where there is no
	// Dump, of a result that was read back.
	Watchdog, Verdicts []string

	lanes []sim.LaneState // of a run that hangs
	found []sim.Fault     // with what simulation has found of them
}

// Strike is a fault with what became of it.
type Strike struct {
	scenarios.Fault
	At     unit.Time // found for a step or an op; −1 where that does not come
	Struck bool      // its rank was not at its end before
}

// HungLane is a lane that waits for ever.
type HungLane struct {
	schedule.Waiting
	Since unit.Time
}

// faultsOf returns the faults of a point for the simulation. parts returns the parts of a program's
// op on a rank.
func faultsOf(p *scenarios.Point, parts func(op string, rank int) []int32) (list []sim.Fault,
	err error) {
	kinds := map[string]sim.FaultKind{"stops": sim.Stops, "dies": sim.Dies, "drops": sim.Drops,
		"late": sim.Late}
	for i, f := range p.Faults {
		one := sim.Fault{Rank: int32(f.Rank), Does: kinds[f.Does], At: f.At, For: f.Late}
		switch {
		case f.Op != "":
			one.By, one.Parts = sim.ByPart, parts(f.Op, f.Rank)
			if one.Parts == nil {
				return nil, p.Refuse(fmt.Sprintf("fault[%d].op", i), fmt.Sprintf("rank %d does no such op",
					f.Rank), "ops as they are after lowering are in the result's table")
			}
		case f.Step >= 0:
			one.By, one.Step = sim.ByStep, f.Step
		}
		list = append(list, one)
	}
	return list, nil
}

// simulateFaults simulates a schedule with the faults of a point. A run that hangs is no error: its
// result is nil.
func simulateFaults(p *scenarios.Point, s *schedule.Schedule, env sim.Env, o sim.Options) (
	*sim.Result, *Faulted, error) {
	clean := env
	clean.Faults = nil
	without, err := sim.Run(s, clean, sim.Options{Engine: o.Engine, Folded: true})
	if err != nil {
		return nil, nil, err
	}
	f := &Faulted{Without: without.Time}
	ran, err := sim.Run(s, env, o)
	var hang *sim.Hang
	var wrong *sim.FaultError
	switch {
	case errors.As(err, &hang):
		f.take(p, hang.Faults, hang.Struck)
		f.hang(hang)
		return nil, f, nil
	case errors.As(err, &wrong):
		return nil, nil, p.Refuse(fmt.Sprintf("fault[%d].step", wrong.Fault), wrong.Text, "")
	case err != nil:
		return nil, nil, err
	}
	f.take(p, ran.Faults, ran.Struck)
	return ran, f, nil
}

// simulateAll simulates what was made of a point, with its faults. The result is nil of a run that
// comes to no end for them.
func (r *runner) simulateAll(m *made, result *Result, progress func(steps int64)) (*sim.Result,
	error) {
	p := result.Point
	faults, err := faultsOf(p, nil)
	if err != nil {
		return nil, err
	}
	env := r.env(p, m.whole)
	if result.Arrived, err = arrived(p, m.whole, env, engineOf(p)); err != nil {
		return nil, err
	}
	if faults == nil {
		return r.simulatePasses(m, result, progress)
	}
	env.Faults = faults
	o := sim.Options{Trace: r.options.Trace, Engine: engineOf(p)}
	ran, f, err := simulateFaults(p, m.whole, env, o)
	if result.Faulted = f; f != nil && f.Hangs {
		f.leave(m.whole.Spec.Ranks, callsOfTeams(m, result))
	}
	return ran, err
}

// take takes in what the simulation says of faults.
func (f *Faulted) take(p *scenarios.Point, list []sim.Fault, struck []bool) {
	f.found = list
	for i, one := range list {
		s := Strike{Fault: p.Faults[i], At: one.At, Struck: struck[i]}
		if one.At >= unit.Forever-1 {
			s.At = -1
		}
		f.Faults = append(f.Faults, s)
	}
}

// hang takes in a run that comes to no end.
func (f *Faulted) hang(h *sim.Hang) {
	f.Hangs, f.lanes = true, h.Lanes
	open := map[int]bool{}
	for i := range h.Lanes {
		l := &h.Lanes[i]
		open[l.Rank] = open[l.Rank] || !l.IsOver
		if queues := l.Waits.OnRank == l.Rank; !l.IsOver && !l.Stopped && !queues {
			f.Waits = append(f.Waits, HungLane{l.Waits, l.Since})
		}
	}
	slices.SortStableFunc(f.Waits, func(a, b HungLane) int { return cmp.Compare(a.Since, b.Since) })
	for i := range h.Lanes {
		if rank := h.Lanes[i].Rank; !open[rank] && !slices.Contains(f.Ended, rank) {
			f.Ended = append(f.Ended, rank)
		}
	}
}

// Dead reports whether a fault has ended the process of a rank.
func (f *Faulted) Dead(rank int) bool {
	return slices.ContainsFunc(f.Faults, func(s Strike) bool {
		return s.Rank == rank && s.Does == "dies" && s.Struck
	})
}

// Stopped reports whether a fault has a rank do nothing any more.
func (f *Faulted) Stopped(rank int) bool {
	return slices.ContainsFunc(f.Faults, func(s Strike) bool {
		return s.Rank == rank && (s.Does == "dies" || s.Does == "stops") && s.Struck
	})
}
