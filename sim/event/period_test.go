package event

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/unit"
)

// manyTiles is a random schedule whose lanes go from tile to tile: each lane has the ranks do one
// of a few things to every tile, and the last tiles may be shorter than the others.
func manyTiles(t testing.TB, rng *rand.Rand) *schedule.Schedule {
	ranks, lanes := 2+rng.IntN(5), 1+rng.IntN(3)
	p := simtest.RingPlan(ranks, int64(ranks)*(500+rng.Int64N(2000)))
	p.Group, p.Lanes, p.Slices = nil, lanes, 1+rng.IntN(3)
	p.Segment = 5 + rng.Int64N(60)
	if rng.IntN(3) == 0 {
		p.Channels = 2
	}
	ring := p.Lane
	chain := func(l *schedule.Lane) { // from rank 0 to the last, or back
		at, next, prev := l.Rank, l.Rank+1, l.Rank-1
		if l.Index%2 == 1 {
			at, next, prev = ranks-1-l.Rank, l.Rank-1, l.Rank+1
		}
		switch {
		case at == 0:
			l.Send(next, l.Chunk(0))
		case at == ranks-1:
			l.Recv(prev, l.Chunk(0))
		default:
			l.CopySend(prev, next, l.Chunk(0))
		}
	}
	star := func(l *schedule.Lane) { // to rank 0, which sends on what it has added
		if l.Rank > 0 {
			l.Send(0, l.Chunk(1))
			l.Recv(0, l.Chunk(1))
			return
		}
		for r := 1; r < ranks; r++ {
			l.Reduce(r, l.Chunk(1))
		}
		for r := 1; r < ranks; r++ {
			l.Send(r, l.Chunk(1))
		}
	}
	do := make([]func(*schedule.Lane), lanes)
	for i := range do {
		do[i] = []func(*schedule.Lane){ring, chain, star}[rng.IntN(3)]
	}
	once := rng.IntN(2) == 0
	p.Lane = func(l *schedule.Lane) {
		for tile := range l.Tiles() {
			if l.Tile(tile); once && tile == 1 { // out of step with the others
				chain(l)
			}
			do[l.Index](l)
		}
	}
	return simtest.Build(t, p)
}

// fluidEnv is a random environment in which messages flow.
func fluidEnv(t testing.TB, rng *rand.Rand, ranks int) model.Env {
	env := simtest.Env(t, rng, ranks)
	env.Sharing, env.Switching, env.Segment = model.Fluid, model.CutThrough, 0
	if d := &env.Device; rng.IntN(8) > 0 { // else the run is not one that is looked at
		d.Offload, d.SendBuffer, d.EagerLimit = false, 0, 0
	}
	if rng.IntN(2) == 0 {
		simtest.GPU(rng, &env)
	}
	if rng.IntN(2) == 0 { // a lane waits for slots that it is yet to hear of
		env.Slots, env.Device.SlotLatency = 1+rng.IntN(3), 2*unit.Microsecond
	}
	return env
}

// TestPeriodsLeftOut: a run from which periods are left out gives the same, to the picosecond and
// the byte, as one in which every step is simulated; so do calls in a row.
func TestPeriodsLeftOut(t *testing.T) {
	left, calls, all := 0, 0, 0
	simtest.Law(t, 400, "periods make no difference", func(t testing.TB, rng *rand.Rand) bool {
		s := manyTiles(t, rng)
		env := fluidEnv(t, rng, s.Spec.Ranks)
		run := func(isOff bool) (*engine, *model.Totals, error) {
			e := newEngine(s, &env)
			e.findUncontended()
			e.period.isOff = isOff
			err := e.run()
			return e, e.finished(), err
		}
		_, want, stall := run(true)
		e, got, err := run(false)
		require.Equal(t, stall, err)
		if stall != nil { // rings with one slot
			return true
		}
		require.Equal(t, want, got)
		all++
		if e.period.found > 0 {
			left++
		}

		inARow := func(isOff bool) (*row, int) {
			e := newEngine(s, &env)
			e.period.isOff = isOff
			e.row = newRow(e, Row{Calls: 4, Messages: 1 << 40,
				Enough: func([][]unit.Time, int) bool { return false }})
			require.NoError(t, e.run())
			return e.row, e.period.found
		}
		one, _ := inARow(true)
		other, found := inARow(false)
		require.Equal(t, one.ends, other.ends)
		require.Equal(t, one.complete, other.complete)
		calls += min(found, 1)
		return slices.Equal(want.LaneEnd, got.LaneEnd)
	})
	t.Logf("%d runs, periods left out of %d and of %d calls in a row", all, left, calls)
	require.Greater(t, left, all/10)
	require.Greater(t, calls, all/10)
}
