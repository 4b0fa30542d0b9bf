package synth

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/bounds"
	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/proof"
	"collsim/reference"
	"collsim/sim"
	"collsim/topology"
)

func TestY(t *testing.T) {
	for _, name := range []string{"torus4x4", "dgx1", "a100", "ring8"} {
		g, err := topology.Links(0, wires(name))
		require.NoError(t, err)
		net := &algos.Network{Graph: g}
		for _, a := range Table() {
			for _, kind := range a.Kinds {
				for _, inPlace := range []bool{false} {
					spec := collective.Spec{Kind: kind, Type: dtype.Int32, Ranks: len(g.Ranks), Count: 16 << 20, InPlace: inPlace}
					if kind.Reduces() {
						spec.Op = collective.Sum
					}
					start := time.Now()
					s, err := a.Build(spec, algos.Options{Network: net})
					took := time.Since(start)
					require.NoError(t, err, "%s %v", name, kind)
					small := spec
					small.Count = 1001
					s2, err := a.Build(small, algos.Options{Network: net})
					require.NoError(t, err)
					_, v := proof.Verify(s2, proof.Options{Iterations: 1})
					if len(v) > 0 {
						t.Log(name, kind, inPlace, v[0])
						continue
					}
					rep, err := reference.Check(s2, reference.CheckOptions{})
					require.NoError(t, err)
					r, err := sim.Run(s, sim.Env{Graph: g, Device: device.Ideal(), Slots: 8}, sim.Options{})
					require.NoError(t, err)
					b, err := bounds.For(spec, g, bounds.Options{})
					require.NoError(t, err)
					t.Log(name, kind, inPlace, a.Picked(spec, algos.Options{Network: net}), took, time.Since(start), rep.Numbers, fmt.Sprintf("%.1f %% of the bound", 100*float64(b.Lower)/float64(r.Time)), b.Cut)
				}
			}
		}
	}
}
