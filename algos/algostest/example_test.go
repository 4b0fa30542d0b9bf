package algostest_test

import (
	"fmt"
	"strings"
	"testing"

	"collsim/algos"
	"collsim/algos/algostest"
	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// toNeighbours is an all_gather: everybody sends to everybody, the nearest first.
func toNeighbours() algos.Algorithm {
	return algos.Algorithm{
		Name:  "to-neighbours",
		Kinds: []collective.Kind{collective.AllGather},
		Group: func(ranks int) schedule.Group { return schedule.Group{int32(ranks)} },
		Lane: func(l *algos.Lane) {
			l.Keep(l.Chunk(l.Rank))
			for i := 1; i < l.Ranks; i++ {
				l.Send(l.Rank+i, l.Chunk(l.Rank))
				l.Recv(l.Rank-i, l.Chunk(l.Rank-i))
			}
		},
		Cost: func(ranks, _ int) algos.Cost {
			return algos.Cost{Alpha: ranks - 1, Rounds: []algos.Round{{Times: ranks - 1, Blocks: 1}}}
		},
	}
}

// A test of one's own algorithm is one line.
func ExampleTest() {
	testConformance := func(t *testing.T) { algostest.Test(t, toNeighbours()) }
	_ = testConformance // func TestConformance(t *testing.T) { … } in a file of tests
}

// words is a test that prints its complaints, for the examples.
type words struct{}

func (words) Errorf(format string, args ...any) {
	fmt.Println(strings.ReplaceAll(fmt.Sprintf(format, args...), ": ", ":\n"))
}
func (words) FailNow() {}

// An all_reduce in plain Go is held to the definition; it forgets the last rank.
func ExampleOracle() {
	spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Max, Type: dtype.Int32,
		Ranks: 3, Count: 100}
	largest := func(inputs [][]int32) [][]int32 {
		for i, x := range inputs[1] {
			inputs[0][i] = max(inputs[0][i], x)
		}
		return [][]int32{inputs[0], inputs[0], inputs[0]}
	}
	algostest.Oracle(words{}, spec, largest) // in a test, t
	// Output:
	// all_reduce max of int32 on 3 ranks, count 100, exact data:
	// rank 0 element 4 is 1987318542; 2031844625 is wanted; 99 of 300 elements are wrong
}
