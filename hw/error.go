package hw

import (
	"fmt"
	"slices"
	"strings"

	"collsim/schedule"
)

// An Error reports a failure while a schedule was executed: a code that a call returned, a lost
// peer, or a run without progress. All ranks get the same error.
type Error struct {
	Call string // what was called: "read", "dial", "MPI_Isend"; "wait" for a run without progress
	Code string // the name of what it returned: "ECONNRESET", "SIGKILL", "timeout"
	// Where it happened; for a lost peer, its rank. −1 stands for none.
	Rank, Lane, Step int
	Text             string               // for people
	Stall            *schedule.StallError // wait-for chain of a run without progress
}

// Error formats the error, as in "rank 3 lane 0 step 5: read: ECONNRESET: …".
func (e *Error) Error() string {
	var where []string
	for _, part := range []struct {
		name  string
		value int
	}{{"rank", e.Rank}, {"lane", e.Lane}, {"step", e.Step}} {
		if part.value >= 0 {
			where = append(where, fmt.Sprint(part.name, " ", part.value))
		}
	}
	parts := []string{strings.Join(where, " "), e.Call, e.Code, e.Text}
	if e.Stall != nil {
		parts = append(parts, e.Stall.Error())
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return strings.Join(parts, ": ")
}

// Unwrap returns the stall, nil if it is none.
func (e *Error) Unwrap() error {
	if e.Stall == nil {
		return nil
	}
	return e.Stall
}

// Malformed returns the error of a step that no executor can carry out; a number of −1 is none.
func Malformed(rank, lane, step int, format string, args ...any) *Error {
	return &Error{Call: "step", Code: "malformed", Rank: rank, Lane: lane, Step: step,
		Text: fmt.Sprintf(format, args...)}
}

// Missing reports that an executor is not available on this machine: what is missing, why, and how
// to get it.
type Missing struct{ What, Why, Get string }

// Error formats the report in one line.
func (m *Missing) Error() string {
	return fmt.Sprintf("%s: %s; %s", m.What, m.Why, m.Get)
}

// A Refusal says why an executor does not support a job that others may support. Nothing has
// failed.
type Refusal struct{ Text string }

// Error returns the reason.
func (r *Refusal) Error() string { return r.Text }

// Refuse formats a Refusal.
func Refuse(format string, args ...any) *Refusal { return &Refusal{fmt.Sprintf(format, args...)} }
