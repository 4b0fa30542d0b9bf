package ncclxml

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/machine"
	"collsim/unit"
)

// TestWriteReadsBack: the file of every machine of the catalogue is read back as the same network
// (Write compares them), as NCCL counts no more than 16 attributes of an element.
func TestWriteReadsBack(t *testing.T) {
	for _, m := range machine.Catalogue() {
		t.Run(m.Name, func(t *testing.T) {
			text, err := Write(m)
			require.NoError(t, err)
			back, err := Read(m.Name, text, "")
			require.NoError(t, err)
			require.Empty(t, differs(m, back))
			again, err := Write(back)
			require.NoError(t, err)
			require.NotEmpty(t, again)
			root, err := parse(m.Name, text)
			require.NoError(t, err)
			require.LessOrEqual(t, attributes(root), 16)
		})
	}
}

// TestPluginLatency: what the plugin reports stands at the NICs, in microseconds.
func TestPluginLatency(t *testing.T) {
	m, err := machine.Find("p5")
	require.NoError(t, err)
	text, err := Write(m)
	require.NoError(t, err)
	require.Contains(t, string(text), `latency="75.000000"`)
	back, err := Read("p5.xml", text, "")
	require.NoError(t, err)
	require.Equal(t, 75*unit.Microsecond, back.PluginLatency)
	_, err = Read("p5.xml", bytes.ReplaceAll(text, []byte(`"75.000000"`), []byte(`"-75"`)), "")
	require.ErrorContains(t, err, `<net latency="-75">: microseconds are expected`)
}

// attributes is the most that an element has.
func attributes(e *element) int {
	most := len(e.at)
	for _, k := range e.kids {
		most = max(most, attributes(k))
	}
	return most
}
