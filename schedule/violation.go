package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// A ViolationKind is a kind of error in a schedule.
type ViolationKind uint8

// The kinds of violation.
const (
	Missing   ViolationKind = iota + 1 // an output lacks an input, or data is read that nobody wrote
	Doubled                            // an output holds an input more than once
	Misplaced                          // an output holds an input that does not belong there
	Race                               // two accesses to the same element have no order
	Deadlock                           // lanes wait for each other, or for something that never comes
	Unmatched                          // a message is sent and never received
	Malformed                          // a step that cannot be carried out
	Limit                              // exceeds what the runtime that it is written for can hold
)

var violationNames = [...]string{Missing: "missing", Doubled: "doubled", Misplaced: "misplaced",
	Race: "race", Deadlock: "deadlock", Unmatched: "unmatched", Malformed: "malformed",
	Limit: "limit"}

// String returns the kind's name in JSON.
func (k ViolationKind) String() string {
	if k == 0 || int(k) >= len(violationNames) {
		return fmt.Sprintf("ViolationKind(%d)", k)
	}
	return violationNames[k]
}

// At is a step of a schedule or, with Step −1, a lane.
type At struct{ Rank, Lane, Step int }

// String formats the step, such as "rank 3 lane 0 step 5".
func (a At) String() string {
	if a.Step < 0 {
		return fmt.Sprintf("rank %d lane %d", a.Rank, a.Lane)
	}
	return fmt.Sprintf("rank %d lane %d step %d", a.Rank, a.Lane, a.Step)
}

// A Violation is one error in a schedule, and its place. Lane, Step and Chunk are −1 where there is
// none.
type Violation struct {
	Kind                    ViolationKind
	Rank, Lane, Step, Chunk int
	Text                    string
	Steps                   []At        // named in Text, in order; of a Stall: its own
	Stall                   *StallError // for a Deadlock

	parts []string // of Text: before, between and after Steps
}

// Say sets the text; Steps are those among the arguments.
func (v *Violation) Say(format string, args ...any) *Violation {
	const mark = "\x00"
	marked := slices.Clone(args)
	v.Steps = nil
	for i := range marked {
		if at, ok := marked[i].(At); ok {
			v.Steps = append(v.Steps, at)
			marked[i] = mark
		}
	}
	v.parts = strings.Split(fmt.Sprintf(format, marked...), mark)
	v.Text = v.Named(At.String)
	return v
}

// Renamed returns the violation with other numbers for its ranks, and for those of its steps.
func (v *Violation) Renamed(rank func(int) int) *Violation {
	other := *v
	other.Rank, other.Steps = rank(v.Rank), nil
	for _, at := range v.Steps {
		at.Rank = rank(at.Rank)
		other.Steps = append(other.Steps, at)
	}
	other.Text = other.Named(At.String)
	return &other
}

// Named returns the text with other names for the steps and lanes in it.
func (v *Violation) Named(name func(At) string) string {
	if v.Stall != nil {
		return v.Stall.named(name)
	}
	if v.parts == nil {
		return v.Text
	}
	text := v.parts[0]
	for i, at := range v.Steps {
		text += name(at) + v.parts[i+1]
	}
	return text
}

// Error formats the violation, such as "race: rank 3 lane 0 step 5 chunk 2: …".
func (v *Violation) Error() string {
	where := fmt.Sprintf("rank %d", v.Rank)
	for _, part := range []struct {
		name  string
		value int
	}{{"lane", v.Lane}, {"step", v.Step}, {"chunk", v.Chunk}} {
		if part.value >= 0 {
			where += fmt.Sprintf(" %s %d", part.name, part.value)
		}
	}
	return fmt.Sprintf("%v: %s: %s", v.Kind, where, v.Text)
}
