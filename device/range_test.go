package device

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

func TestOf(t *testing.T) {
	d := Ideal()
	require.False(t, d.HasMessage())
	require.Equal(t, Message{}, *d.Of(unit.TiB))
	d.Own = Message{Latency: 9}
	d.Ranges = []Range{{0, Message{Latency: 1}}, {64, Message{Latency: 2, Efficiency: 500_000}}}
	require.True(t, d.HasMessage())
	require.NoError(t, d.Validate())
	for n, want := range map[unit.Bytes]unit.Time{0: 1, 1: 2, 64: 2, 65: 9, unit.TiB: 9} {
		require.Equal(t, want, d.Of(n).Latency, n)
	}
	free := d.FreeMessages()
	require.Equal(t, []Range{{0, Message{}}, {64, Message{Efficiency: 500_000}}}, free.Ranges)
	require.Equal(t, unit.Time(2), d.Ranges[1].Latency, "a copy")
}

// TestOnLinks: n over the efficiency, rounded up.
func TestOnLinks(t *testing.T) {
	for _, tt := range []struct {
		efficiency unit.Share
		n, want    unit.Bytes
	}{{0, 7, 7}, {AllEfficiency, 7, 7}, {500_000, 7, 14}, {300_000, 1, 4}, {300_000, 3, 10},
		{999_999, 1, 2}, {1, unit.Bytes(1) << 50, 1<<63 - 1},
		{LeastEfficiency, 1 << 49, 1 << 49 * 10_000}} {
		m := Message{Efficiency: tt.efficiency}
		require.Equal(t, tt.want, m.OnLinks(tt.n), "%+v", tt)
	}
}

func TestValidateMessages(t *testing.T) {
	for _, tt := range []struct {
		change func(*Device)
		want   string
	}{
		{func(d *Device) { d.Launch = -1 },
			"launch = -1 ps: a time from 0 s to 1000 s is expected"},
		{func(d *Device) { d.Own.Latency = unit.Forever },
			"latency = never: a time from 0 s to 1000 s is expected"},
		{func(d *Device) { d.MultimemEfficiency = 9_999 },
			"multimem_efficiency = 0.9999 %: 1 % to 100 % is expected"},
		{func(d *Device) { d.MultimemEfficiency = 1_000_001 },
			"multimem_efficiency = 100.0001 %: 1 % to 100 % is expected"},
		{func(d *Device) { d.Own.Efficiency = 99 },
			"efficiency = 0.0099 %: 0.01 % to 100 % is expected"},
		{func(d *Device) { d.Ranges = []Range{{UpTo: 8}, {UpTo: 8}} },
			"range 1: up_to = 8 B: more than the range before is expected"},
		{func(d *Device) { d.Ranges = []Range{{UpTo: -1}} },
			"range 0: up_to = -1 B: more than the range before is expected"},
		{func(d *Device) { d.Ranges = []Range{{8, Message{Efficiency: 1_000_001}}} },
			"range 0: efficiency = 100.0001 %: 0.01 % to 100 % is expected"},
	} {
		d := Ideal()
		tt.change(&d)
		require.EqualError(t, d.Validate(), tt.want)
	}
}
