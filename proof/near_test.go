package proof

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/nccl"
	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/schedule"
)

// underNear calls f with near clocks for schedules of any size, and whole clocks after them for
// those of up to whole lanes.
func underNear(whole int, f func()) {
	from, most := nearFrom, mostWhole
	nearFrom, mostWhole = 0, whole
	defer func() { nearFrom, mostWhole = from, most }()
	f()
}

// racesIn counts the races among violations.
func racesIn(found []*schedule.Violation) (n int) {
	for _, x := range found {
		if x.Kind == schedule.Race {
			n++
		}
	}
	return n
}

// overSwitches is an all_reduce of nodes joined by a tree, whose GPUs access each other's memory.
func overSwitches(t *testing.T, nodes, perNode int) *schedule.Schedule {
	t.Helper()
	a, err := algos.FindIn(nccl.Table(), collective.AllReduce, "nccl:nvlstree")
	require.NoError(t, err)
	spec := collective.Spec{Kind: collective.AllReduce, Type: dtype.Float32, Op: collective.Sum,
		Ranks: nodes * perNode, Count: int64(nodes * perNode * 9000)}
	s, err := a.Build(spec, algos.Options{PerNode: perNode,
		Params: []algos.Param{{Name: "nchannels", Value: "2"}}})
	require.NoError(t, err)
	return s
}

// TestNear: near clocks prove what whole ones prove where nodes are joined by trees, and refute it
// where a line is left out that orders accesses.
func TestNear(t *testing.T) {
	lines := strings.Split(overSwitches(t, 5, 3).String(), "\n")
	s := mustParse(t, strings.Join(lines, "\n"))
	want := verdict(s, Options{Unfolded: true})
	require.Contains(t, want, "proved")
	underNear(0, func() { require.Equal(t, want, verdict(s, Options{Unfolded: true})) })
	refuted := 0
	for _, rng := 0, rand.New(rand.NewPCG(5, 1)); refuted < tier.Of(20, 200); {
		i := rng.IntN(len(lines))
		text := strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "\n")
		if at := strings.Index(lines[i], " after "); at >= 0 {
			less := slices.Clone(lines)
			less[i] = lines[i][:at]
			text = strings.Join(less, "\n")
		}
		s, err := schedule.Parse(text)
		if err != nil {
			continue
		}
		_, found := Verify(s, Options{Unfolded: true})
		if n := racesIn(found); n > 0 {
			refuted++
			underNear(0, func() {
				_, again := Verify(s, Options{Unfolded: true})
				require.GreaterOrEqual(t, racesIn(again), n, lines[i])
			})
		}
	}
}

// TestNearIsRight: whatever near clocks prove has no race by whole ones, and where whole ones
// follow the verdict is theirs.
func TestNearIsRight(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 4))
	right, wrong, less := 0, 0, 0
	for range tier.Of(3000, 60_000) {
		text := attacker{rng}.text()
		if rng.IntN(2) == 0 {
			text = mutated(rng, []func(*rand.Rand) string{gathering, scattering}[rng.IntN(2)](rng))
		}
		s, err := schedule.Parse(text)
		if err != nil || schedule.Composed(s) {
			continue
		}
		o := Options{Unfolded: true, Iterations: 1 + rng.IntN(2), Rendezvous: rng.IntN(4) == 0}
		p, found := Verify(s, o)
		underNear(0, func() {
			q, again := Verify(s, o)
			require.False(t, q != nil && p == nil, text)
			if p == nil {
				wrong++
				require.Equal(t, racesIn(found) > 0, racesIn(again) > 0, text)
			} else if right++; q == nil {
				less++
			}
		})
		want := verdict(s, o)
		underNear(1<<20, func() { require.Equal(t, want, verdict(s, o), text) })
	}
	t.Logf("%d right, %d of them not by near clocks alone; %d wrong", right, less, wrong)
	require.Greater(t, min(right, wrong), 20)
}
