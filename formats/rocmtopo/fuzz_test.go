package rocmtopo

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/topology"
)

// FuzzRead: whatever is read can be built, and nothing panics.
func FuzzRead(f *testing.F) {
	f.Add("       GPU0  GPU1\nGPU0   0     15\nGPU1   15    0\n", "mi300x")
	f.Add("Link Type between two GPUs\n GPU0 GPU1\nGPU0 0 PCIE\nGPU1 PCIE 0\n", "mi250x")
	f.Add("LINK TYPE TABLE:\n 0000:05:00.0\n0000:05:00.0 SELF\n", "generic")
	f.Fuzz(func(t *testing.T, text, device string) {
		m, err := Read("f", []byte(text), device)
		if err != nil {
			return
		}
		node := m.Node(m.GPUs)
		g, err := topology.Build(topology.Params{Nodes: 1, Node: &node})
		require.NoError(t, err)
		require.NoError(t, g.Connected())
	})
}
