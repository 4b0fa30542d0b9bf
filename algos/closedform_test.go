package algos_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"collsim/algos"
	"collsim/algos/algostest"
	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"

	"github.com/stretchr/testify/require"
)

// TestClosedFormsAreExact asserts where a run takes exactly its published cost, to the picosecond,
// where every connection has a link of its own: ring, pairwise, direct and the shots always,
// recursive doubling at powers of two, all others at powers of two when the count divides evenly.
func TestClosedFormsAreExact(t *testing.T) {
	for _, a := range algos.Table() {
		for _, kind := range a.Kinds {
			few := []int{1, 2, 3, 4, 7, 8}
			for _, ranks := range tier.Of(few, append(few, 5, 11, 16, 17, 32)) {
				for _, count := range []int64{0, 1, int64(ranks) + 1, 1000, 1024} {
					if exact(a.Name, kind, ranks, count) {
						takesItsCost(t, a, specOf(kind, ranks, count))
					}
				}
			}
		}
	}
}

// exact is the claim.
func exact(name string, kind collective.Kind, ranks int, count int64) bool {
	powerOf2 := ranks&(ranks-1) == 0
	switch name {
	case "ring", "pairwise": // with splits blocks have many sizes, and the cost is the largest's
		return !kind.Splits()
	case "direct", "one-shot", "two-shot", "dissemination":
		return true
	case "low-contention": // none is published
		return false
	case "hierarchical": // parts are chunks, one for each group
		return count%int64(ranks) == 0
	case "recursive-doubling", "recursive-halving":
		return powerOf2 && !kind.Splits()
	}
	return powerOf2 && count%1024 == 0 && !kind.Splits()
}

func specOf(kind collective.Kind, ranks int, count int64) collective.Spec {
	spec := collective.Spec{Kind: kind, Type: dtype.Float32, Ranks: ranks, Count: count}
	if kind.Reduces() {
		spec.Op = collective.Sum
	}
	rows := 0
	switch {
	case kind == collective.AllToAllV:
		rows = ranks
	case kind.Splits():
		rows = 1
	case kind == collective.Barrier:
		spec.Type, spec.Count = 0, 0
	}
	for r := range rows {
		row := make([]int64, ranks)
		row[(r+1)%ranks], row[r] = count, 1
		spec.Splits, spec.Count = append(spec.Splits, row), 0
	}
	return spec
}

// segmented reports whether an algorithm pipelines segments.
func segmented(a algos.Algorithm) bool { return len(a.Params) > 0 && a.Params[0].Name == "segment" }

func takesItsCost(t *testing.T, a algos.Algorithm, spec collective.Spec) {
	t.Helper()
	o := algos.Options{}
	if segmented(a) {
		o.Params = []algos.Param{{Name: "segment", Value: "256"}}
	}
	name := fmt.Sprintf("%v %s, %d ranks, count %d", spec.Kind, a.Name, spec.Ranks, spec.Count)
	s, err := a.Build(spec, o)
	require.NoError(t, err, name)
	for _, m := range []algos.Model{
		{Alpha: 600 * unit.Nanosecond, Rate: 7 * unit.Rate(unit.GB)},
		{Alpha: 1},
		{Rate: 999_999_937},
	} {
		want, err := a.ClosedForm(spec, o, m)
		require.NoError(t, err, name)
		if m.Rate == 0 {
			m.Rate = unit.Unlimited
		}
		ends, err := algostest.Earliest(s, m.Alpha, m.Rate, 0)
		require.NoError(t, err, name)
		require.Equal(t, want, slices.Max(append(ends, 0)), name)
	}
}

// TestClosedFormsOfTheSimulator asserts the same of the simulator and of the additions of a device:
// on a full mesh, where no two connections share a link, and on a switch, where the messages that a
// rank sends or receives at once share its port.
func TestClosedFormsOfTheSimulator(t *testing.T) {
	const ranks, count = 8, 10_000
	m := algos.Model{Alpha: unit.Microsecond, Rate: 12 * unit.Rate(unit.GB), Reduce: 1e9,
		Wires: algos.PerPair}
	mesh, err := topology.FullMesh(ranks, m.Rate, m.Alpha)
	require.NoError(t, err)
	shared := m
	shared.Wires = algos.PerRank
	star, err := topology.Switch(ranks, m.Rate, m.Alpha/2)
	require.NoError(t, err)
	gpu := device.Ideal()
	gpu.ReduceRate = m.Reduce
	for _, c := range []struct {
		kind collective.Kind
		name string
	}{
		{collective.AllReduce, "ring"}, {collective.AllReduce, "recursive-doubling"},
		{collective.AllReduce, "binomial"}, {collective.AllReduce, "one-shot"},
		{collective.AllReduce, "rabenseifner"}, {collective.AllReduce, "hierarchical"},
		{collective.AllGather, "ring"}, {collective.AllGather, "bruck"},
		{collective.AllGather, "recursive-doubling"}, {collective.AllGather, "direct"},
		{collective.ReduceScatter, "ring"}, {collective.ReduceScatter, "direct"},
		{collective.ReduceScatter, "pairwise"}, {collective.ReduceScatter, "recursive-halving"},
		{collective.Broadcast, "binomial"}, {collective.Broadcast, "flat"},
		{collective.Broadcast, "chain"}, {collective.Reduce, "binomial"},
		{collective.Broadcast, "scatter-allgather"}, {collective.Reduce, "chain"},
		{collective.Gather, "binomial"}, {collective.Scatter, "binomial"},
		{collective.Barrier, "dissemination"}, {collective.Reduce, "flat"},
		{collective.AllReduce, "two-shot"},
		{collective.Gather, "flat"}, {collective.Scatter, "flat"},
		{collective.AllToAll, "pairwise"}, {collective.AllToAll, "bruck"},
		{collective.AllToAll, "direct"}, {collective.SendRecv, "direct"},
	} {
		a, err := algos.Find(c.kind, c.name)
		require.NoError(t, err)
		spec := specOf(c.kind, ranks, count)
		s, err := a.Build(spec, algos.Options{})
		require.NoError(t, err)
		for _, on := range []struct {
			network *topology.Graph
			model   algos.Model
			rounded unit.Time // messages that share a port are rounded up one by one
		}{{mesh, m, 0}, {star, shared, 2 * (ranks - 1)}} {
			want, err := a.ClosedForm(spec, algos.Options{}, on.model)
			require.NoError(t, err)
			for _, sharing := range []sim.Sharing{sim.FIFO, sim.Fluid} {
				env := sim.Env{Graph: on.network, Device: gpu, Sharing: sharing}
				got, err := sim.Run(s, env, sim.Options{})
				require.NoError(t, err)
				require.LessOrEqual(t, got.Time, want+on.rounded, "%v %s, %v", c.kind, c.name, sharing)
				if c.kind == collective.Reduce && sharing == sim.FIFO && on.rounded > 0 {
					continue // what comes first is added while the rest still comes
				}
				require.GreaterOrEqual(t, got.Time, want, "%v %s, %v", c.kind, c.name, sharing)
			}
		}
	}
}

// TestClosedFormSaturates asserts that absurd sizes give Forever and no overflow.
func TestClosedFormSaturates(t *testing.T) {
	for _, a := range algos.Table() {
		kind := a.Kinds[0]
		spec := specOf(kind, 4096, math.MaxInt64/64/4096)
		if a.Formula == "" { // none is published
			continue
		}
		o := algos.Options{}
		if segmented(a) {
			o.Params = []algos.Param{{Name: "segment", Value: "1 TiB"}}
		}
		got, err := a.ClosedForm(spec, o, algos.Model{Alpha: unit.Forever / 2, Rate: 1, Reduce: 1})
		require.NoError(t, err)
		require.Equal(t, unit.Forever, got, "%v %s", kind, a.Name)
	}
}
