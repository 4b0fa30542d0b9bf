package event

import (
	"collsim/schedule"
	"collsim/sim/model"
)

// Where messages are got, put silently or asked for, or where lanes go on before what they send has
// left, a message may have waited for more than its links. Its times are in the order of the stages
// that it passes. The time when there was room in a send buffer may be anywhere among them:
//
//	sent     behind, set out, packet
//	asked    behind, set out, request, receive, answer, packet
//	got      request, packet
//	loaded   request, packets, arrival: by multimem, under FIFO, all of them, each in its place

// tellsMore reports whether of a step more has to be written than when it starts and when links
// carry what it sends.
func tellsMore(s *schedule.Step) bool {
	messages := 0
	for k := range s.From {
		switch s.From[k].Kind {
		case schedule.Message:
			messages++
		case schedule.Get, schedule.Multimem:
			return true
		}
	}
	return putsSilently(s) || len(s.To) == 0 && messages > 0 && messages == len(s.From)
}

// putsSilently reports whether a step sends what no lane receives.
func putsSilently(s *schedule.Step) bool {
	for _, d := range model.Sent(s) {
		if !d.Message() {
			return true
		}
	}
	return false
}
