package callbacks

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/proof"
	"collsim/schedule"
)

// Puts of one lane to one peer land in the order in which they were issued, whatever arrives first:
// the second block stays. Packets keep their own order.
func TestPutsLandInOrder(t *testing.T) {
	for _, mark := range []string{"", " packet"} {
		s, err := schedule.Parse(`schedule ordered
collective custom int32
ranks 2
splits 2 0
splits 0 1
cut in block even 2
rank 0
  lane 0
    put in[0] to 1:1 at out` + mark + ` @0
    put in[1] to 1:2 at out` + mark + ` @1
    flush @1
rank 1
  lane 0
    wait from put 0:2 @0
    wait from put 0:1 @0
`)
		require.NoError(t, err)
		for seed := range uint64(20) {
			got, err := execute(s, [][]int32{{4, 5}, {}},
				Config{Next: rand.New(rand.NewPCG(seed, 3)).IntN}, hw.Env{})
			require.NoError(t, err)
			require.Equal(t, [][]int32{{}, {5}}, got, seed)
		}
	}
}

// A mean over teams is over the ranks of the team.
func TestMeanOfTeams(t *testing.T) {
	for _, avg := range []collective.AvgMode{collective.AvgNCCL, collective.AvgPost} {
		s := means(t, avg)
		out, err := execute(s, [][]float32{{0, 1}, {16, 20, 24}, {32, 35}, {48, 52, 56}, {64, 68, 72}},
			Config{}, hw.Env{})
		require.NoError(t, err)
		// (0 + 32)/2, (1 + 35)/2; (16 + 48 + 64)/3 is 42⅔, (20 + 52 + 68)/3 is 46⅔ and so on
		require.Equal(t, [][]float32{{16}, {}, {18}, {}, {}}, [][]float32{out[0], {}, out[2], {}, {}})
		require.InDeltaSlice(t, []float32{128. / 3, 152. / 3, 140. / 3},
			[]float32{out[1][0], out[3][0], out[4][0]}, 1e-5)
	}
}

// means is a mean scattered by two teams: ranks 0 and 2, and 1, 4 and 3.
func means(t *testing.T, avg collective.AvgMode) *schedule.Schedule {
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

// What does not fit is an error, as in the interpreter.
func TestSizesThatDiffer(t *testing.T) {
	s, err := schedule.Parse(`schedule
collective broadcast float32
ranks 2
root 0
count 4
cut in block even 4
rank 0
  lane 0
    send in[0] to 1 @0
rank 1
  lane 0
    recv from 0 into out @0
`)
	require.NoError(t, err)
	_, err = execute(s, [][]float32{{1, 2, 3, 4}, {}}, Config{}, hw.Env{})
	require.EqualError(t, err,
		"rank 1 lane 0 step 0: step: malformed: 4 bytes for a region of 16")
}
