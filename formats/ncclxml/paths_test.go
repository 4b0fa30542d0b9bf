package ncclxml

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats/system"
)

// node writes a file of PCI devices, as clouds do: switches of GPUs and NICs on processors.
func node(cpus, switches, gpus, nics int) string {
	var b strings.Builder
	b.WriteString(`<system version="1">`)
	bus := 0
	pci := func(class, more string) {
		bus++
		fmt.Fprintf(&b, `<pci busid="0000:%02x:00.0" class="%s" link_speed="16 GT/s" link_width="16"%s>`,
			bus, class, more)
	}
	for c := range cpus {
		fmt.Fprintf(&b, `<cpu numaid="%d" arch="x86_64" vendor="AuthenticAMD">`, c)
		for range switches {
			pci("0x060400", "")
			for range gpus {
				pci("0x030200", ` vendor="0x10de" device="0x20b0"`)
				b.WriteString("</pci>")
			}
			for range nics {
				pci("0x020000", "")
				b.WriteString("</pci>")
			}
			b.WriteString("</pci>")
		}
		b.WriteString("</cpu>")
	}
	b.WriteString("</system>")
	return b.String()
}

// matrix are the types of the paths from GPUs to GPUs and NICs, a row a GPU.
func matrix(s *system.System) string {
	p := s.Paths()
	var b strings.Builder
	for g := range s.GPUs {
		for _, w := range append(append([]system.Path{}, p.GPU[g]...), p.NIC[g]...) {
			fmt.Fprintf(&b, "%v ", w.Type)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestPathsOfClouds: of p4d (two GPUs and a NIC a switch, two switches a processor) and of a4 (two
// of each), as nvidia-smi topo -m prints the ways to NICs on these machines; it calls PHB NODE.
func TestPathsOfClouds(t *testing.T) {
	s, err := readSystem("p4d.xml", []byte(node(2, 2, 2, 1)), "")
	require.NoError(t, err)
	require.Equal(t, strings.ReplaceAll(`
LOC NVL NVL NVL NVL NVL NVL NVL PIX PHB SYS SYS ~
NVL LOC NVL NVL NVL NVL NVL NVL PIX PHB SYS SYS ~
NVL NVL LOC NVL NVL NVL NVL NVL PHB PIX SYS SYS ~
NVL NVL NVL LOC NVL NVL NVL NVL PHB PIX SYS SYS ~
NVL NVL NVL NVL LOC NVL NVL NVL SYS SYS PIX PHB ~
NVL NVL NVL NVL NVL LOC NVL NVL SYS SYS PIX PHB ~
NVL NVL NVL NVL NVL NVL LOC NVL SYS SYS PHB PIX ~
NVL NVL NVL NVL NVL NVL NVL LOC SYS SYS PHB PIX ~
`[1:], "~", ""), matrix(s))
	p := s.Paths()
	require.Equal(t, "240 GB/s", p.GPU[0][7].Rate.String()) // 12 · 20
	require.Equal(t, "24 GB/s", p.NIC[0][0].Rate.String())  // 16 lanes of generation 4
	require.Equal(t, "16 GB/s", p.NIC[0][3].Rate.String())  // between processors of AMD

	s, err = readSystem("a4.xml", []byte(node(2, 2, 2, 2)), "b200")
	require.NoError(t, err)
	require.Contains(t, matrix(s),
		"NVL NVL LOC NVL NVL NVL NVL NVL PHB PHB PIX PIX SYS SYS SYS SYS \n")
}

// TestSwitchesOfTwoLevels: a switch of Broadcom's fifth generation shows as two levels, and is one
// to NCCL; one of another kind is two.
func TestSwitchesOfTwoLevels(t *testing.T) {
	const text = `<system><cpu numaid="0"><pci busid="1"
 class="0x060400" vendor="0x1000" device="0xc030"
 subsystem_vendor="0x1000" subsystem_device="0x0072">
<pci busid="2" class="0x060400" vendor="0x1000" device="0xc030" subsystem_vendor="0x1000"
 subsystem_device="LOWER"><pci busid="3" class="0x0302" vendor="0x10de" device="0x2330"/></pci>
<pci busid="4" class="0x060400" vendor="0x1000" device="0xc030" subsystem_vendor="0x1000"
 subsystem_device="LOWER"><pci busid="5" class="0x0207"/></pci></pci></cpu></system>`
	for lower, want := range map[string]string{"0x1003": "PIX", "0x2003": "PXB"} {
		s, err := readSystem("b.xml", []byte(strings.ReplaceAll(text, "LOWER", lower)), "")
		require.NoError(t, err)
		require.Equal(t, want, s.Paths().NIC[0][0].Type.String(), lower)
	}
}

// TestPeers: a link between two switches beside the tree keeps GPUs from the processor.
func TestPeers(t *testing.T) {
	const text = `<system><cpu numaid="0">
<pci busid="1" class="0x060400"><pcilink target="2"/><pci busid="3" class="0x0302" device="0x20b5"
 vendor="0x10de"/><pci busid="4" class="0x0302" device="0x20b5" vendor="0x10de"/></pci>
<pci busid="2" class="0x060400"><pcilink target="1"/><pci busid="5" class="0x0302" device="0x20b5"
 vendor="0x10de"/><pci busid="6" class="0x0302" device="0x20b5" vendor="0x10de"/></pci>
</cpu></system>`
	s, err := readSystem("peers.xml", []byte(text), "")
	require.NoError(t, err)
	p := s.Paths()
	require.Equal(t, "PIX", p.GPU[0][1].Type.String())
	require.Equal(t, "PXB", p.GPU[0][2].Type.String())
	m, err := Read("peers.xml", []byte(text), "")
	require.NoError(t, err)
	require.Len(t, m.Wires, 4+2+1+1) // GPUs, switches up, switches across, the NIC that is assumed
}

// readSystem reads a topology file as NCCL would search it: with two-level switches as one.
func readSystem(name string, data []byte, device string) (*system.System, error) {
	f, err := read(name, data, device)
	if err != nil {
		return nil, err
	}
	return f.sys, nil
}
