package hw

import (
	"fmt"
	"slices"
	"time"

	"collsim/schedule"
)

// HasStopped takes the place of what a lane waits for, where a fault has stopped it.
const HasStopped = "nothing: it has stopped"

// apart divides lanes into those that wait for others and the ranks that a fault has stopped.
func apart(all []schedule.Waiting) (waits []schedule.Waiting, stopped []int) {
	for _, w := range all {
		if w.For != HasStopped {
			waits = append(waits, w)
		} else if !slices.Contains(stopped, w.Rank) {
			stopped = append(stopped, w.Rank)
		}
	}
	return waits, stopped
}

// Stalled returns the error of a run without progress, given the lanes that wait. It follows the
// wait-for chain from the first of them, until that closes a cycle or ends.
func Stalled(waits []schedule.Waiting, timeout time.Duration, slots int) *Error {
	e := &Error{Call: "wait", Code: "timeout", Rank: -1, Lane: -1, Step: -1,
		Text: fmt.Sprintf("no progress for %v", timeout)}
	waits, stopped := apart(waits)
	for _, rank := range stopped {
		e.Text += fmt.Sprintf("; rank %d has stopped", rank)
		e.Rank = rank
	}
	if len(waits) == 0 {
		return e
	}
	place := map[[2]int]int{}
	for i, w := range waits {
		place[[2]int{w.Rank, w.Lane}] = i
	}
	stall := &schedule.StallError{Slots: slots}
	var path []int
	at, waiting := 0, true
	met := make([]int, len(waits)) // place in path plus 1
	for waiting && met[at] == 0 {
		path = append(path, at)
		met[at] = len(path)
		at, waiting = place[[2]int{waits[at].OnRank, waits[at].OnLane}],
			has(place, [2]int{waits[at].OnRank, waits[at].OnLane})
	}
	if waiting {
		stall.Cycle = true
		path = lowestFirst(path[met[at]-1:], waits)
	}
	for _, i := range path {
		stall.Waits = append(stall.Waits, waits[i])
		stall.NeedsSlots = stall.NeedsSlots || waits[i].For == "a slot"
	}
	stall.Stopped = !stall.Cycle && slices.Contains(stopped, stall.Waits[len(path)-1].OnRank)
	first := stall.Waits[0]
	e.Rank, e.Lane, e.Step, e.Stall = first.Rank, first.Lane, first.Step, stall
	return e
}

// has reports whether a lane waits.
func has(place map[[2]int]int, lane [2]int) bool {
	_, there := place[lane]
	return there
}

// lowestFirst rotates a cycle so that it begins with its lowest rank and lane.
func lowestFirst(path []int, waits []schedule.Waiting) []int {
	lowest := 0
	for i, p := range path {
		a, b := waits[p], waits[path[lowest]]
		if a.Rank < b.Rank || a.Rank == b.Rank && a.Lane < b.Lane {
			lowest = i
		}
	}
	return append(path[lowest:len(path):len(path)], path[:lowest]...)
}
