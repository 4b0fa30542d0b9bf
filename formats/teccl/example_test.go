package teccl_test

import (
	"fmt"
	"strings"

	"collsim/formats/internal/foreign"
	"collsim/formats/teccl"
	"collsim/proof"
)

// Example reads an all-gather of two GPUs, and refuses what the solver reads itself.
func Example() {
	for _, text := range []string{`{"1-Epoch_Duration": 1.0, "2-Expected_Epoch_Duration": 1.0,
"3-Epochs_Required": 1, "4-Collective_Finish_Time": 1.0, "5-Algo_Bandwidth": 2.0,
"7-Flows": ["Chunk 0 from 0 traveled over 0->1 in epoch 0",
            "Chunk 0 from 1 traveled over 1->0 in epoch 0 via switches 2"]}`,
		`{"TopologyParams": {"name": "Mesh"}}`} {
		f, err := teccl.Read(strings.NewReader(text), foreign.Options{File: "f.json"})
		if err != nil {
			fmt.Println(err)
			continue
		}
		proof, _ := proof.Verify(f.Schedule, proof.Options{Iterations: 1})
		fmt.Println(f.Schedule.Spec.Kind, proof.Messages, "messages")
	}
	// Output:
	// all_gather 2 messages
	// f.json:1: TopologyParams: this is a solver input, not a schedule
}
