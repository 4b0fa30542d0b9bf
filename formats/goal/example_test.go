package goal_test

import (
	"fmt"
	"strings"

	"collsim/collective"
	"collsim/formats/goal"
	"collsim/formats/internal/foreign"
	"collsim/proof"
)

// One round of a dissemination barrier is no barrier of three ranks: each hears of one other only.
// The file has no data; what it is to be is said by As.
func ExampleRead() {
	var text strings.Builder
	fmt.Fprintln(&text, "num_ranks 3")
	for rank := range 3 {
		fmt.Fprintf(&text, "rank %d {\n", rank)
		fmt.Fprintf(&text, "l1: send 8b to %d\n", (rank+1)%3)
		fmt.Fprintf(&text, "l2: recv 8b from %d\n", (rank+2)%3)
		fmt.Fprintln(&text, "}")
	}
	f, err := goal.Read(strings.NewReader(text.String()),
		foreign.Options{File: "barrier.goal", As: collective.Barrier})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, violations := proof.Verify(f.Schedule, proof.Options{Causal: f.Causal})
	fmt.Println(violations[0])
	// Output:
	// missing: rank 0: leaves the barrier when only 2 of 3 ranks must have come; not rank 1
}
