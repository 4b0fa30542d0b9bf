package comm_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"collsim/collective"
	"collsim/comm"
	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/callbacks"
	"collsim/reference"
	"collsim/schedule"
)

// Four ranks, each a goroutine, add up their vectors; the interpreter carries it out.
func Example() {
	interpreter := func(_ context.Context, s *schedule.Schedule, in [][]byte) ([][]byte, error) {
		return reference.RunBytes(s, in, reference.RunOptions{})
	}
	world, err := comm.New(4, interpreter, comm.Algorithm("ring"))
	if err != nil {
		panic(err)
	}
	sum := collective.Communication{Kind: collective.AllReduce, Op: collective.Sum,
		Type: dtype.Float32, Shape: collective.Shape{2}}
	var ranks sync.WaitGroup
	sums := make([]comm.Tensor, 4)
	for rank := range sums {
		ranks.Go(func() {
			grads := comm.Of(sum.Shape, float32(rank), 0.5)
			sums[rank] = comm.Of[float32](sum.Shape)
			handle := world.Member(rank, "grads", sum).Post(context.Background(),
				comm.Tensors{In: []comm.Tensor{grads}, Out: sums[rank : rank+1]})
			// Other work can be done here.
			if _, err := handle.Wait(); err != nil {
				panic(err)
			}
		})
	}
	ranks.Wait()
	fmt.Println(comm.Values[float32](sums[0]), comm.Values[float32](sums[3]))
	// Output: [6 2] [6 2]
}

// Rank 1 means another type: both ranks are told, and nothing moves. Messages and callbacks would
// have carried it out, in an order of arrival that is drawn.
func Example_mismatch() {
	executor := callbacks.New(callbacks.Config{Next: rand.New(rand.NewPCG(1, 2)).IntN})
	world, err := comm.New(2, hw.ExecuteOn(executor, hw.Env{}), nil)
	if err != nil {
		panic(err)
	}
	gather := collective.Communication{Kind: collective.AllGather, Type: dtype.Int32,
		Shape: collective.Shape{1}}
	first := world.Member(0, "ids", gather).Post(context.Background(), comm.Tensors{
		In:  []comm.Tensor{comm.Of(gather.Shape, int32(7))},
		Out: []comm.Tensor{comm.Of[int32](collective.Shape{2})}})
	gather.Type = dtype.Uint32
	second := world.Member(1, "ids", gather).Post(context.Background(), comm.Tensors{
		In:  []comm.Tensor{comm.Of(gather.Shape, uint32(8))},
		Out: []comm.Tensor{comm.Of[uint32](collective.Shape{2})}})
	for _, handle := range []*comm.Handle{first, second} {
		_, err := handle.Wait()
		fmt.Println(err)
	}
	// Output:
	// group "ids#0": rank 0 and rank 1 differ in type: int32 and uint32
	// group "ids#0": rank 0 and rank 1 differ in type: int32 and uint32
}

// A broadcast in the text form, of which the root alone passes an input; and one that is disabled.
func Example_text() {
	interpreter := func(_ context.Context, s *schedule.Schedule, in [][]byte) ([][]byte, error) {
		return reference.RunBytes(s, in, reference.RunOptions{})
	}
	world, err := comm.New(3, interpreter, nil)
	if err != nil {
		panic(err)
	}
	weights, err := collective.ParseCommunication("broadcast bfloat16 team 2,0 root 2 shape 2x2")
	if err != nil {
		panic(err)
	}
	x := comm.Of(weights.Shape, dtype.From[dtype.BF16](0.5), 0, 0, 0)
	out := []comm.Tensor{comm.Of[dtype.BF16](weights.Shape), comm.Of[dtype.BF16](weights.Shape)}
	root := world.Member(2, "weights", *weights).Post(context.Background(),
		comm.Tensors{In: []comm.Tensor{x}, Out: out[:1]})
	other := world.Member(0, "weights", *weights).Post(context.Background(),
		comm.Tensors{Out: out[1:]})
	for _, handle := range []*comm.Handle{root, other} {
		outcome, err := handle.Wait()
		fmt.Println(outcome.Executed.Name, err)
	}
	fmt.Println(dtype.Value(comm.Values[dtype.BF16](out[1])[0]))
	weights.Disabled = true
	outcome, err := world.Member(2, "weights", *weights).Post(context.Background(),
		comm.Tensors{}).Wait()
	fmt.Println("skipped:", outcome.Skipped, err)
	// Output:
	// binomial <nil>
	// binomial <nil>
	// 0.5
	// skipped: true <nil>
}
