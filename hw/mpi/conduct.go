package mpi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"collsim/hw"
	"collsim/schedule"
	"collsim/unit"
)

// play has the first ranks do a task, of a schedule or of the library.
func (w *crew) play(
	ctx context.Context, inputs [][]byte, t task, s *schedule.Schedule,
) (*hw.Result, error) {
	for _, h := range w.hands {
		h.heard.Store(time.Now().UnixNano()) // they may have beaten for a longer timeout
	}
	for rank, h := range w.hands {
		part := t
		if rank < t.Ranks {
			part.Input = inputs[rank]
		}
		if err := h.channel.send(order{Kind: orderJob, Job: &part}); err != nil {
			return nil, w.explain(event{rank: rank, lost: lostBy("write", rank, err)})
		}
	}
	if _, err := w.await(ctx, reportReady, len(w.hands)); err != nil {
		return nil, err
	}
	result := &hw.Result{}
	origin, keep := unit.Time(0), false
	for i := range t.Env.Warmup + t.Env.Repetitions {
		reports, err := w.order(ctx, order{Kind: orderGo, Keep: keep}, reportDone, t.Ranks)
		if err != nil {
			return nil, err
		}
		if keep = false; i < t.Env.Warmup {
			continue
		}
		var start, end []unit.Time
		for rank := range t.Ranks {
			start = append(start, reports[rank].Start+w.hands[rank].offset)
			end = append(end, reports[rank].End+w.hands[rank].offset)
		}
		r, zero := hw.Measure(start, end)
		result.Repetitions = append(result.Repetitions, r)
		if t.Env.Trace && result.Fastest() == len(result.Repetitions)-1 {
			origin, keep = zero, true
		}
	}
	reports, err := w.order(ctx, order{Kind: orderFinish, Keep: keep}, reportResult, len(w.hands))
	if err != nil {
		return nil, err
	}
	recordings := make([]hw.Recording, t.Ranks)
	for rank := range t.Ranks {
		result.Outputs = append(result.Outputs, reports[rank].Output)
		recordings[rank] = reports[rank].Recording
		recordings[rank].Shift(w.hands[rank].offset - origin)
		result.Skew = max(result.Skew, 2*w.hands[rank].skew)
	}
	if t.Env.Trace {
		result.Trace = hw.Timeline(s, t.Env.Iterations, recordings)
	}
	return result, nil
}

// order tells the first ranks something and awaits their reports.
func (w *crew) order(ctx context.Context, o order, kind reportKind, ranks int) ([]report, error) {
	for _, h := range w.hands[:ranks] {
		if err := h.channel.send(o); err != nil {
			return nil, w.explain(event{rank: h.rank, lost: lostBy("write", h.rank, err)})
		}
	}
	return w.await(ctx, kind, ranks)
}

func lostBy(call string, rank int, err error) *hw.Error {
	return &hw.Error{Call: call, Code: "EOF", Rank: rank, Lane: -1, Step: -1, Text: err.Error()}
}

// await returns a report of this kind from each of the first n ranks (a pong: from the one asked),
// by rank. It ends with an error when a rank fails or is lost, when nothing makes progress for the
// timeout, or with the context.
func (w *crew) await(ctx context.Context, kind reportKind, n int) ([]report, error) {
	reports, left := make([]report, len(w.hands)), n
	w.moved = time.Now()
	tick := time.NewTicker(paceOf(w.timeout))
	defer tick.Stop()
	for left > 0 {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("mpi: %w", context.Cause(ctx))
		case e := <-w.events:
			if e.lost != nil || e.report.Kind == reportFailed {
				return nil, w.explain(e)
			}
			h := w.hands[e.rank]
			if e.report.Hello != nil {
				h.channel, h.hello = e.channel, *e.report.Hello
			}
			if w.moved = time.Now(); e.report.Kind == kind {
				reports[e.rank] = e.report
				left--
			}
		case <-tick.C:
			if err := w.alive(kind, reports); err != nil {
				return nil, err
			}
		}
	}
	return reports, nil
}

// alive says who is lost, or that nothing goes on. Who is silent is lost before the timeout is
// over.
func (w *crew) alive(kind reportKind, reports []report) error {
	sum := int64(0)
	for _, h := range w.hands {
		sum += h.progress.Load()
		heard := h.heard.Load()
		if heard == 0 || h.hello.Library == "" {
			continue // it has not come yet, or is in MPI_Init_thread and does not beat
		}
		if silent := time.Since(time.Unix(0, heard)); silent >= w.timeout*3/4 {
			return &hw.Error{Call: "beat", Code: "timeout", Rank: h.rank, Lane: -1, Step: -1,
				Text: fmt.Sprintf("process %d on %s, not heard of for %v", h.hello.Process, h.hello.Host,
					silent.Round(time.Millisecond))}
		}
	}
	if sum != w.progress {
		w.progress, w.moved = sum, time.Now()
	}
	if time.Since(w.moved) < w.timeout {
		return nil
	}
	if kind == reportDone || kind == reportReady && w.hands[0].hello.Library != "" {
		return w.stalled(reports)
	}
	for rank := range reports {
		if reports[rank].Kind == 0 {
			return &hw.Error{Call: "wait", Code: "timeout", Rank: rank, Lane: -1, Step: -1,
				Text: fmt.Sprintf("%v was not enough %v", w.timeout, kind)}
		}
	}
	return nil
}

// stalled is the error of a run that makes no progress: who waits for whom in a schedule, or which
// ranks are in which function of the library, and which have ended.
func (w *crew) stalled(reports []report) error {
	var waits []schedule.Waiting
	var in []string
	for _, h := range w.hands {
		h.channel.send(order{Kind: orderWhy})
	}
	timer := time.NewTimer(grace / 4)
	defer timer.Stop()
	first := -1
ask:
	for range w.hands {
		select {
		case e := <-w.events:
			waits = append(waits, e.report.Waits...)
			if e.rank >= 0 && e.report.In != "" && reports[e.rank].Kind == 0 {
				in = append(in, fmt.Sprintf("rank %d is in %s", e.rank, e.report.In))
				if first < 0 || e.rank < first {
					first = e.rank
				}
			}
		case <-timer.C:
			break ask
		}
	}
	slices.SortFunc(waits, func(a, b schedule.Waiting) int {
		if a.Rank != b.Rank {
			return a.Rank - b.Rank
		}
		return a.Lane - b.Lane
	})
	e := hw.Stalled(waits, w.timeout, w.slots)
	if len(in) > 0 && len(waits) == 0 {
		slices.Sort(in)
		e.Rank, e.Text = first, e.Text+": "+strings.Join(in, ", ")
	}
	return e
}

// explain looks for the cause of an event. Of a lost rank, mpirun knows the signal, and which was
// first: it ends the others as soon as it has noticed.
func (w *crew) explain(e event) error {
	if r := &e.report; r.Kind == reportFailed {
		switch {
		case r.Fault != nil:
			return r.Fault
		case r.Missing != nil:
			return r.Missing
		}
		return errors.New(r.Text)
	}
	wait := time.NewTimer(min(grace, w.timeout*3/4))
	defer wait.Stop()
	for {
		select {
		case <-w.launcher.done:
			if culprit := w.launcher.culprit(); culprit != nil {
				culprit.Text += fmt.Sprintf(", process %d", w.hands[culprit.Rank].hello.Process)
				return culprit
			}
			return w.deserted(e.lost)
		case other := <-w.events:
			if other.report.Kind == reportFailed {
				return w.explain(other)
			}
			if e.rank < 0 && other.rank >= 0 && other.lost != nil {
				e = other
			}
		case <-wait.C:
			return e.lost
		}
	}
}

// deserted is the loss of a rank, of which mpirun may know that it lost the host of another first.
func (w *crew) deserted(other error) error {
	node := w.launcher.lost()
	for _, h := range w.hands {
		if node != "" && h.hello.Host == node {
			return &hw.Error{Call: "process", Code: "lost", Rank: h.rank, Lane: -1, Step: -1,
				Text: "mpirun has lost its daemon on " + node}
		}
	}
	return other
}

// pings is how often the coordinator asks a rank for its clock; the quickest answer counts.
const pings = 16

// synchronize measures how far every rank's clock is behind the coordinator's: the rank read it
// somewhere between question and answer, so the middle is wrong by half their distance at most
// (Cristian, "Probabilistic clock synchronization", 1989). Where the wall clocks of both say the
// same to within that, they are taken for one clock, which on one machine they are.
func (w *crew) synchronize(ctx context.Context) error {
	for _, h := range w.hands {
		wall := (h.hello.Wall - unit.Time(w.since.UnixNano())) * unit.Nanosecond
		best := unit.Forever
		for range pings {
			asked := w.now()
			h.channel.send(order{Kind: orderPing})
			reports, err := w.await(ctx, reportPong, 1)
			if err != nil {
				return err
			}
			answered := w.now()
			if half := (answered - asked + 1) / 2; half < best {
				best = half
				h.offset, h.skew = (asked+answered)/2-reports[h.rank].Clock, half
			}
		}
		if wall-h.offset <= h.skew && h.offset-wall <= h.skew {
			h.offset = wall
		}
	}
	return nil
}

// now is the coordinator's clock.
func (w *crew) now() unit.Time { return unit.Time(time.Since(w.since)) * unit.Nanosecond }
