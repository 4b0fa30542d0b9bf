package extern_test

import (
	"context"
	"fmt"
	"log"

	"collsim"
	"collsim/algos"
	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"

	"example.org/extern"
)

// Eight ranks in a circle gather 64 MiB: with collsim's ring, and both ways.
func ExampleTwoWayRing() {
	ring, err := algos.Find(collective.AllGather, "ring")
	if err != nil {
		log.Fatal(err)
	}
	circle, err := topology.Ring(8, 12_500_000_000, 500*unit.Nanosecond)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range []algos.Algorithm{ring, extern.TwoWayRing()} {
		s, err := a.Build(collective.Spec{Kind: collective.AllGather, Type: dtype.BFloat16, Ranks: 8,
			Count: 4 << 20}, algos.Options{})
		if err != nil {
			log.Fatal(err)
		}
		r, err := sim.Run(s, sim.Env{Graph: circle, Device: device.Ideal(), Slots: 8}, sim.Options{})
		fmt.Println(a.Name, r.Time, err)
	}
	// Output:
	// ring 4.70112048 ms <nil>
	// two-way-ring 2.68635456 ms <nil>
}

const circle = `[topology]
preset = "ring"
ranks = 8
bandwidth = "100 Gbit/s"
latency = "500 ns"

[collective]
kind = "all_gather"
algorithm = "file:two-way-ring.schedule"
bytes = "1 MiB"
`

// The schedule goes through the front door as a file would: proof, numbers, time and table.
func ExampleTwoWayRing_scenario() {
	s, err := extern.TwoWayRing().Build(collective.Spec{Kind: collective.AllGather,
		Type: dtype.Float32, Ranks: 8, Count: 1}, algos.Options{})
	if err != nil {
		log.Fatal(err)
	}
	scenario, err := collsim.Load("circle.toml", []byte(circle), collsim.LoadOptions{
		Read: func(string, unit.Bytes) ([]byte, error) { return []byte(s.String()), nil },
	})
	if err != nil {
		log.Fatal(err)
	}
	report, err := scenario.Run(context.Background(), collsim.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	r := report.Results[0]
	fmt.Println(r.Proof, r.Numbers, r.Rounds, "rounds,", r.Time)
	// Output:
	// proved exact 4 rounds, 43.94304 us
}
