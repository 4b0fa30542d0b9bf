package run_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/formats"
	"collsim/formats/goal"
	"collsim/proof"
	"collsim/schedule"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// goalSpec is a problem of a kind, with blocks of different sizes where it has them.
func goalSpec(kind collective.Kind, ranks int) collective.Spec {
	s := collective.Spec{Kind: kind, Type: dtype.Float32, Ranks: ranks, Count: 1000}
	if kind.Reduces() {
		s.Op = collective.Sum
	}
	if kind.Rooted() {
		s.Root = ranks - 1
	}
	if kind == collective.Barrier {
		s.Type, s.Count = 0, 0
	}
	if kind.Splits() {
		rows := 1
		if kind == collective.AllToAllV {
			rows = ranks
		}
		s.Count = 0
		for r := range rows {
			row := make([]int64, ranks)
			for i := range row {
				row[i] = int64(100*r + 10*i)
			}
			s.Splits = append(s.Splits, row)
		}
	}
	return s
}

// throughGoal writes a schedule as GOAL and reads it back.
func throughGoal(t *testing.T, s *schedule.Schedule) *formats.File {
	t.Helper()
	var text, again bytes.Buffer
	require.NoError(t, goal.Write(&text, s))
	require.NoError(t, goal.Write(&again, s))
	require.Equal(t, text.String(), again.String())
	f, err := goal.Read(&text, formats.Options{File: "back.goal", As: s.Spec.Kind,
		Root: s.Spec.Root})
	require.NoError(t, err)
	require.Empty(t, f.Found)
	return f
}

// TestGoalRoundTrip: whatever algorithm is written as GOAL is, read back, still a collective of its
// kind, as far as that shows without data, and moves the same messages.
func TestGoalRoundTrip(t *testing.T) {
	tried := 0
	for _, a := range algos.Table() {
		for _, kind := range a.Kinds {
			for _, ranks := range []int{2, 4, 5, 8} {
				s, err := a.Build(goalSpec(kind, ranks), algos.Options{})
				if err != nil {
					continue
				}
				tried++
				name := fmt.Sprintf("%v %s on %d ranks", kind, a.Name, ranks)
				ours, wrong := proof.Verify(s, proof.Options{Iterations: 1})
				require.Empty(t, wrong, name)
				f := throughGoal(t, s)
				if s.OneSided() { // a get is two messages there, the request and the data
					require.Empty(t, f.Found)
					continue
				}
				theirs, wrong := proof.Verify(f.Schedule,
					proof.Options{Iterations: 1, Causal: f.Causal})
				require.Empty(t, wrong, name)
				require.Equal(t, ours.BytesSent, theirs.BytesSent, name)
				require.Equal(t, ours.Messages, theirs.Messages, name)
				// Ours are as published; there are as few as the order allows.
				require.LessOrEqual(t, theirs.Rounds, ours.Rounds, name)
				if kind != collective.Barrier { // whose messages are empty, and count in ours only
					require.GreaterOrEqual(t, 2*theirs.Rounds, ours.Rounds, name)
				}
			}
		}
	}
	require.Greater(t, tried, 100)
}

// TestGoalTime: on a full mesh, where nothing is in the way of anything, what is read back takes
// the same time to the picosecond.
func TestGoalTime(t *testing.T) {
	const latency, rate = 700 * unit.Nanosecond, unit.Rate(3_000_000_000)
	for _, c := range []struct {
		kind collective.Kind
		name string
	}{
		{collective.AllReduce, "ring"}, {collective.AllReduce, "recursive-doubling"},
		{collective.Broadcast, "binomial"}, {collective.AllToAll, "pairwise"},
		{collective.AllGather, "bruck"}, {collective.AllReduce, "double-binary-tree"},
	} {
		for _, ranks := range []int{2, 3, 8, 13} {
			a, err := algos.Find(c.kind, c.name)
			require.NoError(t, err)
			s, err := a.Build(goalSpec(c.kind, ranks), algos.Options{})
			require.NoError(t, err)
			g, err := topology.FullMesh(ranks, rate, latency)
			require.NoError(t, err)
			for _, sharing := range []sim.Sharing{sim.Fluid, sim.FIFO} {
				env := sim.Env{Graph: g, Device: device.Ideal(), Sharing: sharing}
				ours, err := sim.Run(s, env, sim.Options{})
				require.NoError(t, err)
				theirs, err := sim.Run(throughGoal(t, s).Schedule, env, sim.Options{})
				require.NoError(t, err)
				require.Positive(t, ours.Time)
				require.Equal(t, ours.Time, theirs.Time, "%s on %d ranks", c.name, ranks)
				require.Equal(t, ours.BytesSent, theirs.BytesSent)
			}
		}
	}
}

// What a lane's steps become: fused steps are several operations, and nothing is in order but what
// the schedule orders.
func Example_goal() {
	a, _ := algos.Find(collective.AllReduce, "ring")
	s, _ := a.Build(collective.Spec{Kind: collective.AllReduce, Op: collective.Sum,
		Type: dtype.Float32, Ranks: 2, Count: 1024}, algos.Options{})
	var text strings.Builder
	if err := goal.Write(&text, s); err != nil {
		fmt.Println(err)
	}
	fmt.Print(text.String())
	// Output:
	// num_ranks 2
	//
	// rank 0 {
	// l1: send 2048b to 1 tag 0
	// l2: recv 2048b from 1 tag 0
	// l2 requires l1
	// l3: send 2048b to 1 tag 0
	// l3 requires l2
	// l4: recv 2048b from 1 tag 0
	// l4 requires l3
	// }
	//
	// rank 1 {
	// l1: send 2048b to 0 tag 0
	// l2: recv 2048b from 0 tag 0
	// l2 requires l1
	// l3: send 2048b to 0 tag 0
	// l3 requires l2
	// l4: recv 2048b from 0 tag 0
	// l4 requires l3
	// }
}
