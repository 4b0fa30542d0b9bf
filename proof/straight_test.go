package proof

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/schedule"
)

// placed is a random ring whose channels have random orders of the ranks, and tiles in a random
// order. A step may do something else than it should.
type placed struct {
	rng             *rand.Rand
	spec            collective.Spec
	channels, tiles int // of a channel
	order           [][]int
	tileOf          []int32
	damage, at, by  int // kind of damage, the step that has it, and by how much
	lane            *schedule.Lane
	steps           int
}

// placedRing returns a schedule with orders, and whether a step was damaged.
func placedRing(t *testing.T, rng *rand.Rand) *schedule.Schedule {
	t.Helper()
	n := 2 + rng.IntN(5)
	x := &placed{rng: rng, channels: 1 + rng.IntN(3), tiles: 1 + rng.IntN(2), damage: rng.IntN(14),
		at: rng.IntN(2 * n), by: 1 + rng.IntN(n)}
	kind := []collective.Kind{collective.AllReduce, collective.AllGather,
		collective.ReduceScatter}[rng.IntN(3)]
	parts := x.channels * x.tiles
	x.spec = collective.Spec{Kind: kind, Type: dtype.Float32, Ranks: n,
		Count: int64(parts * (1 + rng.IntN(3))), InPlace: rng.IntN(2) == 0}
	if kind.Reduces() {
		x.spec.Op = collective.Sum
	}
	p := schedule.Plan{Name: "placed", Spec: x.spec, Channels: x.channels, Lane: x.write, Even: true,
		Places: &schedule.Places{Rank: x.rank, Place: x.place}}
	tile := schedule.Level{Axis: schedule.Tile, N: int64(parts)}
	block, ofRank := schedule.Level{Axis: schedule.Block, N: int64(n)}, schedule.Level{
		Axis: schedule.Block, N: int64(n), ByRank: true}
	whole, own, blocks := schedule.Cut{tile}, schedule.Cut{block, tile}, schedule.Cut{ofRank, tile}
	switch kind {
	case collective.AllReduce:
		p.Spec.Count *= int64(n)
		if rng.IntN(8) == 0 {
			p.Spec.Count++
		}
		strips := schedule.Cut{tile, ofRank}
		p.Places.Cuts = &[3]schedule.Cut{strips, strips, strips}
		tile.N *= int64(n)
		whole = schedule.Cut{tile}
		p.Cuts = &[3]schedule.Cut{whole, whole, whole}
		for _, at := range rng.Perm(parts * n) {
			x.tileOf = append(x.tileOf, int32(at))
		}
		p.Places.Tile = func(tile, block int32) int32 { return x.tileOf[int(tile)*n+int(block)] }
		if rng.IntN(2) == 0 {
			x.uneven(&p)
		}
		if rng.IntN(16) == 0 {
			x.tileOf[0] = x.tileOf[1]
		}
	case collective.AllGather:
		p.Places.Cuts = &[3]schedule.Cut{whole, blocks, whole}
		p.Cuts = &[3]schedule.Cut{whole, own, whole}
		if rng.IntN(3) == 0 {
			p.Lane = x.shared
		}
	default:
		p.Places.Cuts = &[3]schedule.Cut{blocks, whole, whole}
		p.Cuts = &[3]schedule.Cut{own, whole, whole}
	}
	for range x.channels {
		x.order = append(x.order, rng.Perm(n))
	}
	s, err := schedule.Build(p)
	require.NoError(t, err)
	return s
}

// uneven gives the pieces of a vector random lengths, and the blocks of each tile the longest.
func (x *placed) uneven(p *schedule.Plan) {
	n, parts := x.spec.Ranks, x.channels*x.tiles
	lengths, ends := make([]int64, n*parts), make([]int64, n*parts)
	end := int64(0)
	for i := range lengths {
		lengths[i] = int64(1 + x.rng.IntN(3))
		if x.rng.IntN(100) == 0 {
			lengths[i] = 0
		}
		end += lengths[i]
		ends[i] = end
	}
	p.Spec.Count, p.Cuts[0][0] = end, schedule.Level{Split: schedule.Table, Axis: schedule.Tile,
		Ends: [][]int64{ends}}
	strips, end := make([]int64, parts), int64(0)
	for i := range strips {
		longest := int64(0)
		for _, at := range x.tileOf[i*n : (i+1)*n] {
			longest = max(longest, lengths[at])
		}
		end += longest * int64(n)
		strips[i] = end
	}
	p.Places.Cuts[0][0] = schedule.Level{Split: schedule.Table, Axis: schedule.Tile,
		Ends: [][]int64{strips}}
}

func (x *placed) rank(channel, place int) int { return x.order[channel][place] }

func (x *placed) place(channel, rank int) int {
	for place, r := range x.order[channel] {
		if r == rank {
			return place
		}
	}
	return -1
}

// hop appends a step: a message that comes, an operand, and where the value goes; damaged, if it is
// that one.
func (x *placed) hop(gets bool, own []int, into []int, sends bool) {
	l, to := x.lane, 1
	if x.damage == 6 && x.steps == 0 && len(own) > 0 && !x.spec.InPlace && len(into) == 0 &&
		x.spec.Kind == collective.AllReduce { // a detour by another block
		x.steps++
		l.Copy(l.Out(0), l.In(own[0]))
		l.Send(1, l.Out(0))
		return
	}
	if x.steps++; x.steps-1 == x.at {
		switch x.damage {
		case 0:
			return
		case 1:
			for i := range own {
				own[i] += x.by
			}
		case 2:
			for i := range into {
				into[i] += x.by
			}
		case 3:
			to = x.by
		case 4:
			l.Tile((l.Channel*x.tiles + x.by) % (x.channels * x.tiles))
		case 5:
			if len(own) > 0 && gets {
				own = nil
			}
		}
	}
	var from []schedule.Source
	if gets {
		from = append(from, l.From(-1))
	}
	for _, b := range own {
		from = append(from, l.Local(l.In(b)))
	}
	var regions []schedule.Region
	for _, b := range into {
		regions = append(regions, l.Out(b))
	}
	var peers []int
	if sends && to%l.Ranks != 0 {
		peers = []int{to}
	}
	if len(from) > 0 && len(regions)+len(peers) > 0 {
		l.Combine(regions, peers, from...)
	}
}

// write writes the lane of a ring.
func (x *placed) write(l *schedule.Lane) {
	x.lane, x.steps = l, 0
	for i := range x.tiles {
		l.Tile(l.Channel*x.tiles + i)
		n := l.Ranks
		if x.spec.Kind == collective.AllGather {
			x.hop(false, []int{0}, []int{0}, true)
			for j := 1; j < n-1; j++ {
				x.hop(true, nil, []int{-j}, true)
			}
			x.hop(true, nil, []int{1}, false)
			continue
		}
		x.hop(false, []int{-1}, nil, true)
		for j := 2; j < n; j++ {
			x.hop(true, []int{-j}, nil, true)
		}
		if x.spec.Kind == collective.ReduceScatter {
			x.hop(true, []int{0}, []int{0}, false)
			continue
		}
		x.hop(true, []int{0}, []int{0}, true)
		for j := 1; j < n-1; j++ {
			x.hop(true, nil, []int{-j}, true)
		}
		x.hop(true, nil, []int{1}, false)
	}
}

// shared writes the lane of an all_gather whose channels share all tiles: each has blocks that come
// as far as its number and others. That gathers all blocks only where channels have one order.
func (x *placed) shared(l *schedule.Lane) {
	for i := range x.channels * x.tiles {
		l.Tile(i)
		if l.Channel == 0 && !x.spec.InPlace {
			l.Copy(l.Out(0), l.In(0))
		}
		for far := 1 + l.Channel; far < l.Ranks; far += x.channels {
			l.Send(far, l.In(0))
			l.Recv(-far, l.Out(-far))
		}
	}
}

// TestStraight: where channels have orders of their own, the proof of one rank of the schedule in
// which they have not is that of all ranks, and what is wrong is found.
func TestStraight(t *testing.T) {
	rng, one, wrong := rand.New(rand.NewPCG(56, 1)), 0, 0
	runs := tier.Of(2000, 100_000)
	for range runs {
		s := placedRing(t, rng)
		o := Options{Rendezvous: rng.IntN(8) == 0}
		got, found := Verify(s, o)
		o.Unfolded = true
		want, all := Verify(s, o)
		require.Equal(t, all, found, "%s", s)
		if want == nil {
			wrong++
			require.Nil(t, got)
			continue
		}
		if got.Walked == 1 {
			one++
			want.Walked = 1
		}
		require.Equal(t, want, got, "%s", s)
	}
	t.Logf("%d proven by one rank, %d wrong, of %d", one, wrong, runs)
	require.Greater(t, one, runs/4)
	require.Greater(t, wrong, runs/8)
}
