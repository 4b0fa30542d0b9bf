package mpi_test

import (
	"fmt"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw/mpi"
	"collsim/proof"
)

// ExampleCounterpart finds the library's algorithm for a pipelined chain, and what there is instead
// of one that it lacks.
func ExampleCounterpart() {
	spec := collective.Spec{Kind: collective.Broadcast, Type: dtype.Float32, Ranks: 8, Count: 1 << 20}
	chain, err := algos.Find(spec.Kind, "chain")
	if err != nil {
		panic(err)
	}
	s, err := chain.Build(spec, algos.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(mpi.Counterpart(s))
	s.Name = "hot-potato"
	_, err = mpi.Counterpart(s)
	fmt.Println(err)
	// Output:
	// bcast pipeline(segment=524288) <nil>
	// mpi: Open MPI has no broadcast hot-potato; it has binomial, chain, flat, scatter-allgather
}

// ExampleLike prints the order in which Open MPI's linear reduce adds.
func ExampleLike() {
	spec := collective.Spec{Kind: collective.Reduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: 4, Count: 100}
	s, err := mpi.Like(mpi.Choice{Function: "reduce", Algorithm: "linear"}, spec)
	if err != nil {
		panic(err)
	}
	order, err := proof.OrderOf(s, 0, 0)
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Name + ": " + order.String())
	// Output: Open MPI reduce linear: r0 + (r1 + (r2 + r3))
}
