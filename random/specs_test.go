package random

import (
	"fmt"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/collective"
)

// TestSpecs asserts that what is generated is valid, and that nothing which may occur does not.
func TestSpecs(t *testing.T) {
	seen := map[string]int{}
	parameters := gopter.DefaultTestParametersWithSeed(3)
	parameters.MinSuccessfulTests = 1000
	laws := gopter.NewProperties(parameters)
	laws.Property("specs are valid, and of the kinds that were asked for", prop.ForAll(
		func(all, some collective.Spec) bool {
			for _, property := range []any{all.Kind, all.Op, all.Avg, all.Root > 0, all.InPlace,
				all.Empty(), all.Type, fmt.Sprint("ranks ", all.Ranks)} {
				seen[fmt.Sprintf("%T %v", property, property)]++
			}
			return all.Validate() == nil && some.Validate() == nil &&
				(some.Kind == collective.Reduce || some.Kind == collective.AllToAllV)
		}, Specs(), Specs(collective.Reduce, collective.AllToAllV)))
	laws.TestingRun(t)
	for _, k := range collective.Kinds() {
		require.Positive(t, seen[fmt.Sprintf("%T %v", k, k)], k)
	}
	for _, o := range collective.Ops() {
		require.Positive(t, seen[fmt.Sprintf("%T %v", o, o)], o)
	}
	for _, name := range []string{"bool true", "bool false", "collective.AvgMode nccl",
		"collective.AvgMode post", "dtype.Type float32", "dtype.Type int64", "string ranks 1",
		"string ranks 17"} {
		require.Positive(t, seen[name], name)
	}
}

// TestSpecsShrink: a failure that needs 3 ranks and 5 elements is reported with just those.
func TestSpecsShrink(t *testing.T) {
	few := func(s collective.Spec) bool { return s.Ranks < 3 || s.Count < 5 }
	require.Equal(t, collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Ranks: 3,
		Count: 5}, shrunk(t, Specs(collective.AllReduce), few))
	narrow := func(s collective.Spec) bool { return s.Ranks < 2 || s.Splits[1][0] < 3 }
	s := shrunk(t, Specs(collective.AllToAllV), narrow)
	require.Equal(t, 2, s.Ranks)
	require.Len(t, s.Splits[0], 2)
	require.Less(t, s.Splits[1][0], int64(6), "halves would do as well")
	require.NoError(t, func() error { s.Type = 1; return s.Validate() }())
}

// shrunk is what a failing law reports, without its type.
func shrunk(t *testing.T, specs gopter.Gen, law func(collective.Spec) bool) collective.Spec {
	t.Helper()
	r := prop.ForAll(law, specs).Check(gopter.DefaultTestParametersWithSeed(5))
	require.Equal(t, gopter.TestFailed, r.Status)
	s := r.Args[0].Arg.(collective.Spec)
	require.NoError(t, s.Validate())
	s.Type = 0
	return s
}

// TestShrinkingEnds: every simpler collective is valid, is not the one it came from, and leads to
// one that cannot be simpler.
func TestShrinkingEnds(t *testing.T) {
	laws := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(6))
	laws.Property("the slowest way leads to the end", prop.ForAll(
		func(s collective.Spec) string {
			for range maxCount + 100 {
				list := shrinkSpec(s).All()
				if len(list) == 0 {
					return ""
				}
				for _, c := range list {
					if err := c.(collective.Spec).Validate(); err != nil {
						return err.Error()
					}
				}
				last := list[len(list)-1].(collective.Spec)
				if fmt.Sprintf("%#v", last) == fmt.Sprintf("%#v", s) {
					return "nothing has changed"
				}
				s = last
			}
			return "there is no end"
		}, Specs()))
	laws.TestingRun(t)
}
