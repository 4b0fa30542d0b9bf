package schedule_test

import (
	"fmt"

	"collsim/collective"
	"collsim/dtype"
	"collsim/proof"
	"collsim/schedule"
)

// star is an all_reduce: rank 0 adds what the others send, in rank order, and sends the sum back.
func star(l *schedule.Lane) {
	if l.Rank > 0 {
		l.Send(0, l.All())
		l.Recv(0, l.All())
		return
	}
	for r := 1; r < l.Ranks; r++ {
		l.Accumulate(r, l.All())
	}
	for r := 1; r < l.Ranks; r++ {
		l.Send(r, l.All())
	}
}

// A schedule is written in plain Go, as what one rank does, and proven. It prints as text.
func Example() {
	s, err := schedule.Build(schedule.Plan{Name: "star", Lane: star,
		Spec: collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
			Ranks: 4, Count: 1000}})
	if err != nil {
		fmt.Println(err)
		return
	}
	proven, violations := proof.Verify(s, proof.Options{})
	fmt.Println(len(violations), "violations,", proven.Messages, "messages,", proven.BytesSent,
		"bytes")
	fmt.Println("rank order:", proven.KeepsRankOrder, " same bits on all ranks:", proven.SameTree)
	fmt.Print(s)
	// Output:
	// 0 violations, 6 messages, 24000 bytes
	// rank order: true  same bits on all ranks: true
	// schedule star
	// collective all_reduce float32 sum
	// ranks 4
	// count 1000
	// rank 0
	//   lane 0
	//     recvReduceCopy in, from 1 into out @0
	//     recvReduce out, from 2 into out @1
	//     recvReduce out, from 3 into out @2
	//     loop 3
	//       send out to 1+i @2+i
	// rank 1
	//   lane 0
	//     send in to 0 @0
	//     recv from 0 into out @0
	// rank 2
	//   lane 0
	//     send in to 0 @0
	//     recv from 0 into out @0
	// rank 3
	//   lane 0
	//     send in to 0 @0
	//     recv from 0 into out @0
}

// What is wrong is told with the rank and what its output lacks or has too often; here rank 1
// does not add but overwrites.
func ExampleVerify() {
	s, err := schedule.Parse(`schedule exchange
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
	if err != nil {
		fmt.Println(err)
		return
	}
	_, violations := proof.Verify(s, proof.Options{})
	for _, v := range violations {
		fmt.Println(v)
	}
	// Output:
	// missing: rank 1 chunk 0: output element 0 lacks the input of rank 1
}

// A broadcast run backwards is a reduce: every message goes the other way, and what was copied
// is added.
func ExampleTranspose() {
	chain, err := schedule.Build(schedule.Plan{Name: "chain",
		Spec: collective.Spec{Kind: collective.Broadcast, Type: dtype.Float32, Ranks: 3, Count: 8},
		Lane: func(l *schedule.Lane) {
			switch l.Rank {
			case 0:
				l.KeepSend(1, l.All())
			case l.Ranks - 1:
				l.Recv(l.Rank-1, l.All())
			default:
				l.CopySend(l.Rank-1, l.Rank+1, l.All())
			}
		}})
	if err != nil {
		fmt.Println(err)
		return
	}
	back, err := schedule.Transpose(chain, collective.Sum)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, violations := proof.Verify(back, proof.Options{})
	fmt.Println(len(violations), "violations")
	fmt.Print(back)
	// Output:
	// 0 violations
	// schedule chain
	// collective reduce float32 sum
	// ranks 3
	// root 0
	// count 8
	// rank 0
	//   lane 0
	//     recvReduceCopy in, from 1 into out @0
	// rank 1
	//   lane 0
	//     recvReduceSend in, from 2 to 0 @0
	// rank 2
	//   lane 0
	//     send in to 1 @0
}
