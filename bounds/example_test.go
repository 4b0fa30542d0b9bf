package bounds_test

import (
	"fmt"

	"collsim/bounds"
	"collsim/collective"
	"collsim/dtype"
	"collsim/topology"
	"collsim/unit"
)

// An all-reduce of 64 MiB on 8 ranks around a switch, links of 100 Gbit/s and 500 ns. The ring
// algorithm takes 9.40924096 ms there.
func ExampleFor() {
	spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum,
		Type: dtype.Float32, Ranks: 8, Count: 1 << 24}
	g, _ := topology.Switch(8, 12_500_000_000, 500*unit.Nanosecond)
	b, err := bounds.For(spec, g, bounds.Options{})
	fmt.Println(b.Latency, b.Bandwidth, b.Lower, err)
	fmt.Println(b.Cut)
	// Output:
	// 1.00 us 9.39524096 ms 9.39624096 ms <nil>
	// all links out of the ranks
}
