package hw

import (
	"fmt"
	"strings"

	"collsim/schedule"
)

// Error is what went wrong while a schedule was executed: a code that a call returned, a peer that
// was lost, a run that did not go on. All ranks get the same one.
type Error struct {
	Call string // what was called: "read", "dial", "MPI_Isend"; "wait" for a run without progress
	Code string // the name of what it returned: "ECONNRESET", "SIGKILL", "timeout"
	// Where it happened, or for a peer that was lost: which. −1 stands for none.
	Rank, Lane, Step int
	Text             string               // the rest, for people
	Stall            *schedule.StallError // who waits for whom, of a run without progress
}

// Error is such as "hw: rank 3 lane 0 step 5: read: ECONNRESET: …".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("hw:")
	for _, part := range []struct {
		name  string
		value int
	}{{"rank", e.Rank}, {"lane", e.Lane}, {"step", e.Step}} {
		if part.value >= 0 {
			fmt.Fprintf(&b, " %s %d", part.name, part.value)
		}
	}
	if b.Len() > len("hw:") {
		b.WriteByte(':')
	}
	fmt.Fprintf(&b, " %s: %s", e.Call, e.Code)
	if e.Text != "" {
		b.WriteString(": " + e.Text)
	}
	if e.Stall != nil {
		b.WriteString(": " + e.Stall.Error())
	}
	return b.String()
}

// Unwrap is the stall, if it is one.
func (e *Error) Unwrap() error {
	if e.Stall == nil {
		return nil
	}
	return e.Stall
}

// Malformed is the error of a step that nobody can carry out; a number of −1 is none.
func Malformed(rank, lane, step int, format string, args ...any) *Error {
	return &Error{Call: "step", Code: "malformed", Rank: rank, Lane: lane, Step: step,
		Text: fmt.Sprintf(format, args...)}
}

// Missing says that an executor is not available here: what is missing, why, and how to get it.
type Missing struct{ What, Why, Get string }

// Error is one line.
func (m *Missing) Error() string {
	return fmt.Sprintf("hw: %s: %s; %s", m.What, m.Why, m.Get)
}

// Refusal is why an executor has no way to execute a job that others may. Nothing has gone wrong.
type Refusal struct{ Text string }

// Error is the reason, with the executor's prefix.
func (r *Refusal) Error() string { return r.Text }

// Refuse makes a Refusal.
func Refuse(format string, args ...any) *Refusal { return &Refusal{fmt.Sprintf(format, args...)} }
