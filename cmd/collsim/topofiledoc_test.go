package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats/system"
	"collsim/formats/topofile"
)

// aboutFiles begins the section of docs/machines.md on files.
const aboutFiles = `
## Files of machines

    [topology]
    file = "topo.xml"
    nodes = 4

The file is told by its content: a topology file of NCCL or RCCL (what NCCL_TOPO_FILE names and
NCCL_TOPO_DUMP_FILE writes), the output of "nvidia-smi topo -m" or of "rocm-smi --showtopo" or
"amd-smi topology" as people paste it, or a machine's own TOML. A file says what it says. What NCCL
would ask the driver for follows from the PCI device id, or else from device.preset: which GPU it
is, and its NVLinks where the file has none of them and all boards of that GPU have the same.
Without both the file is refused. Rates are those that NCCL counts: NV# is # times 20 GB/s of V100
and A100, 20.6 of H100, 40.1 of B200, 16 lanes of PCIe 12, 24 or 48 GB/s. NICs are those that NCCL
would use: the nearest of each GPU, shared out evenly where several GPUs are as near. A matrix has
no rates of PCIe, processors and NICs, and no file has the network between nodes; what is assumed
says so among the machine's figures. "collsim export --format nccl-topo" writes a machine for NCCL.

Public files, as they are read:

| file | machine | read as |
|---|---|---|
`

// realFiles are the files beside the repository, with the device that a scenario would name.
func realFiles(t *testing.T) map[string]string {
	script, err := os.ReadFile(filepath.Join(repository(t), "formats", "topofile", "testdata",
		"real.txt"))
	require.NoError(t, err)
	devices := map[string]string{}
	for line := range strings.Lines(string(script)) {
		words := strings.Fields(line)
		if len(words) == 3 && words[0] == "read" {
			devices[strings.TrimPrefix(words[1], "file=")] = strings.TrimPrefix(words[2], "device=")
		}
	}
	return devices
}

// filesText has a row for each of the files of real machines beside the repository. Where these are
// not there it is what the document had before.
func filesText(t *testing.T, before string) string {
	folder := filepath.Join(repository(t), "..", "shared", "topo")
	index, err := os.ReadFile(filepath.Join(folder, "index.toml"))
	if err != nil {
		_, had, _ := strings.Cut(before, aboutFiles)
		t.Log("the files of real machines are not beside the repository: ../shared/topo")
		return aboutFiles + had
	}
	devices := realFiles(t)
	var b strings.Builder
	b.WriteString(aboutFiles)
	entry := regexp.MustCompile(`(?s)\nfile = "([^"]*)".*?\nsystem = "([^"]*)"`)
	for _, f := range entry.FindAllStringSubmatch(string(index), -1) {
		name := f[1]
		data, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		m, err := topofile.Read(name, data, "")
		with := ""
		if device := devices[name]; err != nil && strings.Contains(err.Error(), "device.preset") {
			with = fmt.Sprintf("with `device.preset = %q`: ", device)
			m, err = topofile.Read(name, data, device)
		}
		is := ""
		var wrong *system.Error
		if errors.As(err, &wrong) {
			is = "refused: " + wrong.Within()
		} else {
			require.NoError(t, err)
			is = with + m.Sketch()
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, f[2], strings.ReplaceAll(is, "|", "/"))
	}
	return b.String()
}
