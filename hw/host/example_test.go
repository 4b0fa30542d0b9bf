package host_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"

	"collsim/hw"
	"collsim/hw/host"
	"collsim/schedule"
)

// Two ranks exchange their vectors and add them up, for real.
func Example() {
	s, err := schedule.Parse(`schedule exchange
collective all_reduce int32 sum
ranks 2
count 2
rank 0
  lane 0
    send in to 1 @0
    recvReduceCopy from 1, in into out @0
rank 1
  lane 0
    send in to 0 @0
    recvReduceCopy from 0, in into out @0
`)
	if err != nil {
		log.Fatal(err)
	}
	var executor hw.Executor
	executor, err = host.New(host.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer executor.Close()
	result, err := executor.Run(context.Background(), &hw.Job{
		Schedule: s,
		Inputs:   [][]byte{{1, 0, 0, 0, 2, 0, 0, 0}, {10, 0, 0, 0, 20, 0, 0, 0}},
		Env:      hw.Env{Warmup: 1, Repetitions: 5},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, out := range result.Outputs {
		fmt.Println(binary.LittleEndian.Uint32(out), binary.LittleEndian.Uint32(out[4:]))
	}
	fmt.Println(len(result.Repetitions), "repetitions")
	// Output:
	// 11 22
	// 11 22
	// 5 repetitions
}
