package mpi_test

import (
	"fmt"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw/mpi"
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
	// Open MPI has no broadcast hot-potato; it has binomial, chain, flat, scatter-allgather
}
