package openmpi_test

import (
	"fmt"

	"collsim/algos/openmpi"
	"collsim/collective"
	"collsim/dtype"
	"collsim/proof"
)

// ExampleBuild prints the order in which Open MPI's linear reduce adds.
func ExampleBuild() {
	spec := collective.Spec{Kind: collective.Reduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: 4, Count: 100}
	s, err := openmpi.Build(openmpi.Choice{Function: "reduce", Algorithm: "linear"}, spec)
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

// ExampleChoice_Decided prints what Open MPI chooses by itself, as messages grow.
func ExampleChoice_Decided() {
	spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: 3}
	for _, spec.Count = range []int64{1, 1 << 10, 1 << 15, 1 << 20} {
		c := openmpi.Choice{Function: "allreduce"}
		fmt.Println(spec.Bytes(), openmpi.Names(c.Decided(spec)))
	}
	// Output:
	// 4 B allreduce ring
	// 4 KiB allreduce ring
	// 128 KiB allreduce segmented_ring
	// 4 MiB allreduce rabenseifner
}
