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

// stalled is the error of a run that has made no progress for the timeout: who waits for whom, or
// if no lane waits, which ranks are in which function of a library.
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
	if len(waits) > 0 || len(calls) == 0 {
		return e
	}
	e.Rank = calls[0].Rank
	var in []string
	for _, c := range calls {
		in = append(in, fmt.Sprintf("rank %d is in %s", c.Rank, c.Name))
	}
	e.Text += ": " + strings.Join(in, ", ")
	return e
}
