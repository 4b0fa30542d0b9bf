package group_test

import (
	"context"
	"fmt"
	"sync"

	"collsim/collective"
	"collsim/comm/group"
	"collsim/dtype"
)

// Three members ask for ranks; one of them is the root, and it alone knows the shape.
func Example() {
	var registry group.Registry
	var members sync.WaitGroup
	hosts := []string{"node2", "node1", "node3"}
	seats := make([]group.Seat, len(hosts))
	for i, host := range hosts {
		members.Go(func() {
			request := group.Request{Member: host, Rank: group.Assign, Size: 3,
				Does: collective.Communication{Kind: collective.Broadcast, Type: dtype.Float16}}
			if host == "node3" {
				request.Root, request.Does.Shape = true, collective.Shape{1024, 768}
			}
			seat, err := registry.Join(context.Background(), "weights", request)
			if err != nil {
				panic(err)
			}
			seats[i] = seat
		})
	}
	members.Wait()
	for i, host := range hosts {
		fmt.Println(host, "is rank", seats[i].Rank, "root", seats[i].Root, "shape", seats[i].Shape)
	}
	// Output:
	// node2 is rank 1 root 2 shape 1024x768
	// node1 is rank 0 root 2 shape 1024x768
	// node3 is rank 2 root 2 shape 1024x768
}
