package algostest

import (
	"errors"
	"slices"

	"collsim/algos"
	"collsim/device"
	"collsim/internal/tier"
	"collsim/schedule"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"

	"github.com/stretchr/testify/require"
)

// The machine of the suite: a byte takes a third of a nanosecond, which is no whole number of
// picoseconds.
const (
	latency   = 700 * unit.Nanosecond
	bandwidth = 3 * unit.Rate(unit.GB)
)

// keepsTime checks a schedule against its published cost, with a link for every connection. It must
// never take longer. It must take exactly that where the cost is no bound, all blocks have the same
// size and there are neither channels nor slices. It also checks the simulator against the
// evaluator. Multimem, which needs a switch, has no such time.
func keepsTime(t require.TestingT, a algos.Algorithm, c trial, s *schedule.Schedule) {
	ends, err := Earliest(s, latency, bandwidth, 0)
	if errors.Is(err, errMultimem) {
		return
	}
	require.NoError(t, err, "%s", c)
	if a.Own() && a.Cost == nil || c.turned() { // no cost is published
		simulates(t, c, s)
		return
	}
	took := slices.Max(append(ends, 0))
	form, err := a.ClosedForm(c.spec, c.options, algos.Model{Alpha: latency, Rate: bandwidth})
	require.NoError(t, err, "%s", c)
	require.LessOrEqual(t, took, form, "%s: takes longer than its published cost", c)
	cost, err := a.CostOf(c.spec, c.options)
	require.NoError(t, err, "%s", c)
	if c.plain() && !cost.AtMost && even(s) {
		require.Equal(t, form, took, "%s: does not take its published cost", c)
	}
	simulates(t, c, s)
}

// simulates checks the simulator against the evaluator, lane by lane, on a full mesh with 8 slots.
// If two connections would share a link of the mesh, links are unlimited and only latency counts.
func simulates(t require.TestingT, c trial, s *schedule.Schedule) {
	rate := bandwidth
	if sharesLinks(s) {
		rate = unit.Unlimited
	}
	want, err := Earliest(s, latency, rate, 8)
	require.NoError(t, err, "%s", c)
	mesh, err := topology.FullMesh(c.spec.Ranks, rate, latency)
	require.NoError(t, err, "%s", c)
	for _, sharing := range some([]sim.Sharing{sim.FIFO, sim.Fluid}, c.turn, tier.Long) {
		env := sim.Env{Graph: mesh, Device: device.Ideal(), Sharing: sharing, Slots: 8}
		for _, engine := range []sim.Engine{sim.Event, sim.Best} {
			if engine == sim.Best && s.Group == nil { // it is the same
				break
			}
			got, err := sim.Run(s, env, sim.Options{Engine: engine})
			require.NoError(t, err, "%s, %v, %v", c, sharing, engine)
			if !slices.Equal(want, got.LaneEnd) {
				require.Equal(t, want, got.LaneEnd, "%s, %v, %v: ends of lanes", c, sharing, engine)
			}
		}
	}
}

// sharesLinks reports whether two connections lead from one rank to another.
func sharesLinks(s *schedule.Schedule) bool {
	type pair struct{ from, to int32 }
	lanes, shares := map[pair]pair{}, false
	_, _ = schedule.Execute(s, schedule.Limits{}, schedule.Hooks{Step: func(v *schedule.Visit) error {
		for _, d := range v.Step.Send {
			ranks, used := pair{v.Rank, d.Peer.Rank}, pair{v.Lane, d.Peer.Lane}
			other, known := lanes[ranks]
			shares = shares || known && other != used
			lanes[ranks] = used
		}
		return nil
	}})
	return shares
}
