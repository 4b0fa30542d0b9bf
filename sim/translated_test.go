package sim_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/nccl"
	"collsim/collective"
	"collsim/device"
	"collsim/schedule"
	"collsim/sim"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/topology"
	"collsim/unit"
)

// onTranslated is a random run of a schedule that declares translations in place of a group: all
// send to all and add in rank order, or NCCL's rings go through nodes.
func onTranslated(t testing.TB, rng *rand.Rand) (*schedule.Schedule, sim.Env) {
	if rng.IntN(2) == 0 {
		ranks := 2 + rng.IntN(9)
		a, err := algos.Find(collective.AllReduce, []string{"one-shot", "two-shot"}[rng.IntN(2)])
		require.NoError(t, err)
		spec := specOf(collective.AllReduce, ranks)
		spec.Count = int64(ranks*(1+rng.IntN(300)) + rng.IntN(5)/4)
		return build(t, a, spec, algos.Options{Channels: 1 + rng.IntN(4)/3, Slices: 1 + rng.IntN(2)}),
			plainly(rng, simtest.SymmetricEnv(t, rng, ranks))
	}
	nodes, perNode := 1+rng.IntN(6), 1<<rng.IntN(4)
	ranks := max(nodes*perNode, 2)
	perNode = ranks / nodes
	node := topology.Params{Preset: []string{"switch", "full-mesh"}[rng.IntN(2)], Ranks: perNode}
	node.Bandwidth, node.Latency = anyLink(rng)
	network := topology.Params{Preset: []string{"rails", "switch"}[rng.IntN(2)]}
	network.Bandwidth, network.Latency = anyLink(rng)
	g, err := topology.Build(topology.Params{Nodes: nodes, Node: &node, Network: &network})
	require.NoError(t, err)
	kinds := []collective.Kind{collective.AllReduce, collective.AllReduce, collective.AllGather,
		collective.ReduceScatter}
	kind := kinds[rng.IntN(len(kinds))]
	a, err := algos.FindIn(nccl.Table(), kind, "nccl:ring")
	require.NoError(t, err)
	spec := specOf(kind, ranks)
	spec.Count = int64(ranks * perNode * 64 * (1 + rng.IntN(64)))
	protocol := []string{"ll", "ll128", "simple"}[rng.IntN(3)]
	s := build(t, a, spec, algos.Options{PerNode: perNode, Params: []algos.Param{
		{Name: "protocol", Value: protocol}}})
	env := sim.Env{Graph: g, Device: device.Ideal(), Slots: 8, Sharing: model.Sharing(rng.IntN(2))}
	env.Device.Overhead = unit.Time(rng.IntN(2)) * 100 * unit.Nanosecond
	return s, env
}

// TestTranslated: translations are declared where they are expected, and what they declare holds:
// peers, sizes and rounds of a step are those of the same step of the rank that it was translated
// from.
func TestTranslated(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	declared := 0
	for range 60 {
		s, _ := onTranslated(t, rng)
		timing := schedule.TimingOf(s)
		if timing == nil || s.Group != nil {
			continue
		}
		declared++
		for rank := range int32(s.Spec.Ranks) {
			requireTranslated(t, s, timing, rank)
		}
	}
	require.Greater(t, declared, 30)
}

// requireTranslated compares what a rank does with what the representative does that is translated
// to it.
func requireTranslated(t *testing.T, s *schedule.Schedule, by *schedule.Translations, rank int32) {
	rep, weight := int32(0), int32(1)
	for i := len(by.Group) - 1; i >= 0; i-- {
		rep += rank / weight % by.Group[i] % by.Steps[i] * weight
		weight *= by.Group[i]
	}
	move := by.Group.Sub(rank, rep)
	p, q := s.Program(int(rep)), s.Program(int(rank))
	require.Equal(t, p.Lanes(), q.Lanes())
	var x, y schedule.Step
	for lane := range p.Lanes() {
		c, d := p.Walk(lane), q.Walk(lane)
		for ; !c.Done() && !d.Done(); c.Next(1) {
			p.Load(&c, &x)
			q.Load(&d, &y)
			require.Equal(t, x.Round, y.Round)
			require.Equal(t, sizeOf(s, int(rep), p.Channel(lane), &x), sizeOf(s, int(rank),
				q.Channel(lane), &y), "%v rank %d lane %d", s, rank, lane)
			require.Equal(t, len(x.Send), len(y.Send))
			for i := range x.Send {
				require.Equal(t, by.Group.Add(x.Send[i].Peer.Rank, move), y.Send[i].Peer.Rank)
				require.Equal(t, x.Send[i].Peer.Lane, y.Send[i].Peer.Lane)
			}
			require.ElementsMatch(t, peersOf(&x, by.Group, move), peersOf(&y, by.Group, 0))
			d.Next(1)
		}
		require.True(t, c.Done() && d.Done())
	}
}

func sizeOf(s *schedule.Schedule, rank, channel int, step *schedule.Step) int64 {
	n, known := s.Size(schedule.Spot{Rank: rank, Channel: channel}, step)
	if !known {
		return -1
	}
	return n
}

// peersOf lists from whom a step receives, translated.
func peersOf(step *schedule.Step, g schedule.Group, move int32) (list []schedule.Peer) {
	for i := range step.From {
		if f := step.From[i]; f.Kind == schedule.Message {
			f.Peer.Rank = g.Add(f.Peer.Rank, move)
			list = append(list, f.Peer)
		}
	}
	return list
}
