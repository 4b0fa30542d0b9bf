package ncclxml

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/machine"
	"collsim/topology"
)

// FuzzRead: whatever is read can be built and written, or why not is said; nothing panics, and
// every error names the file.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"dgx-h100", "polaris", "pcie-4"} {
		m, err := machine.Find(name)
		require.NoError(f, err)
		text, err := Write(m)
		require.NoError(f, err)
		f.Add(string(text), "")
	}
	f.Add(`<system><cpu numaid="0"><pci class="0x03" busid="1">`+
		`<gpu><nvlink target="2" count="3"/></gpu></pci><nic><net speed="-1"/></nic></cpu></system>`,
		"a100-40gb")
	f.Add(`<system><cpu><pci class="0x0604" busid="1"><pcilink target="2"/>`+
		`<pci class="0x12" busid="3"/></pci><pci busid="2"/></cpu></system>`,
		"mi300x")
	f.Fuzz(func(t *testing.T, text, device string) {
		m, err := Read("f", []byte(text), device)
		var wrong *Error
		if err != nil {
			require.True(t, errors.As(err, &wrong), err)
			require.Equal(t, "f", wrong.File)
			return
		}
		node := m.Node(m.GPUs)
		g, err := topology.Build(topology.Params{Nodes: 1, Node: &node})
		require.NoError(t, err)
		require.NoError(t, g.Connected())
		if text, err := Write(m); err == nil {
			_, err = Read("f", text, "")
			require.NoError(t, err)
		}
	})
}
