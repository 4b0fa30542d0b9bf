package random

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/internal/tier"
	"collsim/proof"
	"collsim/schedule"
)

// holds tries a property so often, from a seed.
func holds(t *testing.T, times int, property gopter.Prop) {
	t.Helper()
	parameters := gopter.DefaultTestParametersWithSeed(6)
	parameters.MinSuccessfulTests = times
	properties := gopter.NewProperties(parameters)
	properties.Property("holds", property)
	properties.TestingRun(t)
}

// shrinks is what a property that fails is reported with.
func shrinks[T any](t *testing.T, property any, of gopter.Gen) T {
	t.Helper()
	parameters := gopter.DefaultTestParametersWithSeed(5)
	parameters.MinSuccessfulTests = 10_000
	r := prop.ForAll(property, of).Check(parameters)
	require.Equal(t, gopter.TestFailed, r.Status)
	return r.Args[0].Arg.(T)
}

// TestSchedules: they come to their end with one slot, their text reads back, and the same source
// gives the same; of those that are jumbled some stall. All verbs occur.
func TestSchedules(t *testing.T) {
	seen := ""
	holds(t, tier.Of(200, 5000), prop.ForAll(func(s Schedule, seed uint64) bool {
		text := s.String()
		seen += text
		again, err := schedule.Parse(text)
		_, stall := schedule.Execute(s.Schedule, schedule.Limits{Slots: 1}, schedule.Hooks{})
		draw := func() *schedule.Schedule {
			return DrawSchedule(rand.New(rand.NewPCG(seed, 3)), true).Schedule
		}
		return err == nil && schedule.Equal(s.Schedule, again) && stall == nil &&
			schedule.Equal(draw(), draw())
	}, Schedules(), numbers()))
	for _, word := range []string{"signal", "wait", "put", "get", "copy", "flush", "send", "recv",
		"post", "after"} {
		require.Contains(t, seen, word)
	}
	stalls, runs := 0, 0
	holds(t, 200, prop.ForAll(func(s Schedule) bool {
		_, err := schedule.Execute(s.Schedule, schedule.Limits{Slots: 1}, schedule.Hooks{})
		if runs++; err != nil {
			stalls++
		}
		return true
	}, Jumbled()))
	require.Greater(t, stalls, 10)
	require.Greater(t, runs-stalls, 10)
}

// numbers generates seeds.
func numbers() gopter.Gen {
	return func(p *gopter.GenParameters) *gopter.GenResult {
		return gopter.NewGenResult(p.NextUint64(), gopter.NoShrinker)
	}
}

// TestSchedulesShrink: a failure that two exchanges make is reported with these alone.
func TestSchedulesShrink(t *testing.T) {
	s := shrinks[Schedule](t, func(s Schedule) bool {
		text := s.String()
		return !strings.Contains(text, "get ") || !strings.Contains(text, "put ")
	}, Schedules())
	steps := 0
	_, err := schedule.Execute(s.Schedule, schedule.Limits{}, schedule.Hooks{
		Step: func(*schedule.Visit) error { steps++; return nil }})
	require.NoError(t, err)
	require.Equal(t, 3, steps, s) // a get, a put, and the wait for it
	require.Equal(t, 1, s.Slices)
}

// TestAlgorithms: they compute their collective, and shrink to the least that fails.
func TestAlgorithms(t *testing.T) {
	names := map[string]bool{}
	holds(t, tier.Of(200, 5000), prop.ForAll(func(s Schedule) string {
		names[fmt.Sprint(s.Spec.Kind, s.Name)] = true
		if _, found := proof.Verify(s.Schedule, proof.Options{}); len(found) > 0 {
			return found[0].Error()
		}
		return ""
	}, Algorithms()))
	require.Greater(t, len(names), 30)
	s := shrinks[Schedule](t, func(s Schedule) bool { return s.Spec.Ranks < 3 || s.Spec.Count < 4 },
		Algorithms(collective.AllReduce))
	require.Equal(t, []int64{3, 4, 1}, []int64{int64(s.Spec.Ranks), s.Spec.Count, int64(s.Slices)})
}
