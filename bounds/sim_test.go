package bounds

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/device"
	"collsim/internal/tier"
	"collsim/sim"
	"collsim/sim/simtest"
	"collsim/topology"
	"collsim/unit"
)

// TestNoAlgorithmBeatsABound runs every algorithm on small random networks, and some that fit it,
// with every way of sharing links and devices that cost nothing or a lot.
func TestNoAlgorithmBeatsABound(t *testing.T) {
	cases, met := 0, 0
	run := func(c randomCase, g *topology.Graph) {
		for _, a := range algos.Table() {
			spec := c.spec(a.Kinds[c.rng.Intn(len(a.Kinds))])
			s, err := a.Build(spec, algos.Options{Channels: 1 + c.rng.Intn(3)})
			if err != nil {
				continue // not for this number of ranks
			}
			env := randomEnv(c, g)
			r, err := sim.Run(s, env, sim.Options{})
			require.NoError(t, err)
			o := Options{Overhead: env.Device.Overhead, ReduceRate: env.Device.ReduceRate,
				Lanes: len(r.LaneEnd) / spec.Ranks}
			b, err := For(spec, g, o)
			require.NoError(t, err)
			require.GreaterOrEqual(t, r.Time, b.Lower, "%s %v, %v\n%+v\n%v",
				a.Name, spec, env.Sharing, b, c.wires)
			cases++
			if r.Time == b.Lower {
				met++
			}
		}
	}
	seeds := tier.Raced(3, 8, 60)
	for seed := range int64(seeds) {
		c := newCase(seed)
		run(c, c.graph())
		for _, name := range simtest.Presets() {
			g, err := simtest.Network(name, c.ranks, rate, hop)
			if err == nil {
				run(c, g)
			}
		}
	}
	require.Greater(t, cases, 5000*seeds/60)
	require.Greater(t, met, cases/20, "some algorithms are optimal: the bounds are met")
}

// randomEnv is a network with any sharing, and as often as not the ideal device.
func randomEnv(c randomCase, g *topology.Graph) sim.Env {
	env := sim.Env{Graph: g, Device: device.Ideal(), Sharing: sim.Sharing(c.rng.Intn(2))}
	if env.Sharing == sim.FIFO {
		env.Switching = sim.Switching(c.rng.Intn(2))
		env.Segment = unit.Bytes(c.rng.Intn(2) * (1 + c.rng.Intn(30)))
	}
	if c.rng.Intn(2) == 0 {
		env.Device.Overhead = unit.Time(c.rng.Intn(2000))
		env.Device.ReduceRate = unit.Rate(1+c.rng.Intn(30)) * gigabyte
		env.Device.LaneRate = unit.Rate(1+c.rng.Intn(30)) * gigabyte
	}
	return env
}
