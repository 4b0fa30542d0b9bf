package algos_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/schedule"
)

// TestRoles: what the ranks of a role are said to do alike is what each does that is asked.
func TestRoles(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 1))
	tried := map[string]bool{}
	for _, kind := range collective.Kinds() {
		for _, a := range algos.ForKind(kind) {
			alone := a
			if a.Of != nil {
				of := *a.Of
				of.Roles, alone.Of = nil, &of
			}
			alone.Roles = nil
			if a.Roles == nil && (a.Of == nil || a.Of.Roles == nil) {
				continue
			}
			for ranks := 2; ranks <= tier.Of(33, 130); ranks++ {
				spec := collective.Spec{Kind: kind, Ranks: ranks, Count: int64(1 + rng.IntN(50)),
					Type: dtype.Float32}
				if kind.Reduces() {
					spec.Op = collective.Sum
				}
				if kind.Rooted() {
					spec.Root, spec.InPlace = rng.IntN(ranks), rng.IntN(2) == 0
				}
				s, err := a.Build(spec, algos.Options{Slices: 1 + ranks%2})
				require.NoError(t, err)
				want, err := alone.Build(spec, algos.Options{Slices: 1 + ranks%2})
				require.NoError(t, err)
				require.True(t, s.HasRoles() && !want.HasRoles())
				require.True(t, schedule.Equal(want, s), "%v, root %d", s, spec.Root)
			}
			tried[kind.String()+" "+a.Name] = true
		}
	}
	require.Len(t, tried, 6)
}
