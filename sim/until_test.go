package sim_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// TestUntil: a run that ends by a time is as without that time; of one that takes longer it is
// said, or the run comes to its end all the same.
func TestUntil(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	late := 0
	for range tier.Of(150, 3000) {
		all := append(algos.Table(), algos.Further()...)
		a := all[rng.IntN(len(all))]
		spec := collective.Spec{Kind: a.Kinds[0], Type: dtype.Float32, Ranks: 2 + rng.IntN(8),
			Count: 1 + rng.Int64N(1000)}
		if spec.Kind.Reduces() {
			spec.Op = collective.Sum
		}
		if spec.Kind == collective.Barrier {
			spec.Type, spec.Count = 0, 0
		}
		s, err := a.Build(spec, algos.Options{})
		if err != nil || a.Multimem { // other ranks, splits, or a switch that is not there
			continue
		}
		g, err := topology.Switch(spec.Ranks, unit.Rate(1+rng.IntN(9))*unit.Rate(unit.GB),
			unit.Time(rng.IntN(3))*300*unit.Nanosecond)
		require.NoError(t, err)
		env := sim.Env{Graph: g, Device: device.Ideal(), Sharing: sim.Sharing(rng.IntN(2)), Slots: 8}
		env.Device.Overhead = unit.Time(rng.IntN(2)) * unit.Microsecond
		o := sim.Options{Engine: []sim.Engine{sim.Event, sim.Best}[rng.IntN(2)]}
		want, err := sim.Run(s, env, o)
		require.NoError(t, err)
		for _, until := range []unit.Time{want.Time + 1, want.Time, want.Time - 1, want.Time / 2} {
			if env.Until = until; until < 1 {
				continue
			}
			got, err := sim.Run(s, env, o)
			var tooLate *sim.TooLate
			if errors.As(err, &tooLate) {
				require.Less(t, until, want.Time, "%s %v", a.Name, spec)
				require.Equal(t, until, tooLate.Until)
				late++
				continue
			}
			require.NoError(t, err)
			require.Equal(t, want, got, "%s %v", a.Name, spec)
		}
	}
	require.Greater(t, late, 50)
}
