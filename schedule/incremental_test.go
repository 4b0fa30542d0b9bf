package schedule

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
)

// TestPending: whatever an author writes, under a group or not, it is the same program whether long
// loops are counted or rolled up step by step, or the same misuse.
func TestPending(t *testing.T) {
	var counted, wrong [2]int
	for i := range tier.Raced(150, 600, 6_000) {
		rng := rand.New(rand.NewPCG(uint64(i), 17))
		spec := collective.Spec{Kind: []collective.Kind{collective.AllGather, collective.ReduceScatter,
			collective.AllToAll, collective.AllReduce}[min(rng.IntN(8), 3)], Ranks: 3 + rng.IntN(9),
			Type: dtype.Int8, Count: 720}
		group := []Group{nil, {int32(spec.Ranks)}}[i%2]
		if spec.Kind == collective.AllReduce || spec.Kind == collective.ReduceScatter {
			spec.Op = collective.Sum
		}
		segment := []int64{0, 0, 1 + rng.Int64N(100)}[rng.IntN(3)]
		var phases []func(l *Lane)
		for range 1 + rng.IntN(5) {
			phases = append(phases, phase(rng, spec))
		}
		texts, errs := [2]string{}, [2]error{}
		for slow := range 2 {
			most := 0
			s, err := Build(Plan{Spec: spec, Group: group, Lanes: 2, Segment: segment,
				Lane: func(l *Lane) {
					l.pending.isOff = slow == 1
					for _, p := range phases {
						p(l)
						most = max(most, l.pending.more)
					}
				}})
			if errs[slow] = err; err == nil {
				texts[slow] = s.String()
			}
			if most > 1 {
				counted[i%2]++
			}
			require.True(t, slow == 0 || most == 0)
		}
		require.Equal(t, errs[1], errs[0], "%d", i)
		require.Equal(t, texts[1], texts[0], "%d", i)
		if errs[0] != nil {
			wrong[i%2]++
		}
	}
	t.Logf("%d counted, %d wrong", counted, wrong)
	require.Greater(t, min(counted[0], counted[1]), 20)
	require.Greater(t, min(wrong[0], wrong[1]), 5)
}

// TestPendingEnds: a counted loop ends where blocks begin again with the first, by any numbering,
// and where a round is requested other than the next.
func TestPendingEnds(t *testing.T) {
	lanes := []func(l *Lane){func(l *Lane) {
		for i := range 12 {
			r := l.Out(0)
			r.First = int32(2 + i)
			l.Recv(l.Rank+1, r)
		}
	}}
	for round := range 12 {
		lanes = append(lanes, func(l *Lane) {
			for i := range 10 {
				if i == 6 {
					l.Round(round)
				}
				l.Copy(l.Out(0), l.Out(1))
			}
		})
	}
	spec := collective.Spec{Kind: collective.AllGather, Ranks: 7, Type: dtype.Int8, Count: 720}
	for i, lane := range lanes {
		var texts [2]string
		for slow := range texts {
			s, err := Build(Plan{Spec: spec, Lanes: 2, Lane: func(l *Lane) {
				l.pending.isOff = slow == 1
				lane(l)
			}})
			require.NoError(t, err)
			texts[slow] = s.String()
		}
		require.Equal(t, texts[1], texts[0], "%d", i)
	}
}

// phase writes some steps over and over, with blocks and peers that move or do not, and now and
// then something in between.
func phase(rng *rand.Rand, spec collective.Spec) func(l *Lane) {
	times, verb, other := 1+rng.IntN(30), rng.IntN(11), rng.IntN(28)
	to, turn := 1+rng.IntN(spec.Ranks-1), rng.IntN(12)/11
	at, step := rng.IntN(10), rng.IntN(5)-2
	tile, way, jump := rng.IntN(4), rng.IntN(4)-1, rng.IntN(30)
	return func(l *Lane) {
		for i := range times {
			if tiles := l.Tiles(); tiles > 1 {
				l.Tile(((tile+i*way)%tiles + tiles) % tiles)
			}
			block := l.Chunk(at + i*step)
			if spec.Kind == collective.AllToAll {
				block = l.Out(at + i*step)
			}
			peer := to + i*turn
			switch verb {
			case 0:
				l.Send(peer, block)
			case 1:
				l.Recv(-peer, block)
			case 2:
				l.Reduce(-peer, block)
			case 3:
				l.ReduceSend(-peer, peer, block)
			case 4:
				l.CopySend(-peer, peer, block)
			case 5:
				l.ReduceCopySend(-peer, peer, block)
			case 6:
				l.Accumulate(-peer, block)
			case 7:
				l.Copy(l.Out(at+i), l.In(at+2*i))
			case 8:
				l.Copy(l.Out(at+i*step), l.Out(at+i*step+1))
			case 9:
				l.Combine([]Region{block}, nil, l.From(peer), l.From(to-i))
			case 10: // of numbers that no block has
				r := l.Out(0)
				r.First = int32(at + i*step)
				l.Recv(-peer, r)
			}
			switch {
			case other == 0 && i == times/2, other == 1 && i > 3:
				l.Post()
			case other == 2 && i == times/2, other == 3:
				l.Round(3 * i)
			case other == 9:
				l.Round(at + i)
			case other == 11 && i == times/2:
				l.Round(jump)
			case other == 10:
				l.Round(at + max(i, times/2))
			case other == 4 && i == times/2, other == 5 && i%2 == 0:
				l.Signal(1)
			case other == 8 && i == times/2:
				for range 4 {
					l.Signal(1)
				}
			case other == 6 && i == times/2:
				l.Facing(1 - l.Index)
			case other == 7 && i == times-1:
				l.Completes()
			}
		}
	}
}
