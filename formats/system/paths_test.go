package system

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/unit"
)

const gb = unit.Rate(unit.GB)

// box builds a node for tests.
type box struct{ s System }

func (b *box) add(kind Kind, above int, rate unit.Rate) int {
	n := Node{Kind: kind, Rate: rate}
	v := b.s.Add(n)
	if above >= 0 {
		b.s.Links = append(b.s.Links, Link{v, above, PCIe, 1, rate})
	}
	return v
}

func (b *box) join(x, y int, kind LinkKind, rate unit.Rate) {
	b.s.Links = append(b.s.Links, Link{x, y, kind, 1, rate})
}

// TestPathTypes is by hand, after the rules of src/graph/paths.cc: two processors (SYS at 10); on
// the first a switch of two with GPUs 0 and 1 on the lower ones, GPU 2 and NIC 0 on the upper one,
// and GPU 3 on the processor itself; GPU 4 and NIC 1 on the second. NVLinks join 0 and 1, 1 and 2,
// 2 and 3.
func TestPathTypes(t *testing.T) {
	b := &box{}
	cpu0, cpu1 := b.add(CPU, -1, 0), b.add(CPU, -1, 0)
	upper := b.add(PCI, cpu0, 24*gb)
	lower0, lower1 := b.add(PCI, upper, 12*gb), b.add(PCI, upper, 12*gb)
	gpu0, gpu1 := b.add(GPU, lower0, 24*gb), b.add(GPU, lower1, 24*gb)
	gpu2, gpu3 := b.add(GPU, upper, 24*gb), b.add(GPU, cpu0, 24*gb)
	gpu4 := b.add(GPU, cpu1, 24*gb)
	b.add(NIC, upper, 25*gb)
	b.add(NIC, cpu1, 25*gb)
	b.join(gpu0, gpu1, NVLink, 40*gb)
	b.join(gpu1, gpu2, NVLink, 20*gb)
	b.join(gpu2, gpu3, NVLink, 20*gb)
	b.s.JoinCPUs(func(int) unit.Rate { return 10 * gb }, nil)
	p := b.s.Paths()
	_ = gpu4
	for _, c := range []struct {
		from, to int
		want     string
		gbps     unit.Rate
	}{
		{0, 0, "LOC", 5000}, {0, 1, "NVL", 40}, {1, 2, "NVL", 20},
		{0, 2, "NVB", 20}, // through GPU 1
		{0, 3, "PHB", 12}, // three NVLinks are too many
		{1, 3, "NVB", 20}, {2, 3, "NVL", 20},
		{0, 4, "SYS", 10}, {4, 3, "SYS", 10},
	} {
		for _, way := range []Path{p.GPU[c.from][c.to], p.GPU[c.to][c.from]} {
			require.Equal(t, c.want, way.Type.String(), "%d to %d", c.from, c.to)
			require.Equal(t, c.gbps*gb, way.Rate, "%d to %d", c.from, c.to)
		}
	}
	for g, want := range []struct {
		nic0, nic1 string
		gbps       unit.Rate // to the first
	}{{"PXB", "SYS", 12}, {"PXB", "SYS", 12}, {"PIX", "SYS", 24}, {"PHB", "SYS", 24},
		{"SYS", "PHB", 10}} {
		require.Equal(t, want.nic0, p.NIC[g][0].Type.String(), g)
		require.Equal(t, want.nic1, p.NIC[g][1].Type.String(), g)
		require.Equal(t, want.gbps*gb, p.NIC[g][0].Rate, g)
	}
}

// TestPathsOverSwitch: GPUs on an NVSwitch are as near as two on a link. A port is as fast as it
// is.
func TestPathsOverSwitch(t *testing.T) {
	b := &box{}
	cpu := b.add(CPU, -1, 0)
	nvs := b.add(NVSwitch, -1, 0)
	for range 3 {
		b.join(b.add(GPU, cpu, 48*gb), nvs, NVLink, 370*gb)
	}
	nic := b.s.Add(Node{Kind: NIC, Rate: 12 * gb})
	b.s.Links = append(b.s.Links, Link{nic, cpu, PCIe, 1, 24 * gb})
	p := b.s.Paths()
	require.Equal(t, Path{NVL, 370 * gb, 2}, p.GPU[0][2])
	require.Equal(t, Path{PHB, 12 * gb, 2}, p.NIC[1][0])
}

// TestPathsOverC2C: a GPU that reaches its processor over C2C reaches the NIC there by P2C, which
// is nearer than PHB, if no NIC is nearer.
func TestPathsOverC2C(t *testing.T) {
	b := &box{}
	cpu0, cpu1 := b.add(CPU, -1, 0), b.add(CPU, -1, 0)
	gpu0, gpu1 := b.add(GPU, cpu0, 48*gb), b.add(GPU, cpu1, 48*gb)
	b.join(gpu0, cpu0, C2C, 447*gb)
	b.join(gpu1, cpu1, C2C, 447*gb)
	b.add(NIC, cpu0, 48*gb)
	b.s.JoinCPUs(func(int) unit.Rate { return 6 * gb }, nil)
	p := b.s.Paths()
	require.Equal(t, "P2C", p.NIC[0][0].Type.String())
	require.Equal(t, "SYS", p.NIC[1][0].Type.String())
	require.Equal(t, 6*gb, p.GPU[0][1].Rate)
	require.Equal(t, "SYS", p.GPU[0][1].Type.String())
}

// TestModels: all devices but those of no GPU in particular have a model, and every card's device
// is one.
func TestModels(t *testing.T) {
	for _, name := range device.Names() {
		m := ModelOf(name)
		require.True(t, m.SM > 0 || m.GCN != "" || name == "ideal" || name == "generic", name)
	}
	seen := map[[2]int]bool{}
	for _, c := range cards() {
		require.False(t, seen[[2]int{c.vendor, c.id}], c.name)
		seen[[2]int{c.vendor, c.id}] = true
		if c.device != "" {
			_, err := device.Lookup(c.device)
			require.NoError(t, err, c.name)
		}
	}
	for sm, want := range map[int]string{60: "18", 70: "20", 75: "20", 80: "20", 86: "12", 89: "20",
		90: "20.6", 100: "40.1", 103: "40.1", 0: "20"} {
		require.Equal(t, want+" GB/s", NVLinkRate(sm).String(), sm)
	}
	for gcn, want := range map[string]string{"906": "24", "gfx908": "24", "910": "36", "gfx90a": "36",
		"gfx942": "48", "gfx950": "48"} {
		require.Equal(t, want+" GB/s", XGMIRate(gcn).String(), gcn)
	}
	for name, want := range map[string]string{"v100-pcie": "12", "a100-pcie": "24", "h100-sxm": "48",
		"b300": "96", "ideal": "12"} {
		d, err := device.Lookup(name)
		require.NoError(t, err)
		require.Equal(t, want+" GB/s", PCIeRate(d).String(), name)
	}
}
