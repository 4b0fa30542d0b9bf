package rank

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"collsim/hw"
	"collsim/schedule"
)

// stalled returns the error of a run without progress for the timeout: the wait-for chain of lanes.
// If no lane waits, it lists the library functions that ranks are in.
func stalled(all []Status, timeout time.Duration, slots int) *hw.Error {
	var waits []schedule.Waiting
	var calls []Call
	for i := range all {
		waits = append(waits, all[i].Waits...)
		calls = append(calls, all[i].Calls...)
	}
	slices.SortFunc(waits, func(a, b schedule.Waiting) int {
		return cmp.Or(a.Rank-b.Rank, a.Lane-b.Lane)
	})
	slices.SortFunc(calls, func(a, b Call) int { return a.Rank - b.Rank })
	e := hw.Stalled(waits, timeout, slots)
	if e.Stall != nil {
		calls = awaited(e.Stall, calls)
	}
	if len(calls) == 0 {
		return e
	}
	e.Rank = calls[0].Rank
	var in []string
	for _, c := range calls {
		in = append(in, fmt.Sprintf("rank %d is in %s", c.Rank, c.Name))
	}
	if e.Stall != nil {
		for _, w := range e.Stall.Waits {
			in = append(in, fmt.Sprintf("rank %d lane %d step %d waits for %s from rank %d lane %d", w.Rank,
				w.Lane, w.Step, w.For, w.OnRank, w.OnLane))
		}
		e.Lane, e.Step, e.Stall = -1, -1, nil
	}
	e.Text += ": " + strings.Join(in, ", ")
	return e
}

// awaited returns the calls of the rank at the end of a wait-for chain; none for a cycle.
func awaited(s *schedule.StallError, calls []Call) (list []Call) {
	for _, c := range calls {
		if !s.Cycle && c.Rank == s.Waits[len(s.Waits)-1].OnRank {
			list = append(list, c)
		}
	}
	return list
}
