package model

import "collsim/unit"

// Totals are what every engine tells of a run. Times are counted from 0, not from the ranks' Start.
type Totals struct {
	Time     unit.Time   // when the last lane ends
	LaneEnd  []unit.Time // when each lane ends, by rank, then lane; its Start if it has no steps
	Steps    int64       // sub-steps: a step that moves data counts once a slice
	Messages int64       // sent, signals and puts among them; gets, silent puts and multimem are none
	// BytesSent counts what the schedule sends: every message, put, get and multimem operation once.
	// LinkBytes counts what the links carry: each of those once a link, of a packet the flags too.
	BytesSent, LinkBytes unit.Bytes
	// LinkBusy is how long each link would have been at work at its full bandwidth, by index. Under
	// FIFO each message is rounded up on its own.
	LinkBusy []unit.Time
	LinkLoad []unit.Bytes // by index
}
