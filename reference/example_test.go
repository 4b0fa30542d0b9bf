package reference_test

import (
	"fmt"

	"collsim/collective"
	"collsim/dtype"
	"collsim/reference"
	"collsim/schedule"
)

// exchange has two ranks send each other their input and add what comes in.
func exchange(count int64) (*schedule.Schedule, error) {
	return schedule.Build(schedule.Plan{Name: "exchange",
		Spec: collective.Spec{Kind: collective.AllReduce, Op: collective.Sum,
			Type: dtype.Float32, Ranks: 2, Count: count},
		Lane: func(l *schedule.Lane) {
			l.Send(l.Rank+1, l.All())
			l.Reduce(l.Rank+1, l.All())
		}})
}

func ExampleCheck() {
	s, err := exchange(1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := reference.Check(s, reference.CheckOptions{Data: reference.Normal})
	fmt.Println(report.Numbers, report.Checked, report.Wrong, report.RanksAgree, err)
	// Output: exact 1000 0 true <nil>
}

func ExampleRun() {
	s, err := exchange(2)
	if err != nil {
		fmt.Println(err)
		return
	}
	outputs, err := reference.Run(s, [][]float32{{1, 2}, {10, 20}})
	fmt.Println(outputs, err)
	// Output: [[11 22] [11 22]] <nil>
}

func ExampleDefine() {
	mean := collective.Spec{Kind: collective.AllReduce, Op: collective.Avg, Type: dtype.Float64,
		Ranks: 3, Count: 1}
	outputs, err := reference.Define(mean, [][]float64{{1e300}, {3}, {-1e300}})
	fmt.Println(outputs, err)
	// Output: [[1] [1] [1]] <nil>
}

// Somebody else's result is judged, here by a rank that got one element wrong.
func ExampleCompare() {
	mean := collective.Spec{Kind: collective.AllReduce, Op: collective.Avg, Type: dtype.Float32,
		Ranks: 3, Count: 2}
	inputs := [][]float32{{1, 2}, {4, 5}, {7, 8}}
	report, err := reference.Compare(mean, inputs, [][]float32{{4, 5}, {4, 5}, {4, 6}})
	fmt.Println(report.Numbers, report.Wrong, report.First, err)
	// Output: mismatch 1 rank 2 element 1 is 6; 5 is wanted <nil>
}
