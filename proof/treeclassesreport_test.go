package proof

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// crossed is an all_reduce in which ranks 0 and 1 do the same, with peers two and four further on.
// Rank 2 adds up in rank order what it has of 0, what 5 passes on of 1, and the rest; rank 3, which
// has 1 from itself and 0 by way of 4, does as it likes. Both stand as far from what they have. So
// what 0 has of 2 and 1 has of 3 may differ, and so may what 3 keeps.
//
//	0 ─► 2 ─► 0     1 ─► 3 ─► 1     2, 3 ─► 4, 5
//	└──► 4 ─► 3     └──► 5 ─► 2
func crossed(t *testing.T, second func(l *schedule.Lane, zero, one, rest schedule.Region),
	takes, passes bool) *schedule.Schedule {
	spec := collective.Spec{Kind: collective.AllReduce, Ranks: 6, Count: 2, Type: dtype.Float32,
		Op: collective.Avg, InPlace: true}
	s, err := schedule.Build(schedule.Plan{Name: "crossed", Spec: spec, Chunks: 2, Scratch: 8,
		Roles: func(rank int, peers []int32) (int64, []int32) {
			if rank < 2 {
				return 0, append(peers, int32(rank+2), int32(rank+4))
			}
			for other := range int32(6) {
				if int(other) != rank {
					peers = append(peers, other)
				}
			}
			return int64(rank), peers
		},
		Lane: func(l *schedule.Lane) {
			in, out := l.In(0).Blocks(2), l.Out(0).Blocks(2)
			zero, one, rest := l.Scratch(0).Blocks(2), l.Scratch(2).Blocks(2), l.Scratch(4).Blocks(2)
			switch l.Rank {
			case 0, 1:
				l.Send(l.Rank+2, in)
				l.Send(l.Rank+4, in)
				if passes { // both have what 2 has
					l.Recv(l.Rank+4, out)
				} else {
					l.Recv(l.Rank+2, out)
				}
			case 2:
				l.Combine([]schedule.Region{rest}, nil, l.Local(in), l.From(3), l.From(4), l.From(5))
				l.Send(3, rest)
				l.Recv(0, zero)
				l.Recv(5, one)
				l.Combine([]schedule.Region{out}, nil, l.Local(zero), l.Local(one), l.Local(rest))
				for rank := range 6 {
					if (rank == 0 && !passes) || rank > 3 || rank == 3 && takes {
						l.Send(rank, out)
					}
				}
			case 3:
				l.Send(2, in)
				l.Recv(2, rest)
				l.Recv(1, one)
				l.Recv(4, zero)
				second(l, zero, one, rest)
				if takes {
					l.Recv(2, out)
				}
			case 4, 5:
				l.Send(2, in)
				l.Recv(l.Rank-4, zero)
				l.Send(7-l.Rank, zero)
				l.Recv(2, out)
				if passes {
					l.Send(l.Rank-4, out)
				}
			}
		}})
	require.NoError(t, err)
	return s
}

// TestTreeClassesReport: a proof by one rank of each class reports violations of all ranks, and
// proves nothing where ranks of a class receive different data.
func TestTreeClassesReport(t *testing.T) {
	type region = schedule.Region
	sum := func(l *schedule.Lane, a, b, c region) {
		l.Combine([]region{l.Out(0).Blocks(2)}, nil, l.Local(a), l.Local(b), l.Local(c))
	}
	for _, c := range []struct {
		name            string
		takes, passes   bool // 3 ends with what 2 has; so do 0 and 1
		second          func(l *schedule.Lane, zero, one, rest region)
		byPlace, isSame bool
		inOrder, right  bool
	}{
		{"the same", true, false, func(l *schedule.Lane, zero, one, rest region) {
			sum(l, zero, one, rest)
			l.Send(1, l.Out(0).Blocks(2))
		}, true, true, true, true},
		{"another tree", true, false, func(l *schedule.Lane, zero, one, rest region) {
			l.Combine([]region{one}, nil, l.Local(one), l.Local(rest))
			l.Combine([]region{l.Out(0).Blocks(2)}, nil, l.Local(zero), l.Local(one))
			l.Send(1, l.Out(0).Blocks(2))
		}, false, false, true, true},
		{"another tree, which it keeps", false, true, func(l *schedule.Lane, zero, one, rest region) {
			sum(l, one, rest, zero)
		}, false, false, false, true},
		{"the rest first", true, false, func(l *schedule.Lane, zero, one, rest region) {
			l.Combine([]region{zero}, nil, l.Local(zero), l.Local(one))
			l.Combine([]region{l.Out(0).Blocks(2)}, nil, l.Local(rest), l.Local(zero))
			l.Send(1, l.Out(0).Blocks(2))
		}, false, true, false, true},
		{"scaled twice", true, false, func(l *schedule.Lane, zero, one, rest region) {
			sum(l, zero, one, rest)
			l.Send(1, l.In(0).Blocks(2))
		}, false, true, false, false},
		{"half of it", true, false, func(l *schedule.Lane, zero, one, rest region) {
			sum(l, zero, one, rest)
			l.Send(1, l.Out(0))
		}, false, true, false, false},
		{"the halves exchanged", true, false, func(l *schedule.Lane, zero, one, rest region) {
			sum(l, zero, one, rest)
			l.Combine(nil, []int{1}, l.Local(schedule.Region{Buffer: schedule.Output, First: 1, Run: 1,
				Period: -1, Times: 2}))
		}, false, true, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := crossed(t, c.second, c.takes, c.passes)
			require.Equal(t, c.byPlace, verifyTreeClasses(s, Options{Iterations: 1}) != nil)
			all, wrong := Verify(s, Options{Unfolded: true})
			require.Equal(t, c.right, len(wrong) == 0, "%v", wrong)
			got, found := Verify(s, Options{})
			require.Equal(t, wrong, found)
			if !c.right {
				return
			}
			require.Equal(t, c.isSame, all.SameTree)
			require.Equal(t, c.inOrder, all.KeepsRankOrder)
			if c.byPlace {
				for _, o := range []Options{{Iterations: 2}, {Rendezvous: true}, {Scratches: 2},
					{Traffic: true}} { // of which it knows nothing
					require.Nil(t, verifyTreeClasses(s, o))
				}
				require.Equal(t, 5, got.Walked)
				got.Walked = all.Walked
			}
			require.Equal(t, all, got)
		})
	}
}
