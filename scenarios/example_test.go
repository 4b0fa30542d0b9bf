package scenarios_test

import (
	"fmt"

	"collsim/scenarios"
)

// A scenario becomes points, each fully determined.
func ExampleRead() {
	d, err := scenarios.Read("sizes.toml", []byte(`
[topology]
preset = "switch"
ranks = 8
bandwidth = "100 Gbit/s"
latency = "500 ns"

[[collective]]
kind = "all_reduce"
algorithm = ["ring", "two-shot"]
bytes = { from = "1 KiB", to = "1 MiB", factor = 1024 }
`), scenarios.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := points(d)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range s.Points {
		fmt.Println(p.ID)
	}
	// Output:
	// all_reduce/ring/1024
	// all_reduce/ring/1048576
	// all_reduce/two-shot/1024
	// all_reduce/two-shot/1048576
}

// points takes every algorithm and every parameter.
func points(d *scenarios.Document) (*scenarios.Scenario, error) {
	var facts scenarios.Facts
	for {
		s, open, err := d.Points(facts)
		if err != nil || len(open) == 0 {
			return s, err
		}
		for _, q := range open {
			facts.Answers = append(facts.Answers, scenarios.Answer{Question: q})
		}
	}
}

// All errors of a file come at once, with their lines.
func ExampleErrors() {
	d, err := scenarios.Read("ring.toml", []byte(`[topology]
preset = "switch"
ranks = "8"
bandwith = "100 Gbit/s"
latency = "500 ns"
[[collective]]
kind = "all_reduce"
algorithm = "ring"
bytes = "64M"
`), scenarios.Options{})
	if err == nil {
		_, err = points(d)
	}
	fmt.Println(err)
	// Output:
	// ring.toml:3: topology.ranks = "8": a whole number is expected
	//   write 8 without quotes
	// ring.toml:4: topology.bandwith: unknown key
	//   did you mean "bandwidth"?
	// ring.toml:9: collective.bytes = "64M": 64 MiB (67108864) or 64 MB (64000000)?
}
