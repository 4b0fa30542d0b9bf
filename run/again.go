package run

import (
	"collsim/schedule"
	"collsim/sim"
	"collsim/trace"
	"collsim/unit"
)

// again simulates a schedule that every rank does once more when it has ended what was simulated:
// both runs together. What of the first is still on its way to other ranks then takes no bandwidth
// from the second.
func again(s *schedule.Schedule, env sim.Env, o sim.Options,
	first *sim.Result) (*sim.Result, error) {
	starts := make([]unit.Time, s.Spec.Ranks)
	copy(starts, env.Start)
	lane := 0
	for rank := range starts {
		for range s.Program(rank).Lanes() {
			starts[rank] = max(starts[rank], first.LaneEnd[lane])
			lane++
		}
	}
	env.Start, env.Faults = starts, nil
	second, err := sim.Run(s, env, o)
	if err != nil {
		return nil, err
	}
	both := *second
	both.Time = max(first.Time, second.Time)
	both.Steps, both.Messages = first.Steps+second.Steps, first.Messages+second.Messages
	both.BytesSent += first.BytesSent
	both.LinkBytes += first.LinkBytes
	both.LinkBusy = append([]unit.Time{}, first.LinkBusy...)
	both.LinkLoad = append([]unit.Bytes{}, first.LinkLoad...)
	for i := range both.LinkBusy {
		both.LinkBusy[i] += second.LinkBusy[i]
		both.LinkLoad[i] += second.LinkLoad[i]
	}
	if second.Trace != nil {
		both.Trace = trace.Join(first.Trace, second.Trace)
	}
	return &both, nil
}
