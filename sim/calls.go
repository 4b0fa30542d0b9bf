package sim

import (
	"collsim/schedule"
	"collsim/sim/event"
	"collsim/sim/model"
	"collsim/unit"
)

// CallsOptions bounds a simulation of successive calls.
type CallsOptions struct {
	Calls    int   // of the loop, at least 1
	Messages int64 // roughly the number of messages that may be simulated
}

// Row holds the times of successive calls of a schedule.
type Row struct {
	// Ends has, for each call that was simulated, when the last rank has ended it, counted from 0.
	Ends []unit.Time
	// Period is the time from the end of a call to the end of the next on the same rank, the longest
	// of all ranks: the last one, where calls repeat, or else the mean of the last half of them.
	Period  unit.Time
	Repeats bool // two successive periods were equal
}

// Loop returns how long a number of calls take together, from a common start to the end of the last
// rank.
func (r *Row) Loop(calls int) unit.Time {
	n := len(r.Ends)
	if calls <= n {
		return r.Ends[calls-1]
	}
	if r.Period > (unit.Forever-r.Ends[n-1])/unit.Time(calls-n) {
		return unit.Forever
	}
	return r.Ends[n-1] + r.Period*unit.Time(calls-n)
}

// Calls simulates successive calls of a schedule, on one stream of every rank. A rank begins a call
// when its part of the call before has ended, and pays the device's launch for it. Calls on
// different ranks overlap; connections and their slots stay. The simulation stops when two
// successive periods are equal.
//
// alone has the results of one call alone. Nothing is simulated where all ranks end that call
// together and leave nothing in flight, as each further call then repeats it. The row is nil where
// three calls, or those that overlap with them, send too many messages. Errors are those of Run.
func Calls(s *schedule.Schedule, env Env, o CallsOptions, alone *model.Totals) (*Row, error) {
	if err := env.Validate(s); err != nil {
		return nil, err
	}
	if period, ok := periodOf(s, &env, alone); ok {
		return &Row{Ends: []unit.Time{alone.Time}, Period: period, Repeats: true}, nil
	}
	if min(leastCalls, int64(o.Calls))*alone.Messages > o.Messages {
		return nil, nil
	}
	if err := env.Graph.Listable(); err != nil {
		return nil, err
	}
	row := &Row{}
	ends, complete, err := event.Calls(s, &env, event.Row{Calls: o.Calls, Messages: o.Messages,
		Enough: row.add})
	switch {
	case err != nil:
		return nil, err
	case complete < min(o.Calls, leastCalls):
		return nil, nil
	case !row.Repeats && complete > 1:
		row.Period = longest(ends, (complete-1)/2, complete-1)
	}
	return row, nil
}

// leastCalls is the number of calls from which on two periods are known.
const leastCalls = 3

// add takes the ends of one more call that all ranks have ended, and reports whether calls repeat.
// They do where the last rank, and the rank of the longest period, both took as long as for the
// call before.
func (r *Row) add(ends [][]unit.Time, complete int) (enough bool) {
	last := unit.Time(0)
	for _, of := range ends {
		if of != nil {
			last = max(last, of[complete-1])
		}
	}
	r.Ends = append(r.Ends, last)
	if complete == 1 {
		r.Period = last
		return false
	}
	r.Period = longest(ends, complete-2, complete-1)
	r.Repeats = complete >= leastCalls && r.Period == last-r.Ends[complete-2] &&
		r.Period == r.Ends[complete-2]-r.Ends[complete-3]
	return r.Repeats
}

// longest returns the mean time of a call between two calls, on the rank where it is longest.
func longest(ends [][]unit.Time, from, to int) (t unit.Time) {
	for _, of := range ends {
		if of != nil {
			t = max(t, (of[to]-of[from])/unit.Time(to-from))
		}
	}
	return t
}

// periodOf returns the time from a call to the next where it follows from one call alone. Every
// rank must begin the call at 0 and end it at the same time. Nothing of it may be left that the
// next call could meet: a message in flight, a queue, or a slot that is not yet seen to be free.
func periodOf(s *schedule.Schedule, env *Env, alone *model.Totals) (period unit.Time, ok bool) {
	d, rules := &env.Device, model.NewRules(s, env)
	if env.Start != nil || env.Slowdown != nil || rules.Launches() || d.SlotLatency > 0 ||
		d.Offload || d.SendBuffer > 0 || d.EagerLimit > 0 || s.AnyStep(leavesBehind) ||
		env.Sharing == FIFO && !delays(env) || !endTogether(s, alone) {
		return 0, false
	}
	if rules.HasGPU() { // the host has launched the next meanwhile
		return alone.Time - d.GPU.LaunchLatency, true
	}
	return alone.Time, true
}

// delays reports whether every link has a latency. Without one, the order in which ranks have ended
// at one time may decide the order in which links are asked.
func delays(env *Env) bool {
	for _, i := range env.Graph.Samples() {
		if env.Graph.Link(i).Latency == 0 {
			return false
		}
	}
	return true
}

// leavesBehind reports whether a step sends something that no step receives, or computes.
func leavesBehind(step *schedule.Step) bool {
	for i := range step.Send {
		if !step.Send[i].Message() {
			return true
		}
	}
	return step.Kernel != nil
}

// endTogether reports whether all ranks have ended at the same time. A rank without steps ends at
// its start.
func endTogether(s *schedule.Schedule, t *model.Totals) bool {
	lanes := t.LaneEnd
	if f := t.Folded; f != nil {
		for i := 0; i < len(f.Ends); i += f.Lanes {
			if !endsAt(f.Ends[i:i+f.Lanes], t.Time) {
				return false
			}
		}
		return true
	}
	for rank := range s.Spec.Ranks {
		n := s.Program(rank).Lanes()
		if n > len(lanes) || !endsAt(lanes[:n], t.Time) {
			return false
		}
		lanes = lanes[n:]
	}
	return true
}

// endsAt reports whether the last of a rank's lanes ends at a time.
func endsAt(lanes []unit.Time, at unit.Time) bool {
	last := unit.Time(0)
	for _, end := range lanes {
		last = max(last, end)
	}
	return last == at
}
