package sim_test

import (
	"math/rand/v2"
	"testing"

	"collsim/algos"
	"collsim/device"
	"collsim/schedule"
	"collsim/sim"
	"collsim/sim/simtest"
	"collsim/topology"
	"collsim/unit"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"
)

// Ranks have no names: a schedule that is simulated by other ranks ends at the same times, lane by
// lane, if the network looks the same from there, ports and routes included. That holds for
// rotations of a full mesh and a ring; and, where nothing goes by ports, in fluid, for any
// permutation of ranks on a switch.
func TestRelabelling(t *testing.T) {
	parameters := gopter.DefaultTestParametersWithSeed(20261121)
	parameters.MinSuccessfulTests = 150
	properties := gopter.NewProperties(parameters)
	properties.Property("who simulates a rank changes nothing", prop.ForAll(func(seed uint64) bool {
		return relabelled(t, rand.New(rand.NewPCG(seed, 0)))
	}, gen.UInt64()))
	properties.TestingRun(t)
}

// relabelled runs a random algorithm on a random network as it is and with other players.
func relabelled(t *testing.T, rng *rand.Rand) bool {
	table := algos.Table()
	a := table[rng.IntN(len(table))]
	ranks := 2 + rng.IntN(9)
	spec := specOf(a.Kinds[rng.IntN(len(a.Kinds))], ranks)
	if spec.Count > 0 {
		spec.Count += rng.Int64N(200)
	}
	s := build(t, a, spec, algos.Options{Channels: 1 + rng.IntN(2), Slices: 1 + rng.IntN(3)})
	env := sim.Env{Device: device.Ideal(), Slots: 8, Sharing: sim.Sharing(rng.IntN(2))}
	if rng.IntN(3) == 0 {
		simtest.GPU(rng, &env)
	}
	networks := []func(int, unit.Rate, unit.Time) (*topology.Graph, error){
		topology.FullMesh, topology.Ring, topology.Switch}
	network := rng.IntN(len(networks))
	players := rotation(ranks, rng.IntN(ranks))
	if network == 2 {
		env.Sharing, players = sim.Fluid, rng.Perm(ranks)
	}
	graph, err := networks[network](ranks, unit.Rate(1e9+rng.Int64N(1e9)), 300)
	require.NoError(t, err)
	env.Graph = graph
	return sameEnds(t, s, env, players)
}

// rotation is every rank by places further on.
func rotation(ranks, by int) []int {
	players := make([]int, ranks)
	for i := range players {
		players[i] = (i + by) % ranks
	}
	return players
}

// sameEnds reports whether each lane ends when the lane that it stands for does.
func sameEnds(t *testing.T, s *schedule.Schedule, env sim.Env, players []int) bool {
	part := schedule.Part{Ranks: players, Schedule: s}
	moved, err := schedule.Compose("", len(players), nil, []schedule.Part{part})
	require.NoError(t, err)
	before, err := sim.Run(s, env, sim.Options{})
	require.NoError(t, err)
	after, err := sim.Run(moved, env, sim.Options{})
	require.NoError(t, err)
	first := make([]int, len(players)+1) // lane of each rank in after
	for rank := range players {
		first[rank+1] = first[rank] + moved.Program(rank).Lanes()
	}
	at := 0
	for i, player := range players {
		for lane := range s.Program(i).Lanes() {
			if before.LaneEnd[at] != after.LaneEnd[first[player]+lane] {
				t.Logf("%s on %s by %v: rank %d lane %d ends at %d, and at %d by rank %d", s.Name,
					env.Graph.Preset, players, i, lane, before.LaneEnd[at],
					after.LaneEnd[first[player]+lane], player)
				return false
			}
			at++
		}
	}
	return before.LinkBytes == after.LinkBytes
}
