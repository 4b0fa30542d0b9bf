package run_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/formats"
	"collsim/formats/msccl"
	"collsim/internal/tier"
	"collsim/proof"
	"collsim/reference"
	"collsim/schedule"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// exported is an algorithm that is written as MSCCL XML and read back.
type exported struct {
	kind    collective.Kind
	name    string
	segment string // of its parameter, "" for none
	inPlace bool
	// split says that messages whose blocks are not side by side become several: of those the file
	// has more.
	split bool
}

// cases are the five algorithms, each with a kind where its messages stay whole, and those where
// they cannot: Bruck's all_gather goes past the last block and on at the first, its all_to_all
// sends every second block, fourth, …; a format whose transfers are runs of chunks says neither.
func exports() []exported {
	return []exported{
		{kind: collective.AllReduce, name: "ring"},
		{kind: collective.AllReduce, name: "ring", inPlace: true},
		{kind: collective.AllGather, name: "ring"},
		{kind: collective.ReduceScatter, name: "ring"},
		{kind: collective.AllReduce, name: "recursive-doubling"},
		{kind: collective.AllReduce, name: "recursive-doubling", inPlace: true},
		{kind: collective.AllGather, name: "recursive-doubling", split: true},
		{kind: collective.AllGather, name: "bruck", split: true},
		{kind: collective.AllGather, name: "bruck", inPlace: true, split: true},
		{kind: collective.AllToAll, name: "bruck", split: true},
		{kind: collective.AllReduce, name: "double-binary-tree"},
		{kind: collective.AllReduce, name: "double-binary-tree", inPlace: true},
		{kind: collective.AllReduce, name: "double-binary-tree", segment: "128B"},
		{kind: collective.AllToAll, name: "pairwise"},
		{kind: collective.AllToAll, name: "pairwise", inPlace: true},
		{kind: collective.ReduceScatter, name: "pairwise"},
		{kind: collective.AllGather, name: "pairwise"},
	}
}

// Ring, recursive doubling, Bruck, double binary tree and pairwise, written and read back, have
// the same proof, the same bits and take the same time. What the file cannot keep is the number of
// messages, where one is of several runs of blocks. Its pieces follow one another without a gap,
// so that time stays equal even then: every rate here takes a whole number of picoseconds a byte.
// And a step that takes the messages of two children becomes two: the first frees its slot before
// the other has come, and what follows them is requested a wave later. Where segments of both trees
// meet at a link at the same time, as on a switch, first come first served then serves them in
// another order, and the time is not comparable; sharing fairly, it is equal.
func TestExportedToMSCCLAndBack(t *testing.T) {
	for _, c := range exports() {
		for _, ranks := range tier.Of([]int{2, 4, 7}, []int{2, 3, 4, 6, 7, 8}) {
			t.Run(fmt.Sprintf("%v/%s/%s/%d/%t", c.kind, c.name, c.segment, ranks, c.inPlace),
				func(t *testing.T) { exportAndBack(t, c, ranks) })
		}
	}
}

func exportAndBack(t *testing.T, c exported, ranks int) {
	ours := buildExported(t, c, ranks)
	var file bytes.Buffer
	_, err := msccl.Write(&file, ours, msccl.WriteOptions{Protocol: "LL"})
	require.NoError(t, err)
	back, err := msccl.Read(bytes.NewReader(file.Bytes()), formats.Options{Count: ours.Spec.Count})
	require.NoError(t, err)
	require.Empty(t, back.Found)
	require.Equal(t, ours.Spec, back.Schedule.Spec)

	want, found := proof.Verify(ours, proof.Options{})
	require.Empty(t, found)
	got, found := proof.Verify(back.Schedule, proof.Options{})
	require.Empty(t, found)
	require.Equal(t, want.MinSlots, got.MinSlots)
	require.Equal(t, want.BytesSent, got.BytesSent)
	require.Equal(t, want.SameTree, got.SameTree)
	// Of two operands a file cannot say which was first: the lower rank's is. A rank of two, or of a
	// tree, that adds a lower child's sum to its own part gains the order of ranks so.
	if ranks > 2 && c.name != "double-binary-tree" {
		require.Equal(t, want.KeepsRankOrder, got.KeepsRankOrder)
	}
	if c.split {
		require.GreaterOrEqual(t, got.Messages, want.Messages)
	} else {
		require.Equal(t, want.Messages, got.Messages)
	}

	inputs, err := reference.Inputs[float32](ours.Spec, reference.Normal, 7)
	require.NoError(t, err)
	bits, err := reference.Run(ours, inputs)
	require.NoError(t, err)
	again, err := reference.Run(back.Schedule, inputs)
	require.NoError(t, err)
	require.Equal(t, bits, again)
	for _, sharing := range []sim.Sharing{sim.Fluid, sim.FIFO} {
		ours, back := timeOf(t, ours, sharing), timeOf(t, back.Schedule, sharing)
		require.Equal(t, ours[0], back[0], "%v on a full mesh", sharing)
		if sharing == sim.Fluid || c.segment == "" {
			require.Equal(t, ours[1], back[1], "%v on a switch", sharing)
		}
	}
}

func buildExported(t *testing.T, c exported, ranks int) *schedule.Schedule {
	a, err := algos.Find(c.kind, c.name)
	require.NoError(t, err)
	var o algos.Options
	if c.segment != "" {
		o.Params = []algos.Param{{Name: "segment", Value: c.segment}}
	}
	spec := collective.Spec{Kind: c.kind, Type: dtype.Float32, Ranks: ranks, Count: 840,
		InPlace: c.inPlace}
	if c.kind.Reduces() {
		spec.Op = collective.Sum
	}
	s, err := a.Build(spec, o)
	require.NoError(t, err)
	return s
}

// timeOf is how long a schedule takes on a full mesh and on a switch, 1 ns a byte.
func timeOf(t *testing.T, s *schedule.Schedule, sharing sim.Sharing) [2]unit.Time {
	mesh, err := topology.FullMesh(s.Spec.Ranks, unit.Rate(unit.GB), 500*unit.Nanosecond)
	require.NoError(t, err)
	star, err := topology.Switch(s.Spec.Ranks, unit.Rate(unit.GB), 500*unit.Nanosecond)
	require.NoError(t, err)
	var times [2]unit.Time
	for i, graph := range []*topology.Graph{mesh, star} {
		r, err := sim.Run(s, sim.Env{Graph: graph, Device: device.Ideal(), Sharing: sharing,
			Slots: 8}, sim.Options{})
		require.NoError(t, err)
		times[i] = r.Time
	}
	return times
}

// Every algorithm of ours that divides its count evenly is written and read back with the same
// bits; only barriers and send_recv have no label in a file.
func TestEveryAlgorithmToMSCCL(t *testing.T) {
	written := 0
	for _, a := range algos.Table() {
		for _, kind := range a.Kinds {
			if kind.Splits() || kind == collective.Barrier {
				continue
			}
			for _, ranks := range []int{2, 3, 4, 5, 8} {
				where := fmt.Sprintf("%v/%s on %d", kind, a.Name, ranks)
				spec := collective.Spec{Kind: kind, Type: dtype.Float32, Ranks: ranks, Count: 960}
				if kind.Reduces() {
					spec.Op = collective.Sum
				}
				s, err := a.Build(spec, algos.Options{})
				if err != nil {
					continue // not for so many ranks
				}
				var file bytes.Buffer
				o := msccl.WriteOptions{Runtime: "none", Protocol: "LL"}
				_, err = msccl.Write(&file, s, o)
				if kind == collective.SendRecv {
					require.ErrorContains(t, err, "send_recv has no label in a file")
					continue
				}
				if s.OneSided() {
					require.ErrorContains(t, err, "a file has sends and receives only")
					continue
				}
				require.NoError(t, err, where)
				sameBits(t, where, s, file.Bytes())
				written++
			}
		}
	}
	require.Greater(t, written, 150)
}

// sameBits holds a file to the schedule that it was written from: proven, the same bytes sent, the
// same results to the bit.
func sameBits(t *testing.T, where string, s *schedule.Schedule, file []byte) {
	back, err := msccl.Read(bytes.NewReader(file), formats.Options{Count: s.Spec.Count,
		Runtime: "none"})
	require.NoError(t, err, where)
	require.Empty(t, back.Found, where)
	want, found := proof.Verify(s, proof.Options{})
	require.Empty(t, found, where)
	got, found := proof.Verify(back.Schedule, proof.Options{})
	require.Empty(t, found, where)
	require.Equal(t, want.BytesSent, got.BytesSent, where)
	inputs, err := reference.Inputs[float32](s.Spec, reference.Normal, 3)
	require.NoError(t, err)
	bits, err := reference.Run(s, inputs)
	require.NoError(t, err)
	again, err := reference.Run(back.Schedule, inputs)
	require.NoError(t, err)
	require.Equal(t, bits, again, where)
}
