package mpi

import (
	"context"
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/hwtest"
	"collsim/internal/tier"
	"collsim/proof"
	"collsim/schedule"
)

// specsOf are collectives of float32 of a kind.
func specsOf(kind collective.Kind, ranks int) collective.Spec {
	s := collective.Spec{Kind: kind, Type: dtype.Float32, Ranks: ranks, Count: 29}
	switch {
	case kind == collective.Barrier:
		s.Type, s.Count = 0, 0
	case kind.Splits():
		s.Count = 0
		rows := 1
		if kind == collective.AllToAllV {
			rows = ranks
		}
		for i := range rows {
			var row []int64
			for j := range ranks {
				row = append(row, int64((i+2*j)%5))
			}
			s.Splits = append(s.Splits, row)
		}
	}
	if kind.Reduces() {
		s.Op = collective.Sum
	}
	if kind.Rooted() {
		s.Root = 1
	}
	return s
}

// testEveryAlgorithm: every algorithm of ours that sends messages has the bits that the interpreter
// gives, of every kind and of 2 to 6 ranks, in the short tier of 3 and 6 by turns; those that are
// one-sided are refused by name.
func testEveryAlgorithm(t *testing.T, d *Executor) {
	executed, refused, turn := 0, map[string]bool{}, 0
	for _, a := range algos.Table() {
		for _, kind := range a.Kinds {
			turn = 1 - turn
			for _, ranks := range tier.Of([][]int{{3}, {6}}[turn], []int{2, 3, 4, 5, 6}) {
				s, err := a.Build(specsOf(kind, ranks), algos.Options{})
				if err != nil {
					continue // it is not for so many ranks
				}
				in, env := sensitive(&s.Spec, uint64(ranks)), hw.Env{Iterations: 2}
				if ranks%2 == 0 {
					p, found := proof.Verify(s, proof.Options{})
					require.Empty(t, found)
					env.Slots = p.MinSlots // as few as will do
				}
				r, err := d.Run(context.Background(), &hw.Job{Schedule: s, Inputs: in, Env: env})
				if err != nil {
					require.ErrorContains(t, err, "is one-sided: messages alone can't execute it")
					refused[a.Name] = true
					continue
				}
				executed++
				require.Zero(t, differing(t, oracle(t, s, in), r.Outputs), "%s %v, %d ranks", a.Name, kind,
					ranks)
			}
		}
	}
	require.Greater(t, executed, tier.Of(40, 200))
	require.Equal(t, map[string]bool{"low-contention": true}, refused)
}

// testTeams: teams execute beside each other, each with the mean of its own ranks, and who is in
// none does nothing.
func testTeams(t *testing.T, d *Executor) {
	a, err := algos.Find(collective.AllReduce, "ring")
	require.NoError(t, err)
	of := func(ranks int, count int64) *schedule.Schedule {
		s, err := a.Build(collective.Spec{Kind: collective.AllReduce, Op: collective.Avg,
			Type: dtype.Float32, Ranks: ranks, Count: count}, algos.Options{})
		require.NoError(t, err)
		return s
	}
	two := of(2, 9)
	parts := []schedule.Part{{Ranks: []int{0, 2, 4}, Schedule: of(3, 40)},
		{Ranks: []int{5, 3}, Schedule: two}}
	if tier.Long {
		parts = append(parts, schedule.Part{Ranks: []int{7, 6}, Schedule: two})
	}
	s, err := schedule.Compose("", mostRanks, nil, parts)
	require.NoError(t, err)
	in := make([][]byte, mostRanks)
	for rank := range in {
		for i := range s.Len(schedule.Input, rank) {
			x := math.Float32bits(float32(rank) + float32(i)/3)
			in[rank] = binary.LittleEndian.AppendUint32(in[rank], x)
		}
	}
	r, err := d.Run(context.Background(), &hw.Job{Schedule: s, Inputs: in,
		Env: hw.Env{Iterations: 2}})
	require.NoError(t, err)
	for _, team := range s.Teams() {
		own := make([][]byte, len(team.Ranks))
		for place, rank := range team.Ranks {
			own[place] = in[rank]
		}
		for place, out := range oracle(t, team.Schedule, own) {
			require.Equal(t, out, append([]byte{}, r.Outputs[team.Ranks[place]]...))
		}
	}
}

// testTimeline: a trace has each message of a ring, and fits the fastest repetition.
func testTimeline(t *testing.T, d *Executor) {
	a, err := algos.Find(collective.AllReduce, "ring")
	require.NoError(t, err)
	spec := specsOf(collective.AllReduce, 4)
	spec.Count = 50_000
	s, err := a.Build(spec, algos.Options{Channels: 2, Slices: 2})
	require.NoError(t, err)
	in := sensitive(&s.Spec, 1)
	r, err := d.Run(context.Background(), &hw.Job{Schedule: s, Inputs: in,
		Env: hw.Env{Warmup: 1, Repetitions: 4, Iterations: 2, Slots: 3, Trace: true}})
	require.NoError(t, err)
	require.Zero(t, differing(t, oracle(t, s, in), r.Outputs))
	require.Len(t, r.Repetitions, 4)
	require.NoError(t, r.Trace.Validate())
	require.Len(t, r.Trace.Tracks, 8)
	require.Len(t, r.Trace.Messages, 4*6*2*2*2) // ranks, rounds, channels, slices, iterations
	fastest := r.Repetitions[r.Fastest()]
	require.Less(t, r.Trace.End, fastest.Time+r.Skew+10_000_000)
	require.Contains(t, r.RanOn.String(), "mpi (Open MPI v")
}

// TestStall: a run that cannot go on is ended, and says who waits for whom. Its ranks keep all
// processors busy until then.
func TestStall(t *testing.T) {
	d := device(t, Config{})
	d.meet(t, 3)
	timeout := hwtest.Patient(300 * time.Millisecond)
	s, in, reported := hwtest.Circle(t, timeout)
	_, err := d.Run(context.Background(), &hw.Job{Schedule: s, Inputs: in,
		Env: hw.Env{Timeout: timeout}})
	require.EqualError(t, err, reported)
}
