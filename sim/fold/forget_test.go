package fold

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/internal/tier"
	"collsim/schedule"
	"collsim/sim/event"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/topology"
	"collsim/unit"
)

// pods is four pods of 16 ranks each, of which two pods that do the same are as one.
func pods(t *testing.T) *topology.Graph {
	t.Helper()
	g, err := topology.Build(topology.Params{Preset: "fat-tree", K: 8, Ranks: 64,
		Bandwidth: simtest.GBs, Latency: unit.Microsecond})
	require.NoError(t, err)
	return g
}

// TestForgotten: where a lane sends to many ranks, and to some of them again sooner or later, and a
// slower one receives, what is forgotten of connections is missed by nobody: slots that are free
// only later are not among it.
func TestForgotten(t *testing.T) {
	const ranks = 64
	forgotten := int64(0)
	for i := range tier.Raced(4, 12, 200) {
		rng := rand.New(rand.NewPCG(uint64(i), 41))
		var peers []int
		for range 60 {
			if n := len(peers); n > 4 && rng.IntN(3) > 0 {
				peers = append(peers, peers[n-1-rng.IntN(min(n, 8))])
			} else {
				peers = append(peers, 1+rng.IntN(ranks-1))
			}
		}
		s := simtest.Build(t, schedule.Plan{Spec: simtest.AllReduce(ranks, 64*1000), Chunks: ranks,
			Group: schedule.Group{ranks}, Lanes: 2, Slots: 1 + rng.IntN(3), Lane: func(l *schedule.Lane) {
				for _, peer := range peers {
					if l.Facing(1 - l.Index); l.Index == 0 {
						l.Send(l.Rank+peer, l.In(0))
					} else {
						l.Reduce(l.Rank-peer, l.Out(0))
					}
				}
			}})
		env := model.Env{Graph: pods(t), Device: device.Ideal(), Slots: 8,
			Sharing: []model.Sharing{model.FIFO, model.Fluid}[i%2]}
		env.Device.ReduceRate = simtest.GBs * unit.Rate(1+rng.IntN(4)) / 8
		e, err := simulate(s, &env, nil, math.MaxInt64)
		require.NoError(t, err)
		want, err := event.Run(s, &env, nil)
		require.NoError(t, err)
		require.Equal(t, want, unfolded(e.finished()), i)
		forgotten += e.forgotten
	}
	require.Positive(t, forgotten)
}

// TestMemoryOfAnAllToAll: as much is held as is under way, of all that is sent.
func TestMemoryOfAnAllToAll(t *testing.T) {
	const ranks = 64
	s := simtest.Build(t, schedule.Plan{Spec: simtest.DirectPlan(ranks, ranks*1000).Spec,
		Group: schedule.Group{ranks}, Lane: func(l *schedule.Lane) {
			l.Copy(l.Out(l.Rank), l.In(l.Rank))
			for i := 1; i < ranks; i++ {
				l.Send(l.Rank+i, l.In(l.Rank+i))
				l.Recv(l.Rank-i, l.Out(l.Rank-i))
			}
		}})
	env := model.Env{Graph: pods(t), Device: device.Ideal(), Slots: 8, Sharing: model.FIFO}
	e, err := simulate(s, &env, nil, math.MaxInt64)
	require.NoError(t, err)
	want, err := event.Run(s, &env, nil)
	require.NoError(t, err)
	require.Equal(t, want, unfolded(e.finished()))
	require.Len(t, e.sym.Reps, 16)
	sent := 16 * (ranks - 1)
	for what, n := range map[string]int{"connections": len(e.conns), "marks": e.marks.Len(),
		"routes": len(e.net.network.Routes), "links of routes": len(e.net.path) / 6} {
		require.Less(t, n, sent/4, what)
	}
}
