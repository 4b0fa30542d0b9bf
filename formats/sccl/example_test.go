package sccl_test

import (
	"fmt"
	"strings"

	"collsim/formats/internal/foreign"
	"collsim/formats/sccl"
	"collsim/proof"
)

// Example reads a broadcast, and finds which send is wrong in a damaged one.
func Example() {
	const text = `{"msccl_type": "algorithm", "name": "Broadcast(n=3,root=0)-Line(n=3)-steps=2",
"instance": {"msccl_type": "instance", "steps": 2, "extra_rounds": 0, "chunks": 1,
  "pipeline": null, "extra_memory": null, "allow_exchange": false},
"input_map": {"0": [0]}, "output_map": {"0": [0], "1": [0], "2": [0]},
"steps": [{"msccl_type": "step", "rounds": 1, "sends": [[0, 0, 1]]},
          {"msccl_type": "step", "rounds": 1, "sends": [[0, 1, 2]]}],
"collective": {"msccl_type": "collective", "name": "Broadcast(n=3,root=0)", "nodes": 3,
  "chunks": [{"msccl_type": "chunk", "pre": [0], "post": [0, 1, 2], "addr": 0}], "triggers": {}},
"topology": {"msccl_type": "topology", "name": "Line(n=3)", "switches": [],
  "links": [[0, 1, 0], [1, 0, 1], [0, 1, 0]]}}`
	for _, damaged := range []string{text, strings.Replace(text, "[0, 0, 1]", "[0, 2, 1]", 1)} {
		f, err := sccl.Read(strings.NewReader(damaged), foreign.Options{File: "broadcast.json"})
		if err != nil {
			fmt.Println(err)
			return
		}
		proven, found := proof.Verify(f.Schedule, proof.Options{Iterations: 1})
		fmt.Println(f.Schedule.Spec.Kind, proven != nil)
		for _, v := range found {
			if v.Step >= 0 {
				fmt.Println(v.Kind, "at", f.Where(v.Rank, v.Lane, v.Step))
			}
		}
	}
	// Output:
	// broadcast true
	// broadcast false
	// missing at line 6: step 1: address 0 from rank 1 to rank 2
	// missing at line 5: step 0: address 0 from rank 2 to rank 1
}
