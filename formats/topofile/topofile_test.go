package topofile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/machine"
	"collsim/topology"
)

// describe says what was read.
func describe(m *machine.Machine) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", m.Name, m.About)
	fmt.Fprintf(&b, "%d × %s, %s, %v a link", m.GPUs, m.Device, m.Joined, m.Link())
	if m.Multicast {
		b.WriteString(", multicast")
	}
	fmt.Fprintf(&b, "\n%d NICs × %v, %s as %s, hop %v\n", m.NICs, m.NICRate, m.Fabric, m.Joins, m.Hop)
	fmt.Fprintf(&b, "near: %s\ncpus: %s\n", m.Near, m.CPUs)
	for _, w := range m.Wires {
		fmt.Fprintf(&b, "  %s %s %s %d at %v\n", w.From, w.To, w.Kind, w.Count, w.Rate)
	}
	for _, f := range m.Figures {
		if strings.HasPrefix(f.Source, "assumed") && strings.Contains(
			"joined wires nics nic_rate near fabric joins", f.Name) {
			fmt.Fprintf(&b, "%s %s\n", f.Name, f.Source)
		}
	}
	return b.String()
}

// isBuilt builds the networks of one node and of two, in which all GPUs reach each other.
func isBuilt(m *machine.Machine) error {
	for _, nodes := range []int{1, 2} {
		node := m.Node(m.GPUs)
		p := topology.Params{Nodes: nodes, Node: &node}
		if nodes > 1 {
			p.Network = &topology.Params{Preset: m.Joins, NICs: m.NICsOf(m.GPUs),
				Bandwidth: m.NICReached(nodes), Latency: m.LinkLatency(m.Joins)}
		}
		g, err := topology.Build(p)
		if err == nil {
			err = g.Connected()
		}
		if err != nil {
			return fmt.Errorf("%d nodes: %w", nodes, err)
		}
	}
	return nil
}

// read runs a command of a script: the file of its input, or of the folder beside the repository.
func read(t *testing.T, d *datadriven.TestData, shared string) string {
	var name, device string
	d.ScanArgs(t, "file", &name)
	d.MaybeScanArgs(t, "device", &device)
	var data []byte
	if shared != "" {
		var err error
		data, err = os.ReadFile(filepath.Join(shared, name))
		require.NoError(t, err)
	} else {
		data = []byte(strings.NewReplacer(`\t`, "\t", `\e`, "\x1b", `\r`, "\r").Replace(d.Input))
	}
	m, err := Read(name, data, device)
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	require.NoError(t, isBuilt(m), name)
	require.NoError(t, hasFigures(m), name)
	return describe(m)
}

// hasFigures reports a figure without a value or a source.
func hasFigures(m *machine.Machine) error {
	for _, f := range m.Figures {
		if f.Is == "" || f.Source == "" {
			return fmt.Errorf("%s: is %q, source %q", f.Name, f.Is, f.Source)
		}
	}
	return nil
}

// TestRead reads small files of each kind.
func TestRead(t *testing.T) {
	datadriven.RunTest(t, "testdata/read.txt", func(t *testing.T, d *datadriven.TestData) string {
		return read(t, d, "")
	})
}

// TestRealFiles reads the files of real machines that lie beside the repository.
func TestRealFiles(t *testing.T) {
	shared := filepath.Join("..", "..", "..", "shared", "topo")
	files, err := filepath.Glob(filepath.Join(shared, "*"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("the files of real machines are not beside the repository: ../shared/topo")
	}
	seen := map[string]bool{}
	datadriven.RunTest(t, "testdata/real.txt", func(t *testing.T, d *datadriven.TestData) string {
		var name string
		d.ScanArgs(t, "file", &name)
		seen[name] = true
		return read(t, d, shared)
	})
	for _, f := range files {
		require.True(t, seen[filepath.Base(f)] || filepath.Base(f) == "index.toml", f)
	}
}

// TestUTF16 reads what PowerShell writes.
func TestUTF16(t *testing.T) {
	const text = "\tGPU0\tGPU1\nGPU0\t X \tNV4\nGPU1\tNV4\t X \n"
	for _, little := range []bool{true, false} {
		var data []byte
		for _, u := range append([]uint16{0xfeff}, utf16.Encode([]rune(text))...) {
			if little {
				data = append(data, byte(u), byte(u>>8))
			} else {
				data = append(data, byte(u>>8), byte(u))
			}
		}
		m, err := Read("two.txt", data, "a100-pcie")
		require.NoError(t, err)
		require.Equal(t, "80 GB/s", m.Link().String())
		_, err = Read("two.txt", data[:len(data)-1], "a100-pcie")
		require.NoError(t, err) // half a character of the last line end
	}
}

// TestEscaped reads a matrix that stands as a string in a log or a program.
func TestEscaped(t *testing.T) {
	for _, text := range []string{`\tGPU0\tGPU1\nGPU0\t X \tNV4\nGPU1\tNV4\t X \n`,
		"\"\\tGPU0\\tGPU1\\n\"\n\"GPU0\\t X \\tNV4\\n\"\n\"GPU1\\tNV4\\t X \\n\""} {
		m, err := Read("two.txt", []byte(text), "a100-pcie")
		require.NoError(t, err, text)
		require.Equal(t, "80 GB/s", m.Link().String())
	}
}

// TestHostile: files that are made to cost much are refused, or read, soon.
func TestHostile(t *testing.T) {
	row := "GPU0" + strings.Repeat("\tSYS", 100_000)
	gpu := func(i int, in string) string {
		return fmt.Sprintf(`<pci busid="%04x:00:00.0" class="0x0302" vendor="0x10de" device="0x20b0">`+
			`%s</pci>`, i, in)
	}
	var many, cyclic strings.Builder
	for i := range 256 {
		many.WriteString(gpu(i, ""))
		cyclic.WriteString(gpu(i, fmt.Sprintf(`<gpu dev="%d" sm="80"><nvlink target="%04x:00:00.0" `+
			`count="1" tclass="0x03"/></gpu>`, i, (i+1)%256)))
	}
	system := func(s string) string {
		return `<system version="1"><cpu numaid="0">` + s + "</cpu></system>"
	}
	for name, c := range map[string]struct{ text, want string }{
		"laughs": {`<!DOCTYPE l [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>` +
			system(`<pci busid="&b;"/>`), "no XML"},
		"deep":       {strings.Repeat("<system>", 1_000_000), "deep"},
		"nested":     {system(strings.Repeat("<pci>", 100) + strings.Repeat("</pci>", 100)), "deep"},
		"siblings":   {system(strings.Repeat("<pci/>", 1_000_000)), "elements"},
		"attributes": {"<system " + strings.Repeat(`a="1" `, 1_000_000) + "/>", "attributes"},
		"long":       {`<system name="` + strings.Repeat("x", 1<<20) + `"/>`, "limit"},
		"huge":       {"<system>" + strings.Repeat(" ", 40<<20), "at most"},
		"gpus":       {system(many.String() + gpu(256, "")), "256 GPUs"},
		"twice":      {system(gpu(1, "") + gpu(1, "")), "busid"},
		"cyclic":     {system(cyclic.String()), ""},
		"truncated":  {"<system name=\"\xc3", "no XML"},
		"latin":      {"<?xml version=\"1.0\" encoding=\"latin1\"?><system/>", "no XML"},
		"columns":    {strings.Repeat("GPU0 ", 100_000) + "\n" + row, "is expected"},
		"rows":       {"\tGPU0\tGPU1\n" + strings.Repeat(row+"\n", 3), "missing"},
		"headers":    {strings.Repeat("GPU0 GPU1\n", 30_000), "missing"},
		"rocm":       {strings.Repeat("       GPU0 GPU1\nGPU0 0 15\n", 20_000), "is missing"},
	} {
		began := time.Now()
		m, err := Read(name, []byte(c.text), "a100-40gb")
		if c.want == "" {
			require.NoError(t, err, name)
			require.NoError(t, isBuilt(m), name)
		} else {
			require.ErrorContains(t, err, c.want, name)
			require.Less(t, len(err.Error()), 500, name)
		}
		t.Logf("%s: %v", name, time.Since(began)) // seconds at most on any machine
	}
}
