package run_test

import (
	"fmt"
	"log"
	"strings"

	"collsim/formats"
	"collsim/report"
	"collsim/run"
)

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
	f, err := formats.Read("exchange.schedule", text, formats.Options{})
	if err != nil {
		log.Fatal(err)
	}
	v := run.VerifyFile("exchange.schedule", f, run.VerifyOptions{})
	fmt.Print(report.VerificationText(v))
	// Output:
	// exchange.schedule: missing: rank 1 chunk 0: output element 0 lacks the input of rank 1
}
