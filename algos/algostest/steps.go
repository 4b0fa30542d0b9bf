package algostest

import (
	"fmt"

	"collsim/schedule"
)

// StepsOf returns the sub-steps of a rank's lanes, in their cursors' order.
func StepsOf(s *schedule.Schedule, rank int) (all []string) {
	var step schedule.Step
	p := s.Program(rank)
	for lane := range p.Lanes() {
		for at := p.Walk(lane); !at.Done(); at.Next(int32(max(s.Slices, 1))) {
			p.Load(&at, &step)
			step.Ranked = false // with a group, what two ranks have was put in their order
			all = append(all, fmt.Sprintf("%d: %v", lane, step))
		}
	}
	return all
}

// An Amount counts the lanes, steps and messages of a rank.
type Amount struct{ Lanes, Steps, Messages int }

// AmountOf returns a rank's Amount.
func AmountOf(s *schedule.Schedule, rank int) (a Amount) {
	var step schedule.Step
	p := s.Program(rank)
	a.Lanes = p.Lanes()
	for lane := range a.Lanes {
		for at := p.Walk(lane); !at.Done(); at.Next(1) {
			p.Load(&at, &step)
			a.Steps++
			a.Messages += len(step.Send)
		}
	}
	return a
}
