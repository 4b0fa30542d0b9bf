package collsim_test

import (
	"context"
	"fmt"
	"log"

	"collsim"
	"collsim/collective"
	"collsim/dtype"
	"collsim/scenarios"
	"collsim/topology"
	"collsim/unit"
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

// A point needs no file: it is plain data.
func ExampleNew() {
	network, err := scenarios.NewTopology(topology.Params{Preset: "switch", Ranks: 8,
		Bandwidth: 12_500_000_000, Latency: 500 * unit.Nanosecond})
	if err != nil {
		log.Fatal(err)
	}
	p := scenarios.NewPoint(collective.Spec{Kind: collective.AllReduce, Op: collective.Sum,
		Type: dtype.BFloat16, Ranks: 8, Count: 1 << 20}, network)
	p.Algorithm.Name = "recursive-doubling"
	s, err := collsim.New("two megabytes", p)
	if err != nil {
		log.Fatal(err)
	}
	report, err := s.Run(context.Background(), collsim.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(collsim.Table(report))
	// Output:
	// # collsim 0.1.0   two megabytes   seed 0
	// # 8 ranks on a switch: 2 links a message, 1.00 us + n / 12.5 GB/s   device ideal
	// #
	// # all_reduce recursive-doubling
	// #      size      count     type redop root     time  algbw  busbw #wrong  %bound
	// #       (B) (elements)                         (us) (GB/s) (GB/s)
	//     2097152    1048576 bfloat16   sum   -1   506.32   4.14   7.25      0    58.2
	// #
	// # proof    every input once, no deadlock (FIFO depth 1), no race: 3 rounds
	// # numbers  exact on 1048576 elements a rank (nccl-tests data)
	// # limit    gpu0->switch and 7 more links, busy 99.4 % of the time
}
