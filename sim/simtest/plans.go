package simtest

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/topology"
	"collsim/unit"
)

// ring writes the ring all-reduce: n−1 steps that add, then n−1 that copy.
func ring(l *schedule.Lane) {
	r, p := l.Rank, l.Ranks
	prev, next := r-1, r+1
	l.Send(next, l.Chunk(r))
	for i := 1; i < p-1; i++ {
		l.ReduceSend(prev, next, l.Chunk(r-i))
	}
	l.ReduceCopySend(prev, next, l.Chunk(r+1))
	for i := range p - 2 {
		l.CopySend(prev, next, l.Chunk(r-i))
	}
	l.Recv(prev, l.Chunk(r+2))
}

// direct writes the all-to-all with a lane for every peer.
func direct(l *schedule.Lane) {
	to, from := l.Rank+l.Index+1, l.Rank-l.Index-1
	l.Send(to, l.In(to))
	l.Recv(from, l.Out(from))
	if l.Index == 0 {
		l.Copy(l.Out(l.Rank), l.In(l.Rank))
	}
}

// AllReduce returns the all-reduce of count float32, which it sums.
func AllReduce(ranks int, count int64) collective.Spec {
	return collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: ranks, Count: count}
}

// RingPlan returns the plan of a ring all-reduce.
func RingPlan(ranks int, count int64) schedule.Plan {
	return schedule.Plan{Name: "ring", Spec: AllReduce(ranks, count),
		Group: schedule.Group{int32(ranks)}, Chunks: ranks, Lane: ring}
}

// VariedRing returns a random plan of a ring. The bodies of its loops have one step or two, or go
// from tile to tile. Its chunks and tiles have one size or several.
func VariedRing(rng *rand.Rand, ranks int) schedule.Plan {
	isApart, times := rng.IntN(2) == 0, 2+rng.IntN(2*ranks)
	isTiled, isInner := rng.IntN(2) == 0, rng.IntN(2) == 0
	count := int64(ranks)*12*(1+rng.Int64N(300)) + rng.Int64N(2)*rng.Int64N(int64(ranks))
	p := RingPlan(ranks, count)
	if isTiled {
		p.Segment = 1 + rng.Int64N(count/int64(ranks))
		p.Segment = max(p.Segment, count/int64(ranks)/8)
	}
	to, from := 1, -1
	switch p.Slices = 1 + rng.IntN(3); rng.IntN(3) {
	case 0:
		p.Group = nil
	case 1:
		if ranks%2 == 0 { // the last digit distinguishes the two ranks of a pair
			p.Group, from = schedule.Group{int32(ranks / 2), 2}, 1
		}
	}
	pass := func(l *schedule.Lane, r schedule.Region) {
		if !isApart {
			l.ReduceSend(l.Rank+from, l.Rank+to, r)
			return
		}
		l.Reduce(l.Rank+from, r)
		l.Send(l.Rank+to, r)
	}
	p.Lane = func(l *schedule.Lane) {
		turns, tiles := times, l.Tiles()
		if isInner {
			turns, tiles = tiles, turns
		}
		at := func(i, j int) (turn int) {
			if isInner {
				i, j = j, i
			}
			l.Tile(j % l.Tiles())
			return i
		}
		for i := range turns {
			for j := range tiles {
				turn := at(i, j)
				switch {
				case turn == 0:
					l.Send(l.Rank+to, l.Chunk(l.Rank))
				case turn == times-1:
					l.Recv(l.Rank+from, l.Chunk(l.Rank-turn))
				default:
					pass(l, l.Chunk(l.Rank-turn))
				}
			}
		}
	}
	return p
}

// DirectPlan returns the plan of a direct all-to-all.
func DirectPlan(ranks int, count int64) schedule.Plan {
	return schedule.Plan{Name: "direct", Spec: collective.Spec{Kind: collective.AllToAll,
		Type: dtype.Float32, Ranks: ranks, Count: count},
		Group: schedule.Group{int32(ranks)}, Lanes: ranks - 1, Lane: direct}
}

// Framed returns a lane function in which most channels' messages carry flags with each word or
// line, as in NCCL's protocols LL and LL128.
func Framed(rng *rand.Rand, lane func(*schedule.Lane)) func(*schedule.Lane) {
	of := [3]schedule.Framing{}
	for i := range of {
		of[i] = schedule.Framing(rng.IntN(3))
	}
	return func(l *schedule.Lane) {
		l.Frame(of[(l.Channel+l.Index)%len(of)])
		lane(l)
	}
}

// Build builds a plan, which must be right.
func Build(t testing.TB, p schedule.Plan) *schedule.Schedule {
	t.Helper()
	s, err := schedule.Build(p)
	require.NoError(t, err)
	return s
}

// OnSwitch returns ideal devices behind a switch.
func OnSwitch(t testing.TB, ranks int, bandwidth unit.Rate, latency unit.Time) model.Env {
	t.Helper()
	g, err := topology.Switch(ranks, bandwidth, latency)
	require.NoError(t, err)
	return model.Env{Graph: g, Device: device.Ideal(), Slots: 8}
}

// GBs is 1 GB/s: a byte is 1000 ps.
const GBs = unit.Rate(1_000_000_000)

// JitteredPlan returns a direct all-to-all in which every message has its own size.
func JitteredPlan(ranks int) schedule.Plan {
	p := DirectPlan(ranks, 0)
	p.Spec.Kind = collective.AllToAllV
	for r := range ranks {
		row := make([]int64, ranks)
		for c := range row {
			row[c] = 1_000_000 + int64((r*ranks+c)*7919%1_000_003)
		}
		p.Spec.Splits = append(p.Spec.Splits, row)
	}
	return p
}
