package host

import (
	"context"
	"fmt"
	"slices"
	"time"

	"collsim/hw"
	"collsim/unit"
)

// apart plays a job with a process for every rank.
func (h *Host) apart(ctx context.Context, job *hw.Job, env hw.Env) (*hw.Result, error) {
	ranks := job.Schedule.Spec.Ranks
	if h.crew != nil && (len(h.crew.hands) < ranks || h.crew.broken()) {
		h.crew.dismiss(nil)
		h.crew = nil
	}
	if h.crew == nil {
		w, err := muster(ctx, &h.config, ranks, env.Timeout)
		if err != nil {
			return nil, err
		}
		h.crew = w
	}
	h.crew.timeout = env.Timeout
	h.crew.patience.Store(int64(env.Timeout))
	result, err := h.crew.play(ctx, job, env)
	if err != nil {
		h.crew.dismiss(fault(err))
		h.crew = nil
		return nil, err
	}
	result.RanOn = h.crew.ranOn(h.config.Transport, ranks)
	return result, nil
}

// broken reports whether a rank was lost since the last job.
func (w *crew) broken() bool {
	for {
		select {
		case e := <-w.events:
			if e.lost != nil || e.report.Kind == reportFailed {
				return true
			}
		default:
			return false
		}
	}
}

// ranOn is what the ranks say that they run on: rank 0's, and all hosts if there are several.
func (w *crew) ranOn(t Transport, ranks int) hw.RanOn {
	on := w.hands[0].hello.RanOn
	on.Transport = t.String()
	var hosts []string
	for _, h := range w.hands[:ranks] {
		hosts = append(hosts, h.hello.Host)
	}
	slices.Sort(hosts)
	if hosts = slices.Compact(hosts); len(hosts) > 1 {
		on.Hosts = hosts
	}
	return on
}

// play has the first ranks play a job.
func (w *crew) play(ctx context.Context, job *hw.Job, env hw.Env) (*hw.Result, error) {
	ranks := job.Schedule.Spec.Ranks
	w.slots = slots(job.Schedule, env)
	w.epoch++
	if err := w.hire(job, env); err != nil {
		return nil, err
	}
	if _, err := w.await(ctx, reportReady, w.hands[:ranks]); err != nil {
		return nil, err
	}
	result := &hw.Result{}
	origin, keep := unit.Time(0), false
	for i := range env.Warmup + env.Repetitions {
		if i > 0 {
			w.epoch++
			_, err := w.order(ctx, order{Kind: orderReset, Keep: keep}, reportReady, ranks)
			if err != nil {
				return nil, err
			}
			keep = false
		}
		start, end, err := w.repeat(ctx, ranks)
		if err != nil {
			return nil, err
		}
		if i < env.Warmup {
			continue
		}
		r, zero := hw.Measure(start, end)
		result.Repetitions = append(result.Repetitions, r)
		if env.Trace && result.Fastest() == len(result.Repetitions)-1 {
			origin, keep = zero, true
		}
	}
	reports, err := w.order(ctx, order{Kind: orderFinish, Keep: keep}, reportResult, ranks)
	if err != nil {
		return nil, err
	}
	recordings := make([]hw.Recording, ranks)
	for rank := range ranks {
		result.Outputs = append(result.Outputs, reports[rank].Output)
		recordings[rank] = reports[rank].Recording
		recordings[rank].Shift(w.hands[rank].offset - origin)
		result.Skew = max(result.Skew, 2*w.hands[rank].skew)
	}
	if env.Trace {
		result.Trace = hw.Timeline(job.Schedule, env.Iterations, recordings)
	}
	return result, nil
}

// order tells the first ranks something and awaits their reports.
func (w *crew) order(ctx context.Context, o order, kind reportKind, ranks int) ([]report, error) {
	o.Epoch = w.epoch
	for _, h := range w.hands[:ranks] {
		if err := h.channel.send(o); err != nil {
			return nil, w.explain(event{rank: h.rank, lost: peerError(int32(h.rank), "write", err)})
		}
	}
	return w.await(ctx, kind, w.hands[:ranks])
}

// hire gives every rank its part of a job.
func (w *crew) hire(job *hw.Job, env hw.Env) error {
	s := job.Schedule
	v, err := look(s)
	if err != nil {
		return err
	}
	text := s.String()
	dirty := env.Iterations > 1 && writes(s)
	for _, h := range w.hands {
		h.heard.Store(time.Now().UnixNano()) // they may have beaten for a longer timeout
	}
	for rank, h := range w.hands[:s.Spec.Ranks] {
		if h.hello.Order != w.hands[0].hello.Order {
			return &hw.Error{Call: "hello", Code: "byte order", Rank: rank, Lane: -1, Step: -1,
				Text: fmt.Sprintf("is %s, rank 0 %s: machines of one byte order are expected",
					h.hello.Order, w.hands[0].hello.Order)}
		}
		t := &task{Text: text, Ranks: s.Spec.Ranks, Input: job.Inputs[rank], Env: env, Dirty: dirty}
		for _, other := range v.peers[rank] {
			t.Peers = append(t.Peers, peer{other, w.hands[other].hello.Address})
		}
		err := h.channel.send(order{Kind: orderJob, Epoch: w.epoch, Job: t})
		if err != nil {
			return w.explain(event{rank: rank, lost: peerError(int32(rank), "write", err)})
		}
	}
	return nil
}

// repeat has all ranks play once; times are the coordinator's.
func (w *crew) repeat(ctx context.Context, ranks int) (start, end []unit.Time, err error) {
	reports, err := w.order(ctx, order{Kind: orderGo}, reportDone, ranks)
	if err != nil {
		return nil, nil, err
	}
	sent, got := int64(0), int64(0)
	for rank, r := range reports[:ranks] {
		sent, got = sent+r.Sent, got+r.Got
		start = append(start, r.Start+w.hands[rank].offset)
		end = append(end, r.End+w.hands[rank].offset)
	}
	if sent != got {
		return nil, nil, &hw.Error{Call: "step", Code: "malformed", Rank: -1, Lane: -1, Step: -1,
			Text: fmt.Sprintf("%d messages are never received", sent-got)}
	}
	return start, end, nil
}
