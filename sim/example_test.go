package sim_test

import (
	"fmt"

	"collsim/algos"
	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// A ring all-reduce of 64 MiB on 8 ranks around a switch, links of 100 Gbit/s and 500 ns.
func ExampleRun() {
	ring, _ := algos.Find(collective.AllReduce, "ring")
	s, _ := ring.Build(collective.Spec{Kind: collective.AllReduce, Op: collective.Sum,
		Type: dtype.Float32, Ranks: 8, Count: 1 << 24}, algos.Options{})
	g, _ := topology.Switch(8, 12_500_000_000, 500*unit.Nanosecond)
	r, err := sim.Run(s, sim.Env{Graph: g, Device: device.Ideal(), Slots: 8}, sim.Options{})
	fmt.Println(r.Time, r.Steps, r.Messages, r.LinkBytes, err)
	// Output: 9.40924096 ms 120 112 1792 MiB <nil>
}
