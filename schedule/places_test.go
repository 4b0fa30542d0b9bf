package schedule

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
)

// fromNext is a plan in which every rank gathers the blocks of the next places, one by one, in two
// channels that go around in opposite directions.
func fromNext(ranks int) Plan {
	at := func(channel, of int) int {
		if channel == 1 {
			return ranks - 1 - of
		}
		return of
	}
	tile, block := Level{Axis: Tile, N: 2}, Level{Axis: Block, N: int64(ranks)}
	whole := Cut{tile}
	own := [3]Cut{whole, {block, tile}, whole}
	block.ByRank = true
	return Plan{Name: "from next", Channels: 2, Cuts: &own,
		Spec:   collective.Spec{Kind: collective.AllGather, Type: dtype.Float32, Ranks: ranks, Count: 6},
		Places: &Places{Rank: at, Place: at, Cuts: &[3]Cut{whole, {block, tile}, whole}},
		Lane: func(l *Lane) {
			l.Tile(l.Channel)
			l.Copy(l.Out(0), l.In(0))
			for far := 1; far < ranks; far++ {
				l.Send(-far, l.In(0))
				l.Recv(far, l.Out(far))
			}
		}}
}

// TestPlaces: a lane counts in places from its own rank on, and peers and blocks are those of the
// ranks there.
func TestPlaces(t *testing.T) {
	s, err := Build(fromNext(5))
	require.NoError(t, err)
	p := s.Program(1)
	var step Step
	for lane, next := range []int32{2, 0} {
		c := p.Walk(lane)
		p.Load(&c, &step)
		require.Equal(t, int32(1), step.To[0].First)
		c.Next(1)
		c.Next(1)
		p.Load(&c, &step)
		require.Equal(t, next, step.From[0].Peer.Rank)
		require.Equal(t, next, step.To[0].First)
	}
	straight, strips := Straight(s)
	require.Nil(t, strips)
	require.Equal(t, Rotations(5), straight.Group)
	require.Equal(t, s.Program(0).Lanes(), straight.Program(0).Lanes())
	other := *s
	other.Spec.Count++
	straight, _ = Straight(&other)
	require.Nil(t, straight)

	grouped := fromNext(5)
	grouped.Group = Rotations(5)
	_, err = Build(grouped)
	require.ErrorContains(t, err, "without a group")
}

// TestPlacesAreOfRanksAnywhere: what repeats itself in places need not do so in ranks, and what
// depends on the numbers of ranks is misuse.
func TestPlacesAreOfRanksAnywhere(t *testing.T) {
	const ranks = 40
	order := make([]int, ranks) // linear where Repeat looks, from some places
	for i := range order {
		order[i] = ranks - 1 - i
	}
	order[20], order[23] = order[23], order[20]
	plan := func(repeat func(l *Lane, times int, f func(i int))) *Schedule {
		p := fromNext(ranks)
		p.Places.Rank = func(_, at int) int { return order[at] }
		p.Places.Place = func(_, rank int) int { return slices.Index(order, rank) }
		p.Lane = func(l *Lane) {
			l.Tile(l.Channel)
			l.Copy(l.Out(0), l.In(0))
			repeat(l, ranks-1, func(i int) {
				l.Send(-1-i, l.In(0))
				l.Recv(1+i, l.Out(1+i))
			})
		}
		s, err := Build(p)
		require.NoError(t, err)
		return s
	}
	require.True(t, Equal(plan(func(l *Lane, times int, f func(i int)) {
		for i := range times {
			f(i)
		}
	}), plan((*Lane).Repeat)))
	for what, lane := range map[string]func(*Lane){
		"one by one":     func(l *Lane) { l.Recv(1, l.Out(1).Blocks(2)) },
		"have no order":  func(l *Lane) { l.ReduceRanked(1, l.Out(1)) },
		"named by their": func(l *Lane) { l.Send(1, l.Chunk(0)) },
		"knows how many": func(l *Lane) { l.Tile(l.Tiles() - 1) },
	} {
		p := fromNext(5)
		p.Lane = lane
		_, err := Build(p)
		require.ErrorContains(t, err, what)
	}
}
