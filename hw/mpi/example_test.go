package mpi_test

import (
	"fmt"

	"collsim/collective"
	"collsim/dtype"
	"collsim/hw/mpi"
	"collsim/schedule"
)

// ExampleLike prints the order in which Open MPI's linear reduce adds.
func ExampleLike() {
	spec := collective.Spec{Kind: collective.Reduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: 4, Count: 100}
	s, err := mpi.Like(mpi.Choice{Function: "reduce", Algorithm: "linear"}, spec)
	if err != nil {
		panic(err)
	}
	order, err := schedule.OrderOf(s, 0, 0)
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Name + ": " + order.String())
	// Output: Open MPI reduce linear: r0 + (r1 + (r2 + r3))
}
