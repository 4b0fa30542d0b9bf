package symmetric_test

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"collsim/collective"
	"collsim/comm/symmetric"
	"collsim/dtype"
)

// Four ranks add up a vector as torch's multimem_all_reduce_ does: each has the switch add up a
// quarter of it and store the sum on all ranks, between two barriers.
func Example() {
	ctx := context.Background()
	var world symmetric.World
	var ranks sync.WaitGroup
	sums := make([][]float32, 4)
	allReduce := func(rank int) error {
		m, err := world.Enable(ctx, "tp", []int{0, 1, 2, 3},
			symmetric.Self{Rank: rank, Host: "node0", Mechanism: symmetric.PeerMapping})
		if err != nil {
			return err
		}
		b, err := m.Workspace(ctx, symmetric.Use{Size: 16, Call: "all_reduce float32 sum shape 4"})
		if err != nil {
			return err
		}
		own, quarter, at := make([]byte, 16), make([]float32, 1), int64(4*rank)
		dtype.Put(own, []float32{float32(rank), 1, 10, 0.5})
		steps := []func() error{
			func() error { return b.Put(rank, 0, own) },
			func() error { return b.Barrier(ctx, 0) },
			func() error { return symmetric.Reduce(b, collective.Sum, at, quarter) },
			func() error { dtype.Put(own, quarter); return b.Store(at, own[:4]) },
			func() error { return b.Barrier(ctx, 0) },
			func() error { return b.Get(rank, 0, own) },
		}
		for _, step := range steps {
			if err := step(); err != nil {
				return err
			}
		}
		sums[rank] = make([]float32, 4)
		dtype.Get(sums[rank], own)
		return nil
	}
	for rank := range sums {
		ranks.Go(func() {
			if err := allReduce(rank); err != nil {
				panic(err)
			}
		})
	}
	ranks.Wait()
	fmt.Println(sums[0], sums[3])
	// Output: [6 4 40 2] [6 4 40 2]
}

// A second call writes what the first one may still read: without a barrier between them it is
// refused, whatever the goroutines do.
func Example_race() {
	ctx := context.Background()
	var world symmetric.World
	var ranks sync.WaitGroup
	errs := make([]error, 2)
	gather := func(m *symmetric.Member, call string) error {
		b, err := m.Workspace(ctx, symmetric.Use{Size: 1, Call: call})
		if err != nil {
			return err
		}
		if err := b.Put(m.Rank, 0, []byte{1}); err != nil {
			return err
		}
		if err := b.Barrier(ctx, 0); err != nil {
			return err
		}
		if m.Rank == 0 {
			return nil // needs no more than its own
		}
		return b.Get(0, 0, make([]byte, 1))
	}
	for rank := range errs {
		ranks.Go(func() {
			m, err := world.Enable(ctx, "tp", []int{0, 1}, symmetric.Self{Rank: rank})
			for _, call := range []string{"first", "second"} {
				if err == nil {
					err = gather(m, call)
				}
			}
			errs[rank] = err
		})
	}
	ranks.Wait()
	var race *symmetric.Race
	fmt.Println(errors.As(errs[0], &race), errs[0] == errs[1])
	fmt.Println("of the memory of rank", race.Owner)
	fmt.Println(race.Operations[0])
	fmt.Println(race.Operations[1])
	// Output:
	// true true
	// of the memory of rank 0
	// the put of rank 0 (step 2, in second)
	// the get of rank 1 (step 2, in first)
}
