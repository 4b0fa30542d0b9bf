package device

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

func TestIdealCostsNothing(t *testing.T) {
	d := Ideal()
	require.NoError(t, d.Validate())
	require.Equal(t, Device{Name: "ideal", ReduceRate: unit.Unlimited, CopyRate: unit.Unlimited,
		LaneRate: unit.Unlimited, Slots: 8}, d)
	for _, r := range []unit.Rate{d.ReduceRate, d.CopyRate, d.LaneRate} {
		require.Zero(t, unit.TiB.Over(r))
	}
}

func TestEveryPresetIsFoundAndValid(t *testing.T) {
	for _, name := range Names() {
		d, err := Lookup(name)
		require.NoError(t, err)
		require.Equal(t, name, d.Name)
		require.NoError(t, d.Validate())
	}
}

func TestLookupErrors(t *testing.T) {
	_, err := Lookup("idael")
	require.EqualError(t, err, `"idael": no device of that name; nearest: ideal`)
	_, err = Lookup("h100")
	require.EqualError(t, err, `"h100": no device of that name; nearest: h200, `+
		`h100-sxm, h100-pcie`)
	_, err = Lookup("z9000")
	require.EqualError(t, err, `"z9000": no device of that name; one of: `+
		strings.Join(Names(), ", "))
}

func TestValidate(t *testing.T) {
	tests := []struct {
		change func(*Device)
		want   string
	}{
		{func(d *Device) { d.Overhead = -unit.Nanosecond },
			"overhead = -1.00 ns: a time from 0 s to 1000 s is expected"},
		{func(d *Device) { d.SlotLatency = unit.Forever },
			"slot_latency = never: a time from 0 s to 1000 s is expected"},
		{func(d *Device) { d.ReduceRate = 0 },
			"reduce_rate = 0 B/s: a rate above zero is expected"},
		{func(d *Device) { d.CopyRate = -1 },
			"copy_rate = -1 B/s: a rate above zero is expected"},
		{func(d *Device) { d.LaneRate = 0 },
			"lane_rate = 0 B/s: a rate above zero is expected"},
		{func(d *Device) { d.Slots = -1 },
			"slots = -1: a number of slots, or 0 for unlimited, is expected"},
		{func(d *Device) { d.Queue = -1 },
			"queue = -1: a number of posts is expected"},
		{func(d *Device) { d.Offload = true },
			"queue = 0: a device that offloads needs at least 1"},
		{func(d *Device) { d.SendBuffer = -1 },
			"send_buffer = -1 B: a number of bytes is expected"},
		{func(d *Device) { d.Offload, d.Queue, d.SendBuffer = true, 1, unit.KiB },
			"send_buffer = 1 KiB: a device that offloads has a queue of messages, not a buffer " +
				"of bytes"},
		{func(d *Device) { d.EagerLimit = -1 },
			"eager_limit = -1 B: a number of bytes, or 0 for none, is expected"},
		{func(d *Device) { d.ReceivesAhead = -1 },
			"receives_ahead = -1: a number of steps is expected"},
	}
	for _, tt := range tests {
		d := Ideal()
		tt.change(&d)
		require.EqualError(t, d.Validate(), tt.want)
	}
	d := Ideal()
	d.Offload, d.Queue, d.Slots = true, 1, 0
	require.NoError(t, d.Validate())
}

func ExampleLookup() {
	d, _ := Lookup("ideal")
	fmt.Println("overhead", d.Overhead, "lane rate", d.LaneRate, "slots", d.Slots)
	// Output: overhead 0 s lane rate unlimited slots 8
}
