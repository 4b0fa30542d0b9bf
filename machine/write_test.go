package machine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/unit"
)

// TestText: what a machine writes reads as the same machine, of every machine.
func TestText(t *testing.T) {
	for _, m := range Catalogue() {
		again, err := Read(m.Name, []byte(m.Text()))
		require.NoError(t, err, m.Name)
		require.Len(t, again.Figures, len(m.Figures))
		for i, f := range m.Figures {
			got := again.Figures[i]
			require.Equal(t, []string{f.Name, f.Is, f.Sheet}, []string{got.Name, got.Is, got.Sheet})
			require.Contains(t, got.Source, f.Source)
			require.Contains(t, got.Source, f.Of)
		}
		same := *again
		same.Figures = m.Figures
		require.Equal(t, *m, same)
	}
}

// TestFitted: figures that were fitted take the place of those of the device, and of a scenario's
// defaults; what is not given stays.
func TestFitted(t *testing.T) {
	m, err := Find("dgx-h100")
	require.NoError(t, err)
	mine, err := m.With("mine", "mine", []Figure{
		{Name: "ring_ll", Is: "base 7 us, nvlink 500 ns, rate 10 GB/s", Source: "me"},
		{Name: "p2p_ll128", Is: "ramp 3 us", Source: "me"},
		{Name: "issue", Is: "5 us", Source: "me"},
		{Name: "multimem_efficiency", Is: "80 %", Source: "me"},
		{Name: "gpu_rate", Is: "300 GB/s", Source: "me"}})
	require.NoError(t, err)
	require.Equal(t, 300*unit.Rate(unit.GB), mine.Rate)
	require.Subset(t, mine.Keys(1), []Key{{"benchmark.issue", `"5 us"`},
		{"device.multimem_efficiency", `"80 %"`}})
	h100, err := device.Lookup("h100-sxm")
	require.NoError(t, err)
	rows := mine.Protocols(h100.Protocols)
	d := device.Device{Protocols: rows}
	ll, _ := d.ProtocolOf("ring", "ll")
	require.Equal(t, device.Protocol{Shape: "ring", Protocol: "ll", Base: 7 * unit.Microsecond,
		NVLink: 500 * unit.Nanosecond, PCIe: unit.Microsecond, Rate: 10 * unit.Rate(unit.GB),
		Source: "me"}, ll)
	added, ok := d.ProtocolOf("p2p", "ll128")
	require.True(t, ok)
	require.Equal(t, 3*unit.Microsecond, added.Ramp)
	require.Len(t, rows, len(h100.Protocols)+1)
	require.Equal(t, h100.Protocols, m.Protocols(h100.Protocols))
	require.Equal(t, "base 7.00 us, nvlink 500 ns, pcie 1.00 us, rate 10 GB/s", ProtocolText(&ll))
}

// TestFittedRefused says which figure of a protocol is wrong.
func TestFittedRefused(t *testing.T) {
	for is, want := range map[string]string{
		"7 us":              "one of base, nvlink, pcie, network, ramp and rate, and a value",
		"base":              "a number and a unit are expected",
		"base 7 us, rate 0": "the unit is missing",
		"base 5000 s":       "a time from 0 s to",
		"base 7 us,":        "one of base",
	} {
		_, err := Read("mine", []byte("about = \"\"\nlike = \"dgx-h100\"\nring_ll = { is = \""+is+
			"\", source = \"me\" }\n"))
		require.ErrorContains(t, err, want, is)
		require.ErrorContains(t, err, "mine:3: ring_ll", is)
	}
	_, err := Read("mine", []byte("like = \"dgx-h100\"\nring_tree = { is = \"1 us\", "+
		"source = \"me\" }"))
	require.ErrorContains(t, err, "ring_tree: no such figure")
}
