package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"collsim/hw"
	"collsim/schedule"
)

// grace is how long ranks have to end by themselves, and how long the coordinator waits for a
// better explanation of a fault.
const grace = 500 * time.Millisecond

// await returns a report of this kind from each of some ranks, by rank. It ends with an error when
// a rank fails or is lost, when nothing makes progress for the timeout, or with the context.
func (w *crew) await(ctx context.Context, kind reportKind, of []*hand) ([]report, error) {
	reports, left := make([]report, len(w.hands)), len(of)
	w.moved = time.Now()
	tick := time.NewTicker(paceOf(w.timeout))
	defer tick.Stop()
	for left > 0 {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("host: %w", context.Cause(ctx))
		case e := <-w.events:
			if e.lost != nil || e.report.Kind == reportFailed {
				return nil, w.explain(e)
			}
			h := w.hands[e.rank]
			if e.report.Kind == reportHello {
				h.channel, h.hello = e.channel, *e.report.Hello
			}
			if w.moved = time.Now(); e.report.Kind == kind {
				reports[e.rank] = e.report
				left--
			}
		case <-tick.C:
			if err := w.alive(kind, of, reports); err != nil {
				return nil, err
			}
		}
	}
	return reports, nil
}

// alive says who is lost, or that nothing goes on. Who plays a job and is silent is lost before the
// timeout is over, so that the others hear of it within that.
func (w *crew) alive(kind reportKind, of []*hand, reports []report) error {
	sum := int64(0)
	for _, h := range of {
		sum += h.progress.Load()
		silent := time.Since(time.Unix(0, h.heard.Load()))
		if kind >= reportReady && silent >= w.timeout*3/4 {
			return &hw.Error{Call: "beat", Code: "timeout", Rank: h.rank, Lane: -1, Step: -1,
				Text: fmt.Sprintf("%snot heard of for %v", h.who(), silent.Round(time.Millisecond))}
		}
	}
	if sum != w.progress {
		w.progress, w.moved = sum, time.Now()
	}
	if time.Since(w.moved) < w.timeout {
		return nil
	}
	if kind == reportDone {
		return hw.Stalled(w.why(of), w.timeout, w.slots)
	}
	for _, h := range of {
		if reports[h.rank].Kind == 0 {
			return &hw.Error{Call: "wait", Code: "timeout", Rank: h.rank, Lane: -1, Step: -1,
				Text: fmt.Sprintf("%v was not enough %v", w.timeout, kind)}
		}
	}
	return nil
}

// who is the process of a rank, or its machine.
func (h *hand) who() string {
	if h.process != nil {
		return fmt.Sprintf("process %d, ", h.process.cmd.Process.Pid)
	}
	return "on " + h.hello.Host + ", "
}

// explain looks for the cause of an event: of a process that is gone, its peers' sockets may tell
// first. A process that has ended explains all, then a lost channel, then any other report.
func (w *crew) explain(e event) error {
	best := e
	weight := func(e event) int {
		switch {
		case e.process:
			return 3
		case e.lost != nil:
			return 2
		case e.report.Kind != reportFailed:
			return 0
		case e.report.Fault.Call == "read" || e.report.Fault.Call == "write":
			return 1
		}
		return 3 // a rank that could not go on, with a reason of its own
	}
	wait := time.NewTimer(min(grace/2, w.timeout/4))
	defer wait.Stop()
	for weight(best) < 3 {
		select {
		case e := <-w.events:
			if weight(e) > weight(best) {
				best = e
			}
			continue
		case <-wait.C:
		}
		break
	}
	if best.lost != nil {
		return best.lost
	}
	return best.report.Fault
}

// why asks all ranks what they wait for.
func (w *crew) why(of []*hand) (waits []schedule.Waiting) {
	for _, h := range of {
		h.channel.send(order{Kind: orderWhy})
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	for range of {
		select {
		case e := <-w.events:
			waits = append(waits, e.report.Waits...)
		case <-timer.C:
			return waits
		}
	}
	slices.SortFunc(waits, func(a, b schedule.Waiting) int {
		if a.Rank != b.Rank {
			return a.Rank - b.Rank
		}
		return a.Lane - b.Lane
	})
	return waits
}

// fault is an error as all ranks are told of it.
func fault(err error) *hw.Error {
	var e *hw.Error
	if errors.As(err, &e) {
		return e
	}
	return &hw.Error{Call: "run", Code: "ended", Rank: -1, Lane: -1, Step: -1, Text: err.Error()}
}

// dismiss ends all ranks: with a fault, or because there is nothing more to do. Those that have not
// ended soon are killed. When it returns, nothing of them is left.
func (w *crew) dismiss(fault *hw.Error) {
	o := order{Kind: orderBye}
	if fault != nil {
		o = order{Kind: orderAbort, Fault: fault}
		if fault.Rank >= 0 && fault.Code == "timeout" && w.hands[fault.Rank].process != nil {
			w.hands[fault.Rank].process.kill() // it may be stopped
		}
	}
	for _, h := range w.hands {
		if h.channel != nil && !h.ended.Load() {
			h.channel.send(o)
		}
	}
	w.stop()
	w.listener.Close()
	late := time.NewTimer(min(grace, w.timeout/4))
	defer late.Stop()
	for _, h := range w.hands {
		if h.process == nil {
			continue
		}
		if h.channel == nil {
			h.process.kill()
		}
		select {
		case <-h.process.done:
		case <-late.C:
			late.Reset(0)
			h.process.kill()
		}
	}
	w.running.Wait()
	if w.dir != "" {
		os.RemoveAll(w.dir)
	}
}
