package algos_test

import (
	"fmt"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/proof"
	"collsim/unit"
)

// An algorithm is applied to a collective; the schedule is proven, and the published cost says how
// long it takes where nothing is in the way.
func Example() {
	spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: 8, Count: 16 << 20}
	ring, err := algos.Find(collective.AllReduce, "ring")
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := ring.Build(spec, algos.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	proven, violations := proof.Verify(s, proof.Options{})
	fmt.Println(len(violations), "violations,", proven.Rounds, "rounds,", proven.MinSlots, "slots")

	model := algos.Model{Alpha: unit.Microsecond, Rate: 12_500_000_000}
	took, err := ring.ClosedForm(spec, algos.Options{}, model)
	fmt.Println(took, err)
	// Output:
	// 0 violations, 14 rounds, 2 slots
	// 9.40924096 ms <nil>
}

// ForKind lists what there is to choose from.
func ExampleForKind() {
	for _, a := range algos.ForKind(collective.Broadcast) {
		fmt.Printf("%s: %s\n", a.Name, a.About)
	}
	// Output:
	// binomial: a binomial tree: who has the data doubles every round
	// chain: from each rank to the next, in segments that follow one another
	// flat: the root sends to one rank after the other
	// scatter-allgather: a binomial scatter of chunks, then a ring all_gather
}
