package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/unit"
)

// ranged is a device whose messages have figures by their sizes.
const ranged = pair + `
[device]
launch = "20 us"
latency = "9 us"

[[device.range]]
up_to = "1 KiB"
latency = "2 us"
efficiency = "50 %"

[[device.range]]
up_to = "64 KiB"
efficiency = "93.75 %"
`

func TestRanges(t *testing.T) {
	s, err := load("s.toml", []byte(ranged), testOptions())
	require.NoError(t, err)
	d := s.Points[0].Device
	require.Equal(t, 20*unit.Microsecond, d.Launch)
	require.Equal(t, device.Message{Latency: 9 * unit.Microsecond}, d.Own)
	require.Equal(t, []device.Range{
		{UpTo: unit.KiB, Message: device.Message{Latency: 2 * unit.Microsecond, Efficiency: 500_000}},
		{UpTo: 64 * unit.KiB, Message: device.Message{Latency: 9 * unit.Microsecond,
			Efficiency: 937_500}},
	}, d.Ranges)

	o := testOptions()
	o.Set = []string{`sweep."device.range[1].latency"=["1 us", "3 us"]`, "device.range[0].up_to=512"}
	s, err = load("s.toml", []byte(ranged), o)
	require.NoError(t, err)
	require.Equal(t, 3*unit.Microsecond, s.Points[len(s.Points)-1].Device.Ranges[1].Latency)
	require.Equal(t, 512*unit.Byte, s.Points[0].Device.Ranges[0].UpTo)
}

func TestRangesErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"[[device.range]]\nlatency = \"1 us\"\n",
			"s.toml:1: device.range.up_to: missing; the longest message that is meant is expected"},
		{"[[device.range]]\nup_to = \"8 B\"\n", "s.toml:2: device.range.up_to = \"8 B\": nothing is " +
			"said of these messages; latency or efficiency is expected"},
		{"[[device.range]]\nup_to = \"8 B\"\nlatency = \"1 us\"\n[[device.range]]\nup_to = 8\n" +
			"latency = \"2 us\"\n", "s.toml:5: device.range[1].up_to = 8: more than the 8 B of entry 0 " +
			"is expected: entries stand by size"},
		{"[[device.range]]\nup_to = \"8 B\"\nefficiency = \"0.001 %\"\n", "s.toml:3: " +
			"device.range.efficiency = \"0.001 %\": out of range; 0.01 % to 100 % is expected"},
		{"[device]\nefficiency = \"101 %\"\n", "s.toml:2: device.efficiency = \"101 %\": out of range"},
		{"[[device.range]]\nup_to = \"8 B\"\nlatancy = \"1 us\"\n",
			"s.toml:3: device.range.latancy: unknown key"},
		{"[device]\nrange = 3\n", "s.toml:2: device.range = 3: a table is expected"},
		{"[device]\nrange = [3]\n", "s.toml:2: device.range"},
		{"[topology]\nbandwidth = \"not known\"\n", "s.toml:2: topology.bandwidth = \"not known\": the " +
			"calibration that wrote this could not tell; a rate is expected"},
		{"[device]\nlatency = \"not known\"\n", "a time is expected\n  give it here, or by --set " +
			"device.latency=VALUE"},
	} {
		_, err := load("s.toml", []byte(tt.text+"[[collective]]\nkind = \"all_reduce\"\nbytes = 8\n"),
			testOptions())
		require.ErrorContains(t, err, tt.want, tt.text)
	}
}

// TestWithRanges: ranges of another file take the place of all of the scenario's, and so do none;
// what was replaced can be given by --set alone.
func TestWithRanges(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []device.Range
		set  string
	}{
		{"[device]\nrange = []\n", nil, "device.range=[]"},
		{"[[device.range]]\nup_to = \"8 B\" # few\nlatency = \"1 us\"\n",
			[]device.Range{{UpTo: 8, Message: device.Message{Latency: unit.Microsecond}}},
			`device.range=[{ up_to = "8 B", latency = "1 us" }]`},
	} {
		o := testOptions()
		o.With = []With{{"w.toml", []byte(tt.text)}}
		s, err := load("s.toml", []byte(ranged), o)
		require.NoError(t, err)
		require.Equal(t, tt.want, s.Points[0].Device.Ranges)
		require.Equal(t, 9*unit.Microsecond, s.Points[0].Device.Own.Latency)
		require.Equal(t, []string{tt.set}, s.Set)
		o.With, o.Set = nil, s.Set
		again, err := load("s.toml", []byte(ranged), o)
		require.NoError(t, err)
		require.Equal(t, tt.want, again.Points[0].Device.Ranges)
	}
	o := testOptions()
	o.With = []With{{"w.toml", []byte("[[device.range]]\nup_to = \"8 B\"\nlatency = \"not known\"\n")}}
	_, err := load("s.toml", []byte(ranged), o)
	require.ErrorContains(t, err, "w.toml:3: device.range.latency = \"not known\"")
	o.Set = []string{`device.range[0].latency="1 us"`}
	s, err := load("s.toml", []byte(ranged), o)
	require.NoError(t, err, "it was given")
	require.Equal(t, unit.Microsecond, s.Points[0].Device.Ranges[0].Latency)
}
