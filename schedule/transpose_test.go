package schedule_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/proof"
	"collsim/schedule"
)

// gatherLanes are all-gathers that the transposes below are made of.
func allGather(t testing.TB, ranks int, group schedule.Group,
	lane func(*schedule.Lane)) *schedule.Schedule {
	s, err := schedule.Build(
		schedule.Plan{Name: "all-gather", Group: group, Channels: 2, Slices: 2, Lane: lane,
			Spec: collective.Spec{Kind: collective.AllGather, Type: dtype.Int32, Ranks: ranks, Count: 9}})
	require.NoError(t, err)
	return s
}

func ringGather(l *schedule.Lane) {
	l.KeepSend(l.Rank+1, l.Chunk(l.Rank))
	for i := 1; i < l.Ranks-1; i++ {
		l.CopySend(l.Rank-1, l.Rank+1, l.Chunk(l.Rank-i))
	}
	l.Recv(l.Rank-1, l.Chunk(l.Rank+1))
}

func doublingGather(l *schedule.Lane) {
	l.Keep(l.Chunk(l.Rank))
	for d := 1; d < l.Ranks; d *= 2 {
		l.Send(l.Rank^d, l.Out(l.Rank&^(d-1)).Blocks(d))
		l.Recv(l.Rank^d, l.Out((l.Rank^d)&^(d-1)).Blocks(d))
	}
}

func binomialBroadcast(l *schedule.Lane) {
	v := (l.Rank - l.Root + l.Ranks) % l.Ranks
	low := 1
	for v&low == 0 && low < l.Ranks {
		low *= 2
	}
	if v != 0 {
		l.Recv(l.Rank-low, l.All())
	} else {
		l.Keep(l.All())
	}
	for d := low / 2; d > 0; d /= 2 {
		if v+d < l.Ranks {
			l.Send(l.Rank+d, l.All())
		}
	}
}

// What moves data one way, transposed sums it the other way; transposed again it is as it was.
func TestTranspose(t *testing.T) {
	for _, op := range []collective.Op{collective.Sum, collective.Avg} {
		for _, ranks := range []int{2, 3, 5, 8} {
			r, err := schedule.Transpose(allGather(t, ranks, schedule.Group{int32(ranks)}, ringGather),
				op)
			require.NoError(t, err)
			require.Contains(t, Verdict(r, proof.Options{}), "proved")
			require.Zero(t, r.Memory, "a ring sums in flight")
		}
		for _, ranks := range []int{2, 4, 8} {
			r, err := schedule.Transpose(allGather(t, ranks, nil, doublingGather), op)
			require.NoError(t, err)
			require.Contains(t, Verdict(r, proof.Options{}), "proved", r.String())
		}
		for ranks := 2; ranks < 12; ranks++ {
			s, err := schedule.Build(
				schedule.Plan{Name: "binomial", Segment: 4, Lane: func(l *schedule.Lane) {
					for tile := range l.Tiles() {
						l.Tile(tile)
						binomialBroadcast(l)
					}
				}, Spec: collective.Spec{Kind: collective.Broadcast, Type: dtype.Int32, Ranks: ranks,
					Root: ranks / 2, Count: 10}})
			require.NoError(t, err)
			require.Contains(t, Verdict(s, proof.Options{}), "proved")
			r, err := schedule.Transpose(s, op)
			require.NoError(t, err)
			require.Contains(t, Verdict(r, proof.Options{}), "proved", r.String())
		}
	}
}

// A root that reads its input for every peer divides the sum once, when it is complete.
func TestTransposeScalesOnce(t *testing.T) {
	s, err := schedule.Build(schedule.Plan{Name: "flat", Lane: func(l *schedule.Lane) {
		if l.Rank != l.Root {
			l.Recv(l.Root, l.Out(0))
			return
		}
		for i := 1; i < l.Ranks; i++ {
			l.Send(l.Root+i, l.In(0))
		}
		l.Copy(l.Out(0), l.In(0))
	}, Spec: collective.Spec{Kind: collective.Broadcast, Type: dtype.Int32, Ranks: 4, Count: 10}})
	require.NoError(t, err)
	r, err := schedule.Transpose(s, collective.Avg)
	require.NoError(t, err)
	require.Equal(t, `lane 0
  copy in into out @0
  recvReduce out, from 3 into out @0
  recvReduce out, from 2 into out @1
  recvReduce out, from 1 into out scaled @2
`, schedule.WalkText(r, 0))
	require.Contains(t, Verdict(r, proof.Options{}), "proved")
}

// Operands stand in rank order where that is possible, a sum that is only passed on is not stored,
// the root has no scratch of its own, and rounds are counted back from the last of all ranks.
func TestTransposeKeepsRankOrder(t *testing.T) {
	for ranks := 2; ranks < 20; ranks++ {
		s, err := schedule.Build(
			schedule.Plan{Name: "binomial", Lane: binomialBroadcast, Spec: collective.Spec{
				Kind: collective.Broadcast, Type: dtype.Int32, Ranks: ranks, Count: 10}})
		require.NoError(t, err)
		r, err := schedule.Transpose(s, collective.Sum)
		require.NoError(t, err)
		proven, found := proof.Verify(r, proof.Options{})
		require.Empty(t, found)
		require.True(t, proven.KeepsRankOrder)
		forward, found := proof.Verify(s, proof.Options{})
		require.Empty(t, found)
		require.Equal(t, forward.Rounds, proven.Rounds)
		require.Equal(t, forward.Messages, proven.Messages)
		require.Equal(t, ranks > 6, r.Memory > 0, "rank 4 is the first with two children")
	}
}

// Under a group rank 0's messages stand for all, in groups of several digits too.
func TestTransposeOfGroups(t *testing.T) {
	s := allGather(t, 8, schedule.Group{2, 2, 2}, doublingGather)
	r, err := schedule.Transpose(s, collective.Sum)
	require.NoError(t, err)
	proven, found := proof.Verify(r, proof.Options{})
	require.Empty(t, found)
	require.Equal(t, 3, proven.Rounds)
	require.Equal(t, schedule.Group{2, 2, 2}, r.Group)
}

func TestTransposeReadsWell(t *testing.T) {
	s := allGather(t, 5, schedule.Group{5}, ringGather)
	r, err := schedule.Transpose(s, collective.Sum)
	require.NoError(t, err)
	require.Contains(t, schedule.WalkText(r, 0), `lane 0
  send in[1] to 4 @0
  recvReduceSend from 1, in[2] to 4 @1
  recvReduceSend from 1, in[3] to 4 @2
  recvReduceSend from 1, in[4] to 4 @3
  recvReduceCopy from 1, in[0] into out @4
`)
}

func TestTransposeRefuses(t *testing.T) {
	_, err := schedule.Transpose(schedule.Ring(t, 4, 100, nil), collective.Sum)
	require.EqualError(t, err, "all_reduce has no transpose")
	own, err := schedule.Build(
		schedule.Plan{Name: "by-scratch", Scratch: 1, Lane: func(l *schedule.Lane) {
			l.Copy(l.Scratch(0), l.In(0))
			l.Copy(l.Out(l.Rank), l.Scratch(0))
			l.Send(l.Rank+1, l.Out(l.Rank))
			l.Recv(l.Rank+1, l.Out(l.Rank+1))
		}, Spec: collective.Spec{Kind: collective.AllGather, Type: dtype.Int32, Ranks: 2, Count: 9}})
	require.NoError(t, err)
	_, err = schedule.Transpose(own, collective.Sum)
	require.EqualError(t, err, "transpose of by-scratch: rank 0 lane 0: scratch is not "+
		"free to hold sums of the output")
	s := allGather(t, 3, nil, func(l *schedule.Lane) {
		ringGather(l)
		l.Post()
	})
	_, err = schedule.Transpose(s, collective.Sum)
	require.EqualError(t, err, "transpose of all-gather: rank 0 lane 0 step 2: "+
		"recv: only copies and messages of data are transposed")
}
