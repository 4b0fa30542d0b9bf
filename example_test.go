package collsim_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"collsim"
	"collsim/schedule/foreign"
)

// A scenario is loaded, here an embedded example made smaller, and run; every point has a Result.
func ExampleScenario_Run() {
	s, err := collsim.Load("example:ring", nil, collsim.LoadOptions{
		Set: []string{"topology.ranks=4", "collective.bytes=1 MiB"},
	})
	if err != nil {
		log.Fatal(err)
	}
	report, err := s.Run(context.Background(), collsim.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range report.Results {
		busbw, _ := r.BusBW()
		fmt.Printf("%s: %v, busbw %.2f GB/s, %s, %s\n", r.Point.ID, r.Time, busbw, r.Proof, r.Numbers)
	}
	// Output:
	// all_reduce/ring/1048576: 131.82912 us, busbw 11.93 GB/s, proved, exact
}

// The text of a scenario need not be in a file. What is wrong with it is told with its line.
func ExampleLoad() {
	text := []byte(`[topology]
preset = "switch"
ranks = 8
bandwidth = "100 Gbit/s"
latency = "500 ns"

[collective]
kind = "all_reduce"
algorithm = "ring"
bytes = "64M"
`)
	_, err := collsim.Load("mine.toml", text, collsim.LoadOptions{})
	fmt.Println(err)
	// Output:
	// mine.toml:10: collective.bytes = "64M": 64 MiB (67108864) or 64 MB (64000000)?
}

// A schedule of one's own is proven, or every reason is given why it is wrong.
func ExampleVerifyFile() {
	text := strings.NewReader(`schedule exchange
collective all_reduce float32 sum
ranks 2
count 1024
rank 0
  lane 0
    send in to 1 @0
    recvReduceCopy from 1, in into out @0
rank 1
  lane 0
    send in to 0 @0
    recv from 0 into out @0
`)
	f, err := collsim.ReadSchedule("exchange.schedule", text, foreign.Options{})
	if err != nil {
		log.Fatal(err)
	}
	v := collsim.VerifyFile("exchange.schedule", f, collsim.VerifyOptions{})
	fmt.Print(v.Text())
	// Output:
	// exchange.schedule: missing: rank 1 chunk 0: output element 0 lacks the input of rank 1
}
