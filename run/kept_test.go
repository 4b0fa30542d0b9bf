package run

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// TestKept: what makes no difference to schedules and proofs has none made for it; what does has.
// The results are those of points that are each alone in a scenario of their own.
func TestKept(t *testing.T) {
	for _, c := range []struct {
		text, set     string
		built, proofs int
	}{
		{swept, `sweep."topology.latency"=["1 us", "2 us", "3 us"]`, 2, 2},
		{swept, `sweep."topology.bandwidth"=["1 GB/s", "2 GB/s", "3 GB/s"]`, 2, 2},
		{swept, `sweep."topology.preset"=["ring", "switch"]`, 2, 2},
		{swept, `sweep."device.overhead"=["1 us", "2 us"]`, 2, 2},
		{swept, `sweep."sim.sharing"=["fifo", "fluid"]`, 2, 2},
		{swept, `sweep."check.data"=["exact", "normal"]`, 2, 2},
		{swept, `sweep."sim.slots"=[4, 8]`, 2, 4},
		{swept, `sweep."topology.ranks"=[4, 8]`, 4, 4},
		{swept, `sweep."collective.bytes"=["64 KiB", "1 MiB"]`, 4, 4},
		{swept, `sweep."collective.op"=["sum", "max"]`, 4, 4},
		{swept, `sweep."collective.dtype"=["float32", "float16"]`, 4, 4},
		{swept, `sweep."collective.channels"=[1, 2]`, 4, 4},
		{swept, `sweep."collective.in_place"=[true, false]`, 4, 4},
		{swept, `collective.algorithm=["ring(channels=2)", "ring(slices=2)"]`, 2, 2},
		// One more of each, of a long vector, says how many channels fill the links.
		{swept, `sweep."topology.latency"=["1 us", "2 us"]; device.channels=8; ` +
			`device.lane_rate="5 GB/s"`, 2 + 2, 2},
		{grouped, `sweep."topology.network.latency"=["1 us", "2 us"]`, 8, 8},
	} {
		load := func() *Scenario {
			s, err := Load("s.toml", []byte(c.text), LoadOptions{Set: append(
				strings.Split(c.set, "; "), "check.numbers=false")})
			require.NoError(t, err, c.set)
			return s
		}
		s := load()
		r := &runner{s: s, shared: newShared(), do: runs}
		for i, p := range s.Points {
			result, err := r.run(p)
			require.NoError(t, err, c.set)
			alone := load()
			one, err := alone.RunPoint(alone.Points[i], RunOptions{})
			require.NoError(t, err)
			one.ran, result.ran = nil, nil
			one.Point, result.Point = nil, nil
			require.Equal(t, one, result, "%s: %d", c.set, i)
		}
		require.Len(t, s.kept.built, c.built, c.set)
		require.Len(t, r.shared.proofs, c.proofs, c.set)
	}
}

// TestKeptFailures: points whose proof finds the same violations have lists of their own.
func TestKeptFailures(t *testing.T) {
	s, err := Load("s.toml", []byte(swept), LoadOptions{Set: []string{"check.numbers=false",
		`collective.algorithm="ring"`, `sweep."topology.latency"=["1 us", "2 us"]`}})
	require.NoError(t, err)
	first, err := s.Build(s.Points[0])
	require.NoError(t, err)
	wrong := &Verification{Violations: make([]Violation, 1, 8)}
	r := &runner{s: s, shared: newShared(), do: runs}
	r.shared.proof(&s.kept, proofKey{first, s.Points[0].Sim.Slots},
		func() *Verification { return wrong })
	a, err := r.run(s.Points[0])
	require.NoError(t, err)
	b, err := r.run(s.Points[1])
	require.NoError(t, err)
	require.Equal(t, Failed, a.Proof)
	require.Equal(t, Failed, b.Proof)
	a.Violations = append(a.Violations, Violation{Text: "a"})
	b.Violations = append(b.Violations, Violation{Text: "b"})
	require.Equal(t, "a", a.Violations[1].Text)
}

// TestKeptBounds: the oldest schedules are dropped while there are too many, by number or by
// parts, and with them their proofs; errors are kept as well, schedules of too many ranks are not.
func TestKeptBounds(t *testing.T) {
	ring, err := find(collective.AllReduce, "ring")
	require.NoError(t, err)
	spec := func(ranks int, count int64) collective.Spec {
		return collective.Spec{Kind: collective.AllReduce, Type: dtype.Float32, Op: collective.Sum,
			Ranks: ranks, Count: count}
	}
	var k kept
	for n := range int64(2 * mostKept) {
		_, err := k.build(ring, "", spec(4, n), algos.Options{})
		require.NoError(t, err)
	}
	require.Len(t, k.built, mostKept)
	require.Len(t, k.order, mostKept)
	require.Len(t, k.of, mostKept)
	_, known := k.built[k.order[0]]
	require.True(t, known)
	parts := int64(0)
	for _, b := range k.built {
		parts += b.parts
	}
	require.Equal(t, parts, k.parts)

	_, err = k.build(ring, "", spec(4, 1), algos.Options{Channels: -1})
	require.Error(t, err)
	_, again := k.build(ring, "", spec(4, 1), algos.Options{Channels: -1})
	require.Equal(t, err, again)

	large, err := k.build(ring, "", spec(mostKeptRanks+1, 1), algos.Options{})
	require.NoError(t, err)
	require.False(t, k.holds(large))

	doubling, err := find(collective.AllReduce, "recursive-doubling")
	require.NoError(t, err)
	k, parts = kept{}, 0
	proofs, made := newShared(), 0
	for n := int64(1); parts < 2*mostKeptParts; n++ {
		s, err := k.build(doubling, "", spec(1000, n), algos.Options{})
		require.NoError(t, err)
		parts += 1 + schedule.CachedParts(s)
		require.LessOrEqual(t, k.parts, int64(mostKeptParts))
		for range 2 {
			proofs.proof(&k, proofKey{s, 1}, func() *Verification {
				made++
				return &Verification{}
			})
		}
		require.EqualValues(t, n, made)
		require.Len(t, proofs.proofs, len(k.built))
	}
	require.Less(t, len(k.built), made)
	require.Greater(t, k.parts, int64(mostKeptParts/2))
}

// TestCachedParts: all programs of a schedule are counted, whether ranks have a group, roles, or
// programs of their own.
func TestCachedParts(t *testing.T) {
	for _, name := range []string{"ring", "double-binary-tree", "recursive-doubling"} {
		a, err := find(collective.AllReduce, name)
		require.NoError(t, err)
		s, err := a.Build(collective.Spec{Kind: collective.AllReduce, Type: dtype.Float32,
			Op: collective.Sum, Ranks: 6, Count: 600}, algos.Options{})
		require.NoError(t, err)
		parts, ranks := int64(0), []int{0}
		switch {
		case s.HasRoles():
			ranks = nil
			for role := range s.Roles() {
				first, _ := s.Role(role)
				ranks = append(ranks, first)
			}
		case s.Group == nil:
			ranks = []int{0, 1, 2, 3, 4, 5}
		}
		var step schedule.Step
		for _, rank := range ranks {
			p := s.Program(rank)
			for lane := range p.Lanes() {
				p.Written(lane, &step, func(int64, bool) bool {
					parts += int64(1 + len(step.From) + len(step.To) + len(step.Send))
					return true
				})
			}
		}
		require.Equal(t, parts, schedule.CachedParts(s), fmt.Sprint(name, " ", s.Group))
	}
}

// TestPointAllocs: what a further point of a sweep allocates until it is ready to run is little; no
// table of devices, machines or keys is made for it.
func TestPointAllocs(t *testing.T) {
	allocs := func(points int) float64 {
		var list []string
		for n := range points {
			list = append(list, fmt.Sprintf(`"%d ns"`, n+1))
		}
		set := `sweep."topology.latency"=[` + strings.Join(list, ", ") + "]"
		return testing.AllocsPerRun(1, func() {
			s, err := Load("s.toml", []byte(swept), LoadOptions{Set: []string{set}})
			require.NoError(t, err)
			require.Len(t, s.Points, 2*points)
		})
	}
	require.Less(t, (allocs(200)-allocs(100))/200, 300.0)
}
