package algostest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/proof"
	"collsim/schedule"
)

// Test runs the whole suite (see the package comment) on an algorithm, at these numbers of ranks;
// at the usual ones if none are given.
func Test(t *testing.T, a algos.Algorithm, numbers ...int) {
	if numbers == nil {
		numbers = ranksTried()
	}
	for _, kind := range a.Kinds {
		for _, ranks := range numbers {
			t.Run(fmt.Sprintf("%v/%d", kind, ranks), func(t *testing.T) {
				t.Parallel()
				slots := 0
				for _, c := range trials(a, kind, ranks) {
					slots = max(slots, conform(t, a, c))
				}
				t.Logf("minimum slots: at most %d", slots)
				if ranks > 1 && ranks <= mutatedRanks() {
					refusesDamage(t, a, kind, ranks)
				}
			})
		}
	}
}

// TestAt runs the suite on an algorithm with values of its parameters, at one number of ranks. It
// is for parameters that allow only some numbers, or that deserve a name.
func TestAt(t *testing.T, a algos.Algorithm, ranks int, params ...algos.Param) {
	for _, kind := range a.Kinds {
		t.Run(fmt.Sprintf("%v/%d", kind, ranks), func(t *testing.T) {
			for _, c := range trials(a, kind, ranks) {
				c.options.Params = append(c.options.Params, params...)
				conform(t, a, c)
			}
		})
	}
}

// conform checks the algorithm in a single trial and returns the slots that it needs; 0 if the
// algorithm does not fit the trial.
func conform(t require.TestingT, a algos.Algorithm, c trial) (slots int) {
	s, err := a.Build(c.spec, c.options)
	var unfit *algos.Unfit
	if errors.As(err, &unfit) {
		return 0
	}
	require.NoError(t, err, "%s", c)
	agreesWithAuthor(t, a, c, s)
	s = survivesText(t, c, s)
	slots = isProven(t, a, c, s)
	computes(t, c, s)
	keepsTime(t, a, c, s)
	return slots
}

// survivesText checks that the text form is read back as the same schedule, and returns that. It
// has its programs in memory, where s would call the author again.
func survivesText(t require.TestingT, c trial, s *schedule.Schedule) *schedule.Schedule {
	text := s.String()
	again, err := schedule.Parse(text)
	require.NoError(t, err, "%s\n%s", c, text)
	require.Equal(t, text, again.String(), "%s", c)
	if !schedule.Equal(s, again) {
		require.Failf(t, "the text is of another schedule", "%s\n%s", c, text)
	}
	return again
}

// agreesWithAuthor checks a schedule with a group, or roles, against the author's function called
// rank by rank. A transpose has no author.
func agreesWithAuthor(t require.TestingT, a algos.Algorithm, c trial, s *schedule.Schedule) {
	a, err := a.Bound(c.spec.Ranks, c.options)
	require.NoError(t, err, "%s", c)
	if a.Group == nil && a.Roles == nil || c.turned() { // it has other lanes then
		return
	}
	a.Group, a.Roles = nil, nil
	plain, err := a.Build(c.spec, c.options)
	require.NoError(t, err, "%s", c)
	var x, y schedule.Step
	for rank := range c.spec.Ranks {
		p, q := s.Program(rank), plain.Program(rank)
		require.Equal(t, q.Lanes(), p.Lanes(), "%s", c)
		for lane := range p.Lanes() {
			i, j := p.Walk(lane), q.Walk(lane)
			for ; !i.Done() && !j.Done(); i.Next(1) {
				p.Load(&i, &x)
				q.Load(&j, &y)
				if !sameStep(s, &x, &y) {
					require.Failf(t, "the group changes a step", "%s: rank %d lane %d step %d:\n%+v\n%+v",
						c, rank, lane, j.Step, x, y)
				}
				j.Next(1)
			}
			require.Equal(t, j.Done(), i.Done(), "%s: rank %d lane %d", c, rank, lane)
		}
	}
}

// isProven checks that the schedule is proven, and that the proof's slots and rounds are right. It
// returns the slots.
func isProven(t require.TestingT, a algos.Algorithm, c trial, s *schedule.Schedule) int {
	proven, violations := proof.Verify(s, proof.Options{})
	require.Empty(t, violations, "%s\n%s", c, s)
	standsForAll(t, c, s)
	require.NoError(t, runs(s, proven.MinSlots), "%s", c)
	if proven.MinSlots > 1 {
		var stall *schedule.StallError
		require.ErrorAs(t, runs(s, proven.MinSlots-1), &stall, "%s", c)
	}
	if a.Own() && a.Cost == nil { // none is published
		return proven.MinSlots
	}
	cost, err := a.CostOf(c.spec, c.options)
	require.NoError(t, err, "%s", c)
	require.LessOrEqual(t, proven.Rounds, cost.Steps(), "%s: rounds", c)
	if !cost.AtMost {
		require.Equal(t, cost.Steps(), proven.Rounds, "%s: rounds", c)
	}
	return proven.MinSlots
}

// standsForAll checks that the proof that walks one rank of a group equals the one that walks all.
func standsForAll(t require.TestingT, c trial, s *schedule.Schedule) {
	o := proof.Options{Traffic: true}
	o.Traffic = proof.Folds(s, o) == "" // blocks that differ in size have none
	if proof.Folds(s, o) != "" {
		return
	}
	folded, violations := proof.Verify(s, o)
	require.Empty(t, violations, "%s", c)
	require.Equal(t, 1, folded.Walked, "%s", c)
	o.Unfolded = true
	all, _ := proof.Verify(s, o)
	folded.Walked = all.Walked
	require.Equal(t, all, folded, "%s", c)
}

// runs executes a schedule with a number of slots, whatever it declares.
func runs(s *schedule.Schedule, slots int) error {
	free := *s
	free.Slots = 0
	_, err := schedule.Execute(&free, schedule.Limits{Slots: slots}, schedule.Hooks{})
	return err
}

// TestOn runs the suite on an algorithm whose channels may have orders of their own, on nodes with
// these numbers of ranks. It tries as many channels as ranks of a node, fewer, and more.
func TestOn(t *testing.T, a algos.Algorithm, nodes ...int) {
	ranks, most := 0, slices.Max(nodes)
	for _, n := range nodes {
		ranks += n
	}
	o := algos.Options{Nodes: nodes}
	if slices.Min(nodes) == most {
		o = algos.Options{PerNode: most}
	}
	for _, kind := range a.Kinds {
		for i, channels := range []int{max(2, most), max(2, most-1), 2 * most, most + 1} {
			t.Run(fmt.Sprintf("%v/%v/%d", kind, nodes, channels), func(t *testing.T) {
				for j, count := range []int64{0, int64(ranks) - 1, int64(ranks*channels*3 + 5)} {
					o := o
					o.Channels, o.Slices = channels, 1+j%2
					c := trial{specOf(kind, ranks, count, i+j), o, i}
					if kind.Rooted() {
						c.spec.Root = (i + j) % ranks
					}
					c.spec.InPlace = (i+j)%2 == 0 && hasPlace(kind)
					conform(t, a, c)
					if o.Nodes != nil {
						continue
					}
					c.options.Rings = shuffledRings(channels, most, uint64(i+j))
					conform(t, a, c)
					c.options.PerNode, c.options.Rings = 0, shuffledRings(channels, ranks, uint64(i+j))
					conform(t, a, c)
				}
			})
		}
	}
}

// turned reports whether channels have orders of their own.
func (c *trial) turned() bool {
	return c.options.PerNode > 0 || c.options.Nodes != nil || c.options.Rings != nil
}

// shuffledRings returns random orders of the ranks of a node, one for each channel.
func shuffledRings(channels, perNode int, seed uint64) (rings [][]int32) {
	r := rand.New(rand.NewPCG(seed, 0))
	for range channels {
		var ring []int32
		for _, at := range r.Perm(perNode) {
			ring = append(ring, int32(at))
		}
		rings = append(rings, ring)
	}
	return rings
}
