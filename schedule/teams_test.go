package schedule

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"
)

// Two rings of three, on the even and the odd ranks, and a rank that does nothing.
func TestBeside(t *testing.T) {
	member := Ring(t, 3, 30, nil)
	s, err := Beside(7, Team{[]int{0, 2, 4}, member}, Team{[]int{5, 3, 1}, member})
	require.NoError(t, err)
	require.Equal(t, 0, s.Program(6).Lanes())
	var step Step
	p := s.Program(3) // plays rank 1 of the second team: before it 5, after it 1
	c := p.Walk(0)
	c.Next(1)
	p.Load(&c, &step)
	require.Equal(t, "recvReduceSend from 5, in[0] to 1 @1", member.StepText(0, &step))
	require.Equal(t, 3, p.Rank())
	n, known := s.Size(Spot{Rank: 3}, &step)
	require.True(t, known)
	require.Equal(t, int64(10), n)
	require.Zero(t, s.Len(Input, 6))

	counts, err := Execute(s, Limits{Slots: 2}, Hooks{})
	require.NoError(t, err)
	require.Equal(t, Counts{Steps: 2 * 3 * 5, Messages: 2 * 3 * 4, Rounds: 4, InFlight: 2}, counts)
	again, err := Beside(7, Team{[]int{0, 2, 4}, Ring(t, 3, 30, nil)}, Team{[]int{5, 3, 1}, member})
	require.NoError(t, err)
	require.True(t, Equal(s, again))
	require.False(t, Equal(s, member))
	other, err := Beside(7, Team{[]int{0, 2, 4}, member}, Team{[]int{5, 1, 3}, member})
	require.NoError(t, err)
	require.False(t, Equal(s, other))
}

// swapOf is an exchange of two ranks, under its name, with further facts of its header.
func swapOf(t testing.TB, name, facts string) *Schedule {
	t.Helper()
	text := strings.Replace(smallText, "schedule swap", "schedule "+name, 1)
	return MustParse(t, strings.Replace(text, "count 4\n", "count 4\n"+facts, 1))
}

// TestTeamsText: what stands there, line by line, and that it is read back as the same.
func TestTeamsText(t *testing.T) {
	a, b := swapOf(t, "swap", ""), swapOf(t, "other way", "")
	s, err := Beside(7, Team{[]int{0, 2}, a}, Team{[]int{6, 1}, b}, Team{[]int{5, 3}, a})
	require.NoError(t, err)
	const want = `schedule swap
ranks 7
team 0 2
  schedule swap
  collective send_recv float32
  ranks 2
  count 4
  group 2
  rank *
    lane 0
      send in to 1 @0
      recv from 1 into out @0
team 6 1
  schedule other way
  collective send_recv float32
  ranks 2
  count 4
  group 2
  rank *
    lane 0
      send in to 1 @0
      recv from 1 into out @0
team 5 3 as 0
`
	require.Equal(t, want, s.String())
	back := MustParse(t, want)
	require.Equal(t, want, back.String())
	require.True(t, Equal(s, back))
	require.Equal(t, s.Spec, back.Spec)
	require.Same(t, back.Teams()[0].Schedule, back.Teams()[2].Schedule)
	require.Nil(t, a.Teams())

	commented := strings.ReplaceAll("# two\n"+want, "  ranks 2", "\n# a comment\n  ranks 2 # each")
	require.Equal(t, want, MustParse(t, commented).String())
}

func TestTeamsTextErrors(t *testing.T) {
	half := strings.ReplaceAll("\n"+strings.TrimSpace(smallText), "\n", "\n  ") + "\n"
	whole := "schedule swaps\nranks 5\nteam 0 2" + half + "team 4 3 as 0\n"
	MustParse(t, whole)
	for _, c := range []struct{ edit, want string }{
		{"- ranks 5", "line 2: above the teams stands how many ranks there are in all, as in ranks 8"},
		{"- ranks 5\n+ ranks 5\n+ count 4",
			`line 4: "count" stands above the teams; each says so itself`},
		{"- ranks 5\n+ ranks 4",
			"line 13: schedule: rank 4 of team 1 is in another team, or none of the ranks 0…3"},
		{"- team 0 2\n+ team 0 3",
			"line 13: schedule: rank 3 of team 1 is in another team, or none of the ranks 0…4"},
		{"- team 0 2\n+ team 0 2 1", "line 3: schedule: team 0 has 3 ranks, its schedule 2"},
		{"- team 0 2\n+ team 0 x", `line 3: "x": a number from 0 to 65536 is expected`},
		{"- team 0 2\n+ team", "line 3: a number is missing"},
		{"-   count 4\n+  count 4", "line 7: what a team does is indented by 2"},
		{"-   count 4\n+ count 4", "line 6: the text ends after 0 programs; 2 are needed"},
		{"-     lane 0\n+     lane 1", "line 10: lane 1: lane 0 is to come"},
		{"- team 4 3 as 0\n+ team 4 3 as 1",
			"line 13: as 1: the number of a team above is expected, counted from 0"},
		{"- team 4 3 as 0\n+ team 4 3 as x",
			"line 13: as x: the number of a team above is expected, counted from 0"},
		{"- team 4 3 as 0\n+ team 4 3", "line 13: what the team does stands below it, indented by 2, " +
			"or it is as a team above"},
		{"- team 4 3 as 0\n+ team 4 3 as 0\n+   ranks 2",
			"line 13: as 0: a schedule of its own is not expected"},
		{"- team 4 3 as 0\n+ team 4 3 as 0\n+ count 2",
			`line 14: "count": a team is expected, or what it does, indented below it`},
		{"-   ranks 2\n+   ranks 2\n+   team 0 1", "line 7: a team has no teams"},
	} {
		_, err := Parse(Damage(t, whole, c.edit))
		require.EqualError(t, err, c.want, c.edit)
	}
	_, err := Parse(smallText + "team 0 1\n")
	require.EqualError(t, err, `line 10: "collective" stands above the teams; each says so itself`)
}

// TestTeamsBounds: many teams do together what one may not.
func TestTeamsBounds(t *testing.T) {
	text := "schedule\nranks 6\nteam 0 1\n  schedule\n  collective send_recv float32\n  ranks 2\n" +
		"  count 4\n  group 2\n  rank *\n    lane 0\n      loop 16777216\n        loop 16\n" +
		"          nop @0\n"
	MustParse(t, text+"team 2 3 as 0\n")
	_, err := Parse(text + "team 2 3 as 0\nteam 4 5 as 0\n")
	require.EqualError(t, err, "line 15: with this team there are 6 lanes, and 1610612736 blocks and "+
		"peers; at most 4194304 and 1073741824 are read")
}

// TestTeamsRoundTrip: any division of ranks into teams, which share schedules or not, is read back
// as it was.
func TestTeamsRoundTrip(t *testing.T) {
	properties := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(2))
	properties.Property("a text of teams is read back", prop.ForAll(func(seed int64) bool {
		r := rand.New(rand.NewPCG(uint64(seed), 4))
		ranks := r.Perm(2 + r.IntN(14))
		made := map[int]*Schedule{}
		var teams []Team
		for left := ranks[:1+r.IntN(len(ranks)-1)]; len(left) > 0; {
			n := 1 + r.IntN(len(left))
			if made[n] == nil || r.IntN(3) == 0 {
				made[n] = Ring(t, n, int64(r.IntN(50)), nil)
			}
			teams = append(teams, Team{left[:n], made[n]})
			left = left[n:]
		}
		s, err := Beside(len(ranks), teams...)
		if err != nil {
			return false
		}
		back, err := Parse(s.String())
		return err == nil && back.String() == s.String() && Equal(s, back) &&
			back.Spec.Ranks == len(ranks)
	}, gen.Int64Range(0, 1<<40)))
	properties.TestingRun(t)
}

func TestBesideRefuses(t *testing.T) {
	member := Ring(t, 3, 30, nil)
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
			Ring(t, 3, 30, func(p *Plan) { p.Slices = 2 })}}, "schedule: team 1 does another " +
			"collective, or has other slots or slices, than team 0"},
	} {
		_, err := Beside(6, c.teams...)
		require.EqualError(t, err, c.want)
	}
}
