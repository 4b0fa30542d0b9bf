package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSweepsWithoutEffect: where a swept key means nothing at some points, a note says at which and
// why, in the words that --set has for a key that means nothing anywhere.
func TestSweepsWithoutEffect(t *testing.T) {
	const nodes = `[topology]
nodes = 4
[topology.node]
preset = "switch"
ranks = 4
bandwidth = "450 GB/s"
latency = "300 ns"
[topology.network]
preset = "rails"
bandwidth = "400 Gbit/s"
latency = "1 us"
`
	const one = `[[collective]]
kind = "all_reduce"
algorithm = "ring"
bytes = "16 MiB"
`
	const flat = `[topology]
preset = "switch"
ranks = 4
bandwidth = "1 GB/s"
latency = "1 us"
`
	for _, c := range []struct {
		text  string
		notes []string
	}{
		{nodes + one + `[sweep]
"topology.network.oversubscription" = [1, 2]
"topology.network.preset" = ["switch", "fat-tree"]
`, []string{`sweep."topology.network.oversubscription" has no effect where ` +
			"topology.network.preset is switch, 2 of 4 points: oversubscription is for fat-tree, " +
			"leaf-spine or rails"}},
		{nodes + one + `[sweep]
"topology.network.oversubscription" = [1, 2]
"topology.network.preset" = ["fat-tree", "leaf-spine"]
`, nil},
		{flat + `[[collective]]
kind = ["all_reduce", "broadcast", "reduce"]
algorithm = "binomial"
bytes = "16 MiB"
[sweep]
"collective.root" = [0, 1, 2]
`, []string{`sweep."collective.root" has no effect where kind is all_reduce, 3 of 9 points: ` +
			"no kind here has a root"}},
		{flat + one + `[sweep]
"sim.segment" = ["4 KiB", "8 KiB"]
"sim.sharing" = ["fifo", "fluid"]
`, []string{`sweep."sim.segment" has no effect where sim.sharing is fluid, 2 of 4 points: ` +
			`segments need sharing = "fifo"`}},
		{flat + one + `[sweep]
"device.preset" = ["ideal", "h100-sxm"]
"device.copy_engines" = [1, 2]
`, []string{`sweep."device.copy_engines" has no effect where device.preset is ideal, ` +
			"2 of 4 points: without sms a device has no model of a GPU"}},
	} {
		s, err := load("s.toml", []byte(c.text), testOptions())
		require.NoError(t, err, c.text)
		require.Equal(t, c.notes, s.Notes, c.text)
	}
}
