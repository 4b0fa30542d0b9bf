package transfers_test

import (
	"fmt"

	"collsim/collective"
	"collsim/dtype"
	"collsim/formats/internal/transfers"
	"collsim/schedule"
)

// Example broadcasts along a line of three ranks, in 100 tiles: the middle rank forwards one
// while the next arrives.
func Example() {
	in, out := transfers.At(schedule.Input, 0), transfers.At(schedule.Output, 0)
	low, err := transfers.Lower(transfers.Plan{
		Name: "line",
		Spec: collective.Spec{Kind: collective.Broadcast, Type: dtype.Float32, Ranks: 3, Count: 1000},
		Moves: []transfers.Move{
			{Stage: 0, From: 0, To: 0, Source: in, Target: out},
			{Stage: 0, From: 0, To: 1, Source: in, Target: out},
			{Stage: 1, From: 1, To: 2, Source: out, Target: out},
		},
		Tiles: 100,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(low.Schedule)
	m, tile := low.Move(1, 0, 42)
	fmt.Println("rank 1 lane 0 step 42: to rank", m.To, "tile", tile)
	// Output:
	// schedule line
	// collective broadcast float32
	// ranks 3
	// root 0
	// count 1000
	// cut in tile even 100
	// cut out tile even 100
	// rank 0
	//   lane 0
	//     loop 100
	//       send in<i> to 1/1 @i
	//   lane 1
	//     loop 100
	//       copy in<i> into out<i> @i
	// rank 1
	//   lane 0
	//     loop 100
	//       send out<i> to 2 after 1#1+i @1+i
	//   lane 1
	//     loop 100
	//       recv from 0/0 into out<i> post @i
	// rank 2
	//   lane 0
	//     loop 100
	//       recv from 1 into out<i> @1+i
	// rank 1 lane 0 step 42: to rank 2 tile 42
}
