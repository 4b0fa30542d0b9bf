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

// on is a part on ranks.
func on(s *Schedule, ranks ...int) Part { return Part{Ranks: ranks, Schedule: s} }

// Two rings of three, on the even and the odd ranks, and a rank that does nothing.
func TestTeams(t *testing.T) {
	member := Ring(t, 3, 30, nil)
	s, err := Compose("", 7, nil, []Part{on(member, 0, 2, 4), on(member, 5, 3, 1)})
	require.NoError(t, err)
	require.Equal(t, 0, s.Program(6).Lanes())
	var step Step
	p := s.Program(3) // executes rank 1 of the second team: before it 5, after it 1
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
	alike := on(Ring(t, 3, 30, nil), 0, 2, 4)
	again, err := Compose("", 7, nil, []Part{alike, on(member, 5, 3, 1)})
	require.NoError(t, err)
	require.True(t, Equal(s, again))
	require.False(t, Equal(s, member))
	other, err := Compose("", 7, nil, []Part{on(member, 0, 2, 4), on(member, 5, 1, 3)})
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
	s, err := Compose("", 7, nil, []Part{on(a, 0, 2), on(b, 6, 1), on(a, 5, 3)})
	require.NoError(t, err)
	const want = `schedule
ranks 7
part ranks 0,2
  schedule swap
  collective send_recv float32
  ranks 2
  count 4
  group 2
  rank *
    lane 0
      send in to 1 @0
      recv from 1 into out @0
part ranks 6,1
  schedule other way
  collective send_recv float32
  ranks 2
  count 4
  group 2
  rank *
    lane 0
      send in to 1 @0
      recv from 1 into out @0
part ranks 5,3 as 0
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
	whole := "schedule swaps\nranks 5\npart ranks 0,2" + half + "part ranks 4,3 as 0\n"
	MustParse(t, whole)
	for _, c := range []struct{ edit, want string }{
		{"- ranks 5", "line 2: above the parts stands how many ranks there are in all, as in ranks 8"},
		{"- ranks 5\n+ ranks 5\n+ count 4",
			`line 4: "count" stands above the parts; each says so itself`},
		{"- ranks 5\n+ ranks 4", "line 13: rank 4 is none of the 4"},
		{"- part ranks 0,2\n+ part ranks 0,3", "line 3: in, of 4 elements, lies in no tensor; parts " +
			"that lie in none are of one kind, type and operator, slots and slices, each on ranks of " +
			"its own, and on no stream"},
		{"- part ranks 0,2\n+ part ranks 0,2,1", "line 3: 3 ranks are to execute a schedule of 2"},
		{"- part ranks 0,2\n+ part ranks 0,x",
			"line 3: ranks 0,x: numbers such as 0,1,2 are expected, one of stream and as"},
		{"- part ranks 0,2\n+ part ranks", "line 3: ranks takes numbers"},
		{"-   count 4\n+  count 4", "line 7: what a part does is indented by 2"},
		{"-   count 4\n+ count 4", "line 6: the text ends after 0 programs; 2 are needed"},
		{"-     lane 0\n+     lane 1", "line 10: lane 1: lane 0 is to come"},
		{"- part ranks 4,3 as 0\n+ part ranks 4,3 as 1", "line 13: as 1: the number of a part above is " +
			"expected, counted from 0, and no schedule of its own"},
		{"- part ranks 4,3 as 0\n+ part ranks 4,3", "line 13: what the part does stands below it, " +
			"indented by 2, or it is as a part above"},
		{"- part ranks 4,3 as 0\n+ part ranks 4,3 as 0\n+ count 2",
			`line 14: "count": a part is expected, or what it does, indented below it`},
		{"-   ranks 2\n+   ranks 2\n+   part ranks 0,1", "line 7: a part has no parts"},
	} {
		_, err := Parse(Damage(t, whole, c.edit))
		require.EqualError(t, err, c.want, c.edit)
	}
	_, err := Parse(smallText + "part ranks 0,1\n")
	require.EqualError(t, err, `line 10: "collective" stands above the parts; each says so itself`)
}

// TestTeamsBounds: many teams do together what one may not.
func TestTeamsBounds(t *testing.T) {
	text := "schedule\nranks 6\npart ranks 0,1\n  schedule\n  collective send_recv float32\n" +
		"  ranks 2\n  count 4\n  group 2\n  rank *\n    lane 0\n      loop 16777216\n        loop 16\n" +
		"          nop @0\n"
	MustParse(t, text+"part ranks 2,3 as 0\n")
	_, err := Parse(text + "part ranks 2,3 as 0\npart ranks 4,5 as 0\n")
	require.EqualError(t, err, "line 15: with this part there are 6 lanes, and 1610612736 blocks and "+
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
		var teams []Part
		for left := ranks[:1+r.IntN(len(ranks)-1)]; len(left) > 0; {
			n := 1 + r.IntN(len(left))
			if made[n] == nil || r.IntN(3) == 0 {
				made[n] = Ring(t, n, int64(r.IntN(50)), nil)
			}
			teams = append(teams, Part{Ranks: left[:n], Schedule: made[n]})
			left = left[n:]
		}
		s, err := Compose("", len(ranks), nil, teams)
		if err != nil {
			return false
		}
		back, err := Parse(s.String())
		return err == nil && back.String() == s.String() && Equal(s, back) &&
			back.Spec.Ranks == len(ranks)
	}, gen.Int64Range(0, 1<<40)))
	properties.TestingRun(t)
}

func TestTeamsRefused(t *testing.T) {
	member := Ring(t, 3, 30, nil)
	const nowhere = "part 0 (ring): in, of 30 elements, lies in no tensor; parts that lie " +
		"in none are of one kind, type and operator, slots and slices, each on ranks of its own, and " +
		"on no stream"
	for _, c := range []struct {
		parts []Part
		want  string
	}{
		{[]Part{on(member, 0, 1)}, "part 0 (ring): 2 ranks are to execute a schedule of 3"},
		{[]Part{on(member, 0, 1, 2), on(member, 2, 3, 4)},
			nowhere},
		{[]Part{on(member, 0, 1, 6)},
			"part 0 (ring): rank 6 is none of the 6"},
		{[]Part{on(member, 0, 1, 2), on(Ring(t, 3, 30, func(p *Plan) { p.Slices = 2 }), 3, 4, 5)},
			nowhere},
		{[]Part{on(member, 0, 1, 2), {Ranks: []int{3, 4, 5}, Schedule: member, Stream: 1}}, nowhere},
		{[]Part{on(member, 0, 1, 2), {Schedule: Ring(t, 6, 30, nil)}}, nowhere},
	} {
		_, err := Compose("", 6, nil, c.parts)
		require.EqualError(t, err, c.want)
	}
}
