package rank

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"collsim/hw"
)

// order sends an order to some workers and awaits their reports.
func (s *session) order(
	ctx context.Context, o order, kind reportKind, of []*member,
) ([]report, error) {
	o.Epoch = s.epoch
	for _, m := range of {
		if err := s.send(m, o); err != nil {
			return nil, err
		}
	}
	return s.await(ctx, kind, of)
}

// send sends an order to a worker. If the connection is lost it returns the cause.
func (s *session) send(m *member, o order) error {
	if err := m.channel.send(&o); err != nil {
		return s.explain(event{worker: m.worker, lost: &lost{"write", err}})
	}
	return nil
}

// await returns one report of a kind from each of some workers, indexed by worker. It fails when a
// worker fails or is lost, when nothing makes progress for the timeout, or when the context ends.
// It then returns the reports that have come.
func (s *session) await(ctx context.Context, kind reportKind, of []*member) ([]report, error) {
	reports, left := make([]report, len(s.members)), len(of)
	s.still = 0
	tick := time.NewTicker(paceOf(s.timeout))
	defer tick.Stop()
	for left > 0 {
		select {
		case <-ctx.Done():
			return reports, ended(ctx)
		case e := <-s.events:
			if e.lost != nil || e.ended != nil || e.report.Kind == reportFailed {
				return reports, s.explain(e)
			}
			m := s.members[e.worker]
			s.still = 0
			switch k := e.report.Kind; {
			case k == reportHello:
				s.meet(&e)
			case k != kind || reports[e.worker].Kind != 0 || !slices.Contains(of, m):
				return reports, m.malformed("read", "report %d, which nobody awaits", k)
			case k == reportReady:
				m.ready = e.report.Ready
				fallthrough
			default:
				reports[e.worker] = e.report
				left--
			}
		case <-tick.C:
			if err := s.watch(kind, of, reports); err != nil {
				return reports, err
			}
		}
	}
	return reports, nil
}

// watch fails if a worker is lost or no worker makes progress. A silent worker with a job counts as
// lost after ¾ of the timeout, so that the others hear of it within the timeout. It counts its own
// ticks and reads no clock: while the coordinator gets no CPU time, its workers get none either.
func (s *session) watch(kind reportKind, of []*member, reports []report) error {
	sum, pace := int64(0), paceOf(s.timeout)
	s.still += pace
	for _, m := range s.members {
		sum += m.progress.Load()
		m.silence += pace
		if heard := m.heard.Load(); heard != m.last {
			m.last, m.silence = heard, 0
		}
		if kind >= reportPrepared && m.silence >= s.timeout*3/4 {
			return &hw.Error{Call: "beat", Code: "timeout", Rank: m.rank(), Lane: -1, Step: -1,
				Text: fmt.Sprintf("process %d on %s, not heard of for %v", m.hello.Process, m.hello.Host,
					m.silence.Round(time.Millisecond))}
		}
	}
	if sum != s.progress {
		s.progress, s.still = sum, 0
	}
	if s.still < s.timeout {
		return nil
	}
	if kind >= reportPrepared {
		if all := s.ask(); kind == reportDone || len(all) > 0 {
			return stalled(all, s.timeout, s.slots)
		}
	}
	for _, m := range of {
		if reports[m.worker].Kind != 0 {
			continue
		}
		if !m.came {
			kind = reportHello
		}
		e := &hw.Error{Call: "wait", Code: "timeout", Rank: m.rank(), Lane: -1, Step: -1,
			Text: fmt.Sprintf("%v was not enough %v", s.timeout, kind)}
		if n := s.turned(); kind == reportHello && n > 0 {
			e.Text += fmt.Sprintf("; turned away, without the secret: %d", n)
		}
		return e
	}
	return nil
}

// parts is the number of ticks into which a wait is divided. Ticks are counted, since each takes
// longer while this process gets no CPU time, and its peers get none then either.
const parts = 16

// ask asks all workers what they wait for, and returns the statuses of those that wait.
func (s *session) ask() (all []Status) {
	for _, m := range s.members {
		m.channel.send(&order{Kind: orderWhy})
	}
	wait := time.NewTicker(grace / parts)
	defer wait.Stop()
	waited := 0
	for answers := 0; answers < len(s.members); {
		select {
		case e := <-s.events:
			if e.report.Kind != reportStatus {
				continue
			}
			answers++
			if st := e.report.Status; len(st.Waits)+len(st.Calls) > 0 {
				all = append(all, st)
			}
		case <-wait.C:
			if waited++; waited == parts {
				return all
			}
		}
	}
	return all
}

// lost describes how the connection to a worker failed.
type lost struct {
	call string
	err  error
}

// weight ranks how well an event explains a failure. Best is the known end of a process, or a
// failure of a worker's own. A lost connection is weaker. Weakest is a read or write error: when a
// process dies, its peers' sockets may fail first.
func (e *event) weight() int {
	var known *hw.Error
	switch {
	case e.ended != nil && errors.As(e.ended.How, &known):
		return 3
	case e.ended != nil:
		return 1
	case e.lost != nil:
		return 2
	case e.report.Kind != reportFailed:
		return 0
	case e.report.Fault != nil && (e.report.Fault.Call == "read" || e.report.Fault.Call == "write"):
		return 1
	}
	return 3
}

// explain waits for the best explanation of a failure. It waits for the launcher's patience, but at
// most half the timeout, or 8·grace if that is longer: a busy machine reports an end late.
func (s *session) explain(best event) error {
	patience := time.Duration(0)
	if s.config.Launch != nil {
		patience = min(s.config.Launch.Patience(), max(s.timeout/2, 8*grace))
	}
	wait := time.NewTicker(max(patience/parts, 1))
	defer wait.Stop()
	for waited := 0; best.weight() < 3; {
		select {
		case e := <-s.events:
			if e.report.Kind == reportHello {
				s.meet(&e) // so that it hears of the end
			}
			if e.weight() > best.weight() {
				best = e
			}
			if e.ended == nil || e.ended.Worker >= 0 {
				continue
			} // no better explanation follows
		case <-wait.C:
			if waited++; waited < parts && patience > 0 {
				continue
			}
		}
		break
	}
	return s.cause(&best)
}

// cause returns the error that an event reports.
func (s *session) cause(e *event) error {
	switch {
	case e.ended != nil:
		return s.ending(e.ended)
	case e.lost != nil:
		return CallError(s.members[e.worker].rank(), e.lost.call, e.lost.err)
	case e.report.Missing != nil:
		return e.report.Missing
	}
	return e.report.Fault
}

// ending returns the error of a worker's end, with the worker's rank.
func (s *session) ending(e *Ended) error {
	var known *hw.Error
	if !errors.As(e.How, &known) {
		return e.How
	}
	fault := *known
	for _, m := range s.members {
		if m.worker == e.Worker || e.Worker < 0 && e.Host != "" && m.came && m.hello.Host == e.Host {
			fault.Rank = m.rank()
			if m.came {
				fault.Text = fmt.Sprintf("process %d on %s %s", m.hello.Process, m.hello.Host, fault.Text)
			}
			break
		}
	}
	return &fault
}
