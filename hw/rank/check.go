package rank

import (
	"fmt"
	"slices"

	"collsim/hw"
	"collsim/schedule"
)

// Messages from another process are checked here before anything uses them: each has the fields
// that its kind needs and no others, and its texts are printable.

// check validates a report.
func (r *report) check() error {
	has := func(kind reportKind, there bool) bool { return there == (r.Kind == kind) }
	switch {
	case r.Kind < reportHello || r.Kind > reportFailed:
		return fmt.Errorf("report %d is none", r.Kind)
	case !has(reportHello, r.Hello != nil), !has(reportReady, r.Ready != nil),
		!has(reportFailed, (r.Fault != nil) != (r.Missing != nil)),
		r.Measured != nil && r.Kind != reportDone, r.Outputs != nil && r.Kind != reportResult,
		r.Fault != nil && r.Missing != nil:
		return fmt.Errorf("report %d does not have what it should", r.Kind)
	case r.Hello != nil && r.Hello.Process < 1:
		return fmt.Errorf("process %d is none of a worker", r.Hello.Process)
	}
	if h := r.Hello; h != nil {
		printable(&h.Machine, &h.Host, &h.Order)
	}
	if y := r.Ready; y != nil {
		on := &y.RanOn
		printable(&y.Address, &on.Executor, &on.Transport, &on.CPU, &on.OS, &on.Go)
		for i := range on.Hosts {
			printable(&on.Hosts[i])
		}
	}
	if m := r.Missing; m != nil {
		printable(&m.What, &m.Why, &m.Get)
	}
	clean(r.Fault)
	cleanWaits(r.Status.Waits)
	for i := range r.Status.Calls {
		printable(&r.Status.Calls[i].Name)
	}
	return nil
}

// check validates an order.
func (o *order) check() error {
	switch {
	case o.Kind < orderPing || o.Kind > orderBeat:
		return fmt.Errorf("order %d is none", o.Kind)
	case (o.Part != nil) != (o.Kind == orderJob), (o.Fault != nil) != (o.Kind == orderAbort):
		return fmt.Errorf("order %d does not have what it should", o.Kind)
	}
	clean(o.Fault)
	if p := o.Part; p != nil {
		return p.check()
	}
	return nil
}

// check validates a part of a job that another process sent.
func (p *Part) check() error {
	rising := slices.IsSorted(p.Mine) && len(slices.Compact(slices.Clone(p.Mine))) == len(p.Mine)
	e := &p.Env
	switch {
	case p.Ranks < 1 || len(p.Inputs) != len(p.Mine) || !rising,
		len(p.Mine) > 0 && (p.Mine[0] < 0 || p.Mine[len(p.Mine)-1] >= p.Ranks):
		return fmt.Errorf("a part of %d ranks with %d inputs of a job of %d", len(p.Mine),
			len(p.Inputs), p.Ranks)
	case p.Workers < 1 || p.Workers > p.Ranks:
		return fmt.Errorf("a job of %d ranks on %d workers", p.Ranks, p.Workers)
	case len(p.Mine) > 0 && p.Text == "" && p.Detail == nil:
		return fmt.Errorf("a part of %d ranks with nothing to do", len(p.Mine))
	case e.Warmup < 0 || e.Repetitions < 1 || e.Iterations < 1 || e.Slots < 0 || e.Timeout <= 0:
		return fmt.Errorf("an environment that nobody completed: %+v", *e)
	}
	for i := range p.Peers {
		if peer := &p.Peers[i]; peer.Rank < 0 || int(peer.Rank) >= p.Ranks {
			return fmt.Errorf("a peer that is rank %d of %d", peer.Rank, p.Ranks)
		}
		printable(&p.Peers[i].Address)
	}
	return nil
}

// fits checks a part against its schedule.
func (p *Part) fits(s *schedule.Schedule) error {
	if s.Spec.Ranks != p.Ranks {
		return fmt.Errorf("a schedule of %d ranks for a job of %d", s.Spec.Ranks, p.Ranks)
	}
	for i, rank := range p.Mine {
		if want := hw.InputBytes(s, rank); int64(len(p.Inputs[i])) != want {
			return fmt.Errorf("rank %d has %d bytes of input instead of %d", rank, len(p.Inputs[i]), want)
		}
	}
	return nil
}

// printable makes texts safe to display.
func printable(texts ...*string) {
	for _, t := range texts {
		*t = hw.Printable(*t)
	}
}

// clean makes the texts of an error printable.
func clean(e *hw.Error) {
	if e == nil {
		return
	}
	printable(&e.Call, &e.Code, &e.Text)
	if e.Stall != nil {
		cleanWaits(e.Stall.Waits)
	}
}

// cleanWaits makes the texts of waiting lanes printable.
func cleanWaits(all []schedule.Waiting) {
	for i := range all {
		printable(&all[i].Name, &all[i].For)
	}
}

// malformed returns the error of a worker that sent something invalid.
func (m *member) malformed(call, format string, args ...any) *hw.Error {
	return &hw.Error{Call: call, Code: "malformed", Rank: m.rank(), Lane: -1, Step: -1,
		Text: fmt.Sprintf(format, args...)}
}

// fits checks the outputs of a worker's ranks against the lengths of all ranks' outputs.
func (m *member) fits(outputs [][]byte, lengths []int64) error {
	if len(outputs) != len(m.mine) {
		return m.malformed("result", "outputs of %d ranks instead of %d", len(outputs), len(m.mine))
	}
	for i, rank := range m.mine {
		if int64(len(outputs[i])) != lengths[rank] {
			return m.malformed("result", "%d bytes of output of rank %d instead of %d",
				len(outputs[i]), rank, lengths[rank])
		}
	}
	return nil
}

// outputs returns the size of every rank's output in bytes.
func (j *Job) outputs() ([]int64, error) {
	all := j.Outputs
	if j.Schedule != nil {
		all = nil
		for rank := range j.Inputs {
			all = append(all, hw.OutputBytes(j.Schedule, rank))
		}
	}
	if len(all) != len(j.Inputs) {
		return nil, fmt.Errorf("outputs of %d ranks: %d are expected", len(all), len(j.Inputs))
	}
	return all, nil
}

// Upper bounds of the size of a recording, as a gob.
const (
	stampBytes = 64 // of a sub-step, or of what a lane waits for, without names
	markBytes  = 32 // of a message
	laneBytes  = 512
)

// longest returns an upper bound of a worker's messages about a job, in bytes.
func (m *member) longest(job *Job, v *survey, outputs []int64) int64 {
	n, often := int64(maxOther), int64(job.Env.Iterations)
	for _, rank := range m.mine {
		n += outputs[rank] + laneBytes
		if v != nil {
			n += int64(v.size[rank].lanes) * laneBytes
			if job.Env.Trace {
				n += often * (v.size[rank].steps*stampBytes + v.size[rank].messages*markBytes)
			}
		}
	}
	return n
}

// shaped reports whether a rank's recording only refers to lanes, steps and peers that exist.
func shaped(r *hw.Recording, s *schedule.Schedule, rank int) bool {
	if len(r.Lanes) > s.Program(rank).Lanes() {
		return false
	}
	steps := func(lane int32, marks []hw.Mark) bool {
		return lane >= 0 && int(lane) < len(r.Lanes) && !slices.ContainsFunc(marks, func(m hw.Mark) bool {
			return m.Step < 1 || int(m.Step) > len(r.Lanes[lane])
		})
	}
	for _, f := range r.Sent {
		if int(f.Connection.From) != rank || !steps(f.Connection.FromLane, f.Marks) {
			return false
		}
	}
	for _, f := range r.Got {
		c := &f.Connection
		if int(c.To) != rank || !steps(c.ToLane, f.Marks) || c.From < 0 || int(c.From) >= s.Spec.Ranks {
			return false
		}
	}
	return true
}
