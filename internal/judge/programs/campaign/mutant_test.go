package main

import (
	"context"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/hw"
	"collsim/hw/callbacks"
	"collsim/internal/judge/programs"
	"collsim/internal/tier"
	"collsim/program"
	"collsim/reference"
	"collsim/schedule"
)

// mutation damages the parts of a lowered program; nil where there is nothing to damage.
type mutation struct {
	name string
	do   func(parts []schedule.Part, luck *rand.Rand) []schedule.Part
}

func mutations() []mutation {
	return []mutation{{"a wait less", func(parts []schedule.Part, luck *rand.Rand) []schedule.Part {
		p := &parts[luck.IntN(len(parts))]
		if len(p.After) == 0 {
			return nil
		}
		k := luck.IntN(len(p.After))
		p.After = slices.Delete(slices.Clone(p.After), k, k+1)
		p.Stream += 1000 // on its own it waits for the others all the same
		return parts
	}}, {"an op earlier", func(parts []schedule.Part, luck *rand.Rand) []schedule.Part {
		k := luck.IntN(len(parts))
		if k == 0 || !slices.Contains(parts[k].After, k-1) {
			return nil
		}
		parts[k-1], parts[k] = parts[k], parts[k-1]
		return renumbered(parts, func(n int) int {
			switch n {
			case k - 1:
				return k
			case k:
				return k - 1
			}
			return n
		})
	}}, {"another offset", func(parts []schedule.Part, luck *rand.Rand) []schedule.Part {
		p := &parts[luck.IntN(len(parts))]
		if len(p.Memory) == 0 {
			return nil
		}
		p.Memory = slices.Clone(p.Memory)
		at := &p.Memory[luck.IntN(len(p.Memory))]
		if at.Tensor == 0 {
			return nil
		}
		at.Offsets = []int64{at.Offset(0) + 1}
		return parts
	}}, {"an op less", func(parts []schedule.Part, luck *rand.Rand) []schedule.Part {
		k := luck.IntN(len(parts))
		return renumbered(slices.Delete(parts, k, k+1), func(n int) int {
			switch {
			case n == k:
				return -1
			case n > k:
				return n - 1
			}
			return n
		})
	}}}
}

// renumbered are parts that wait for others under their new numbers; −1 is gone.
func renumbered(parts []schedule.Part, now func(n int) int) []schedule.Part {
	for i := range parts {
		var after []int
		for _, n := range parts[i].After {
			if n = now(n); n >= 0 && n < i {
				after = append(after, n)
			}
		}
		slices.Sort(after)
		parts[i].After = after
	}
	return parts
}

// TestMutants damages lowered programs, and carries them out in the order of their parts and with
// messages in a random order. The judge tells many wrong results of each kind of damage, and none
// that is right.
func TestMutants(t *testing.T) {
	const seed = 11
	reported, tried := map[string]int{}, map[string]int{}
	for i := range tier.Raced(10, 120, 400) {
		luck := rand.New(rand.NewPCG(seed, uint64(i)))
		p := randomProgram(luck)
		p.gradient, p.passes = false, randomPasses(luck)
		p.passes = slices.DeleteFunc(p.passes, func(s setting) bool { return s.value == `"seed"` })
		f := failure{program: p, seed: hash(i)}
		if f.judge(nil); f.kind != "" {
			continue
		}
		o, err := direct(p, f.seed)
		require.NoError(t, err)
		judged, err := programs.Read(p.text())
		require.NoError(t, err)
		given, err := reference.GivenTensors(o.low.Schedule, reference.Exact, o.seed)
		require.NoError(t, err)
		want, err := judged.Evaluate(inputs(o.low.Schedule, given))
		require.NoError(t, err)
		right, err := reference.RunTensors(o.low.Schedule, given, reference.RunOptions{})
		require.NoError(t, err)
		if !want.Exact || len(want.Names) == 0 {
			continue
		}
		require.Empty(t, differ(want, o.low, right))
		for _, m := range mutations() {
			damaged := m.damage(o.low, luck)
			if damaged == nil {
				continue
			}
			for _, out := range results(damaged.Schedule, given, luck) {
				tried[m.name]++
				why := differ(want, damaged, out)
				if reflect.DeepEqual(right, out) {
					require.Empty(t, why, "%s\n%s", m.name, p.text())
				} else if why != "" {
					reported[m.name]++
				}
			}
		}
	}
	t.Log("tried", tried, "told", reported)
	for _, m := range mutations() {
		require.Greater(t, reported[m.name], tier.Raced(0, 5, 20), m.name)
	}
}

// damage is a lowered program with the mutation; nil where there is nothing to damage, or where
// what comes out is refused.
func (m *mutation) damage(low *program.Lowered, luck *rand.Rand) *program.Lowered {
	for range 40 {
		parts := m.do(low.Schedule.Parts(), luck)
		if len(parts) == 0 {
			continue
		}
		s, err := schedule.Compose("mutant", low.Schedule.Spec.Ranks, low.Schedule.Tensors, parts)
		if err == nil {
			d := *low
			d.Schedule = s
			return &d
		}
	}
	return nil
}

// results are those of a schedule by the interpreter, and with messages in a random order.
func results(s *schedule.Schedule, given reference.Tensors,
	luck *rand.Rand) (list []reference.Tensors) {
	if out, err := reference.RunTensors(s, given, reference.RunOptions{}); err == nil {
		list = append(list, out)
	}
	ran, err := callbacks.New(callbacks.Config{Next: luck.IntN}).Run(context.Background(),
		&hw.Job{Schedule: s, Tensors: given})
	if err == nil && ran.Tensors != nil {
		list = append(list, ran.Tensors)
	}
	return list
}
