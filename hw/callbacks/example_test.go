package callbacks_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/callbacks"
)

// A ring on three ranks, whose messages arrive in any order, and in which the third fails: all
// ranks are reported once.
func Example() {
	ring, err := algos.Find(collective.AllReduce, "ring")
	if err != nil {
		panic(err)
	}
	s, err := ring.Build(collective.Spec{Kind: collective.AllReduce, Op: collective.Sum,
		Type: dtype.Uint8, Ranks: 3, Count: 3}, algos.Options{})
	if err != nil {
		panic(err)
	}
	job := &hw.Job{Schedule: s, Inputs: [][]byte{{1, 2, 3}, {10, 20, 30}, {100, 200, 0}}}

	order := rand.New(rand.NewPCG(1, 2))
	result, err := callbacks.New(callbacks.Config{Next: order.IntN}).Run(context.Background(), job)
	fmt.Println(result.Outputs, err)

	sends := 0
	broken := callbacks.New(callbacks.Config{Name: "grads",
		Fail: func(key callbacks.Key) error {
			if sends++; sends == 3 {
				return errors.New("link down")
			}
			return nil
		},
		Done: func(rank int, err error) { fmt.Println("rank", rank, "is told", err != nil) },
	})
	_, err = broken.Run(context.Background(), job)
	fmt.Println(err)
	// Output:
	// [[111 222 33] [111 222 33] [111 222 33]] <nil>
	// rank 0 is told true
	// rank 1 is told true
	// rank 2 is told true
	// rank 2 lane 0 step 0: send: failed: grads#0 2/0→0/0 message 0: link down
}
