package fidelity_test

import (
	"fmt"

	"collsim/fidelity"
	"collsim/unit"
)

func Example() {
	cases := []fidelity.Case{
		{Network: "star", Executor: "host (tcp)", ID: "all_reduce/ring/1048576", Kind: "all_reduce",
			Algorithm: "ring", Bytes: unit.MiB, Simulated: 13_120 * unit.Microsecond,
			Measured: 13_400 * unit.Microsecond, Spread: 90 * unit.Microsecond, Repetitions: 20,
			Bits: fidelity.Equal},
		{Network: "star", Executor: "host (tcp)", ID: "all_reduce/ring/4194304", Kind: "all_reduce",
			Algorithm: "ring", Bytes: 4 * unit.MiB, Simulated: 52_500 * unit.Microsecond,
			Measured: 50_000 * unit.Microsecond, Spread: 300 * unit.Microsecond, Repetitions: 20,
			Bits: fidelity.Equal},
	}
	tolerance := fidelity.Tolerance{Bits: fidelity.Equal, TimeMedian: 50_000, TimeP90: 40_000}
	fmt.Printf("%+.1f %%\n", cases[1].Error()*100)
	fmt.Println(tolerance.Judge(cases))
	// Output:
	// +5.0 %
	// [90th percentile of errors 5.0 % is above time_p90 = 4 %]
}
