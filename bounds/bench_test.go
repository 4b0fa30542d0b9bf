package bounds

import (
	"testing"

	"collsim/collective"
	"collsim/topology"
)

// BenchmarkFor is every kind on 1024 ranks (see MaxWork), and on a large switch.
func BenchmarkFor(b *testing.B) {
	networks := []struct {
		name string
		g    *topology.Graph
	}{{"switch", preset(b, "switch", 1024)}, {"full-mesh", preset(b, "full-mesh", 1024)},
		{"ring", preset(b, "ring", 1024)}, {"torus", linked(b, grid(32, 32, true))},
		{"cluster", linked(b, cluster(128, 8, 450, 50, 8))},
		{"switch-of-8192", preset(b, "switch", 8192)}}
	for _, n := range networks {
		for _, kind := range collective.Kinds() {
			if kind.Splits() && len(n.g.Ranks) > 1024 {
				continue
			}
			b.Run(n.name+"/"+kind.String(), func(b *testing.B) {
				spec := specOf(kind, len(n.g.Ranks), 1000)
				for range b.N {
					boundsOf(b, spec, n.g)
				}
			})
		}
	}
}
