package schedule

import "fmt"

// ViolationKind is what a schedule does wrong.
type ViolationKind uint8

// The kinds of violation.
const (
	Missing   ViolationKind = iota + 1 // an output lacks an input, or data is read that nobody wrote
	Doubled                            // an output holds an input more than once
	Misplaced                          // an output holds an input that does not belong there
	Race                               // two accesses to the same element have no order
	Deadlock                           // lanes wait for each other, or for what never comes
	Unmatched                          // a message is sent and never received
	Malformed                          // a step that cannot be carried out
	Limit                              // more than the runtime that it is written for can hold
)

var violationNames = [...]string{Missing: "missing", Doubled: "doubled", Misplaced: "misplaced",
	Race: "race", Deadlock: "deadlock", Unmatched: "unmatched", Malformed: "malformed", Limit: "limit"}

// String is the kind's name in JSON.
func (k ViolationKind) String() string {
	if k == 0 || int(k) >= len(violationNames) {
		return fmt.Sprintf("ViolationKind(%d)", k)
	}
	return violationNames[k]
}

// Violation is one thing that a schedule does wrong, and where. Lane, Step and Chunk are −1 where
// there is none.
type Violation struct {
	Kind                    ViolationKind
	Rank, Lane, Step, Chunk int
	Text                    string
	Stall                   *StallError // of a Deadlock
}

// Error is such as "race: rank 3 lane 0 step 5 chunk 2: …".
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
