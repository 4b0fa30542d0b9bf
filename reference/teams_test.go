package reference

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/proof"
	"collsim/schedule"
)

// A mean over teams is over the ranks of the team, and inputs are as long as the team needs.
func TestMeanOfTeams(t *testing.T) {
	for _, avg := range []collective.AvgMode{collective.AvgNCCL, collective.AvgPost} {
		s := teamMeans(t, avg)
		in := [][]float32{{0, 1}, {16, 20, 24}, {32, 35}, {48, 52, 56}, {64, 68, 72}}
		_, err := Run(s, append([][]float32{{0}}, in[1:]...))
		require.EqualError(t, err, "rank 0 has 1 input elements; 2 are expected")
		out, err := Run(s, in)
		require.NoError(t, err)
		wide, err := RunWith(s, in, RunOptions{Accumulate: InFloat32})
		require.NoError(t, err)
		require.Equal(t, out, wide)
		// (0 + 32)/2, (1 + 35)/2; (16 + 48 + 64)/3 is 42⅔, (20 + 52 + 68)/3 is 46⅔ and so on
		require.Equal(t, [][]float32{{16}, {}, {18}, {}, {}}, [][]float32{out[0], {}, out[2], {}, {}})
		require.InDeltaSlice(t, []float32{128. / 3, 152. / 3, 140. / 3},
			[]float32{out[1][0], out[3][0], out[4][0]}, 1e-5)
	}
}

// teamMeans is a mean scattered by two teams: ranks 0 and 2, and 1, 4 and 3.
func teamMeans(t *testing.T, avg collective.AvgMode) *schedule.Schedule {
	team := func(ranks int) *schedule.Schedule {
		s, err := schedule.Build(schedule.Plan{Name: "one at a time", Spec: collective.Spec{
			Kind: collective.ReduceScatter, Op: collective.Avg, Avg: avg, Type: dtype.Float32,
			Ranks: ranks, Count: 1}, Group: schedule.Group{int32(ranks)},
			Lane: func(l *schedule.Lane) {
				sum := l.In(l.Rank)
				for i := 1; i < l.Ranks; i++ {
					l.Send(l.Rank+i, l.In(l.Rank+i))
					if i == l.Ranks-1 {
						l.Completes()
					}
					l.Combine([]schedule.Region{l.Out(0)}, nil, l.Local(sum), l.From(l.Rank-i))
					sum = l.Out(0)
				}
			}})
		require.NoError(t, err)
		_, found := proof.Verify(s, proof.Options{})
		require.Empty(t, found)
		return s
	}
	s, err := schedule.Compose("", 5, nil, []schedule.Part{{Ranks: []int{0, 2}, Schedule: team(2)},
		{Ranks: []int{1, 4, 3}, Schedule: team(3)}})
	require.NoError(t, err)
	return s
}
