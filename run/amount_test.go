package run

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAmount: a walk of all ranks may take as long as the rest of the run, and some seconds in any
// case; beyond, a sample of outputs is checked where there can be one, and nothing where there
// cannot and the walk is longer than anybody waits.
func TestAmount(t *testing.T) {
	all, some := amount{}, amount{outputs: sampledOutputs}
	for _, c := range []struct {
		walk, rest float64
		sampled    amount // of a ring
		isMade     bool   // of a tree, of which no sample can be made
	}{
		{walkSeconds, 0, all, true},
		{walkSeconds + 1, 0, some, true},
		{walkSeconds + 1, walkSeconds + 1, all, true},
		{patience, 1, some, true},
		{patience + 1, 1, some, false},
		{patience + 1, patience, some, false},
		{patience + 1, patience + 1, all, true},
	} {
		for _, algorithm := range []string{"ring", "double-binary-tree"} {
			s, err := Load("s.toml", []byte(swept),
				LoadOptions{Set: []string{"collective.algorithm=" + algorithm}})
			require.NoError(t, err)
			p := s.Points[0]
			m, err := s.make(p, p.Algorithm)
			require.NoError(t, err)
			of := cost{walk: c.walk, simulate: c.rest}
			if a := of.amount(m.whole, p); algorithm == "ring" {
				require.Equal(t, c.sampled, a, "%+v", c)
			} else {
				require.Equal(t, c.isMade, a.none == "", "%+v", c)
				require.Equal(t, all, amount{count: a.count, outputs: a.outputs}, "%+v", c)
			}
			p.Check.Full = true
			require.Equal(t, all, of.amount(m.whole, p), "%+v", c)
		}
	}
}
