package schedule

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Two rings of three, on the even and the odd ranks, and a rank that does nothing.
func TestBeside(t *testing.T) {
	member := ring(t, 3, 30, nil)
	s, err := Beside(7, Team{[]int{0, 2, 4}, member}, Team{[]int{5, 3, 1}, member})
	require.NoError(t, err)
	require.Equal(t, 0, s.Program(6).Lanes())
	var step Step
	p := s.Program(3) // plays rank 1 of the second team: before it 5, after it 1
	c := p.Walk(0)
	c.Next(1)
	p.Load(&c, &step)
	require.Equal(t, "recvReduceSend from 5, in[0] to 1 @1", member.stepText(0, &step))
	require.Equal(t, 3, p.Rank())
	n, known := s.Size(Spot{Rank: 3}, &step)
	require.True(t, known)
	require.Equal(t, int64(10), n)
	require.Zero(t, s.Len(Input, 6))

	counts, err := Execute(s, Limits{Slots: 2}, Hooks{})
	require.NoError(t, err)
	require.Equal(t, Counts{Steps: 2 * 3 * 5, Messages: 2 * 3 * 4, Rounds: 4, InFlight: 2}, counts)
	proof, found := Verify(s, VerifyOptions{})
	require.Empty(t, found)
	require.Equal(t, int64(2*3*4), proof.Messages)
	require.Len(t, proof.Flows, 6)
	require.Equal(t, []Flow{{0, 2, 160}, {1, 5, 160}}, proof.Flows[:2])
	again, err := Beside(7, Team{[]int{0, 2, 4}, ring(t, 3, 30, nil)}, Team{[]int{5, 3, 1}, member})
	require.NoError(t, err)
	require.True(t, Equal(s, again))
	require.False(t, Equal(s, member))
	other, err := Beside(7, Team{[]int{0, 2, 4}, member}, Team{[]int{5, 1, 3}, member})
	require.NoError(t, err)
	require.False(t, Equal(s, other))
	require.Contains(t, s.String(), "# ranks 0 2 4\n# ranks 5 3 1\nschedule ring\n")
}

func TestBesideRefuses(t *testing.T) {
	member := ring(t, 3, 30, nil)
	for _, c := range []struct {
		teams []Team
		want  string
	}{
		{nil, "schedule: no team"},
		{[]Team{{[]int{0, 1}, member}}, "schedule: team 0 has 2 ranks, its schedule 3"},
		{[]Team{{[]int{0, 1, 2}, member}, {[]int{2, 3, 4}, member}},
			"schedule: rank 2 of team 1 is in another team, or none of the ranks 0…5"},
		{[]Team{{[]int{0, 1, 6}, member}},
			"schedule: rank 6 of team 0 is in another team, or none of the ranks 0…5"},
		{[]Team{{[]int{0, 1, 2}, member}, {[]int{3, 4, 5},
			ring(t, 3, 30, func(p *Plan) { p.Slices = 2 })}}, "schedule: team 1 does another " +
			"collective, or has other slots or slices, than team 0"},
	} {
		_, err := Beside(6, c.teams...)
		require.EqualError(t, err, c.want)
	}
}
