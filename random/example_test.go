package random_test

import (
	"fmt"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/prop"

	"collsim/algos"
	"collsim/collective"
	"collsim/program"
	"collsim/proof"
	"collsim/random"
	"collsim/schedule"
)

// A property is tried on random collectives; in a test, properties.TestingRun(t) takes the place of
// Check.
func ExampleSpecs() {
	ring, err := algos.Find(collective.AllGather, "ring")
	if err != nil {
		fmt.Println(err)
	}
	proven := prop.ForAll(func(spec collective.Spec) bool {
		s, err := ring.Build(spec, algos.Options{})
		if err != nil {
			return false
		}
		_, violations := proof.Verify(s, proof.Options{})
		return len(violations) == 0
	}, random.Specs(collective.AllGather))
	result := proven.Check(gopter.DefaultTestParametersWithSeed(1))
	fmt.Println(result.Status, result.Succeeded)
	// Output:
	// PASSED 100
}

// Every schedule's text reads back as the same schedule.
func ExampleSchedules() {
	readsBack := prop.ForAll(func(s random.Schedule) bool {
		again, err := schedule.Parse(s.String())
		return err == nil && schedule.Equal(s.Schedule, again)
	}, random.Schedules())
	result := readsBack.Check(gopter.DefaultTestParametersWithSeed(1))
	fmt.Println(result.Status, result.Succeeded)
	// Output:
	// PASSED 100
}

// No step of an all_reduce sends to two peers: that is not so, and what it is reported with is the
// least that is needed.
func ExampleAlgorithms() {
	property := prop.ForAll(func(s random.Schedule) bool {
		atOnce := 0
		_, err := schedule.Execute(s.Schedule, schedule.Limits{}, schedule.Hooks{
			Step: func(v *schedule.Visit) error {
				atOnce = max(atOnce, len(v.Step.Send))
				return nil
			}})
		return err == nil && atOnce < 2
	}, random.Algorithms(collective.AllReduce))
	result := property.Check(gopter.DefaultTestParametersWithSeed(1))
	s := result.Args[0].Arg.(random.Schedule)
	fmt.Println(result.Status, s.Name, s.Spec.Ranks, s.Spec.Count)
	// Output:
	// FAILED one-shot 3 1
}

// Whatever passes lower a program, every op has what it reads, nothing races and nothing waits for
// ever.
func ExamplePrograms() {
	first := func(spec collective.Spec, name string, _ []int, _ bool) (program.Chosen, error) {
		if name == "" {
			name = algos.ForKind(spec.Kind)[0].Name
		}
		a, err := algos.Find(spec.Kind, name)
		if err != nil {
			return program.Chosen{}, err
		}
		s, err := a.Build(spec, algos.Options{})
		return program.Chosen{Schedule: s, Name: name}, err
	}
	proven := prop.ForAll(func(p random.Program) bool {
		low, err := program.Lower(p.Program, p.Lowering, first)
		if err != nil {
			return false
		}
		_, violations := proof.Verify(low.Schedule, proof.Options{})
		return len(violations) == 0
	}, random.Programs())
	result := proven.Check(gopter.DefaultTestParametersWithSeed(1))
	fmt.Println(result.Status, result.Succeeded)
	// Output:
	// PASSED 100
}
