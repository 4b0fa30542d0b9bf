package scenarios

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
)

// TestEveryFigureWithAKeyIsRead: a scenario that sets a figure's key to its example has that figure
// in its device, and figures without a key cannot be set.
func TestEveryFigureWithAKeyIsRead(t *testing.T) {
	const begin = "topology.preset = \"switch\"\ntopology.ranks = 2\n" +
		"topology.bandwidth = \"1 GB/s\"\ntopology.latency = \"1 us\"\n" +
		"collective.kind = \"all_reduce\"\ncollective.bytes = \"1 KiB\"\n"
	for _, f := range device.Figures() {
		if f.Key == "" {
			_, err := load("s.toml", []byte(begin+"device."+f.Name+" = 1\n"), testOptions())
			require.ErrorContains(t, err, "device."+f.Name)
			continue
		}
		if !strings.HasPrefix(f.Key, "device.") {
			continue
		}
		text := begin + f.Key + " = " + figureKey(f, f.Key, "").Example + "\n"
		if f.OfGPU && f.Name != "sms" {
			_, err := load("s.toml", []byte(text), testOptions())
			require.ErrorContains(t, err, "has no effect: without sms a device has no model of a GPU")
			text += "device.sms = 132\n"
		}
		switch f.Name {
		case "queue":
			text += "device.offload = true\n"
		case "offload":
			text += "device.queue = 3\n"
		case "receives_ahead":
			text += "device.eager_limit = \"1 KiB\"\n"
		}
		s, err := load("s.toml", []byte(text), testOptions())
		require.NoError(t, err, f.Key)
		var want device.Device
		require.NoError(t, f.Set(&want, f.Example))
		require.True(t, f.Same(&want, s.Points[0].Device), f.Key)
	}
}
