package event

// turn counts a turn of a lane, or an event after which lanes may have one, if anybody asks for
// Env.Progress.
func turn(e *engine) {
	if e.rules.Progress != nil {
		countTurn(e)
	}
}

// countTurn counts a turn, and now and then reports how many sub-steps have ended. It looks at all
// lanes, so rarely that it takes little of the time.
func countTurn(e *engine) {
	if e.turns++; e.turns < max(1<<16, 4*len(e.lanes.list)) {
		return
	}
	e.turns = 0
	e.rules.Progress(e.totals.Steps - e.lanes.inStep())
}
