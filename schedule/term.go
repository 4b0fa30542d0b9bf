package schedule

import (
	"fmt"
	"strings"
)

// A Term is how one element was computed: the input element of a rank, or the combination of two
// terms, Left before Right.
type Term struct {
	Left, Right *Term // nil for an input
	Rank        int   // of an input; −1 otherwise
	Element     int64 // of that rank's input; of every input in the tree
	Scaled      bool  // by the operator's factor, after Left and Right were combined
	Ends        bool  // it is the result of a step: rounded to the type, whatever steps compute in
	Merged      bool  // a switch has combined it, in an unknown order
}

// Ranks lists the ranks whose inputs are combined, from left to right.
func (t *Term) Ranks() []int {
	if t.Left == nil {
		return []int{t.Rank}
	}
	return append(t.Left.Ranks(), t.Right.Ranks()...)
}

// String formats the term, such as "((r5 + r6) + r7) + r0".
func (t *Term) String() string {
	var b strings.Builder
	t.write(&b, true)
	return b.String()
}

// write prints the term, in parentheses unless it is outermost.
func (t *Term) write(b *strings.Builder, outermost bool) {
	if t.Left == nil {
		fmt.Fprintf(b, "r%d", t.Rank)
		return
	}
	if !outermost {
		b.WriteByte('(')
	}
	t.Left.write(b, false)
	b.WriteString(" + ")
	t.Right.write(b, false)
	if !outermost {
		b.WriteByte(')')
	}
}
