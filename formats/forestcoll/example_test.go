package forestcoll_test

import (
	"fmt"
	"strings"

	"collsim/collective"
	"collsim/formats/forestcoll"
	"collsim/formats/internal/foreign"
	"collsim/proof"
	"collsim/unit"
)

// Example takes two trees as an all-gather, and backwards as a reduce-scatter.
func Example() {
	const text = `<Algo nchunkspernode="1">
<tree root="(0, 'GPU', 0)" index="0" nchunks="1" height="1">
<send src="(0, 'GPU', 0)" dst="(0, 'GPU', 1)" path="(0, 'GPU', 0),(0, 'GPU', 1)"/></tree>
<tree root="(0, 'GPU', 1)" index="0" nchunks="1" height="1">
<send src="(0, 'GPU', 1)" dst="(0, 'GPU', 0)" path="(0, 'GPU', 1),(0, 'GPU', 0)"/></tree></Algo>`
	for _, kind := range []collective.Kind{collective.AllGather, collective.ReduceScatter} {
		f, err := forestcoll.Read(strings.NewReader(text),
			foreign.Options{As: kind, Bytes: 4 * unit.MiB})
		if err != nil {
			fmt.Println(err)
			return
		}
		proof, _ := proof.Verify(f.Schedule, proof.Options{Iterations: 1})
		fmt.Println(f.Schedule.Spec.Kind, proof.Messages, "messages:", f.Notes[0])
	}
	// Output:
	// all_gather 64 messages: 2 trees on 2 ranks, at most 1 high, 1 chunks a rank in 32 tiles
	// reduce_scatter 64 messages: 2 trees on 2 ranks, at most 1 high, 1 chunks a rank in 32 tiles
}
