package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
)

// What docs/devices.md begins with.
const aboutDevices = `# Devices

<!-- Written from the table in package device, by go test ./cmd/collsim -run Devices -update -->

What a GPU and its wires cost is one table of figures; "collsim list devices" prints it, with --json
for programs. A preset gives every figure with its source: a document of its vendor's, what a device
said of itself, or somebody's measurement. What nobody publishes is assumed, and says so.

**Only ideal can be simulated today.** Figures that have a key in
[scenario.md](scenario.md#device) are spent by simulations; the others are there to be looked up
until kernels, streams and copy engines are simulated. So the GPUs below cannot be named in a
scenario yet: their overheads and rates of steps are not known, and a preset that passed them over
in silence would mislead.

## How to read them

* Peaks are of dense operands; documents that have them with sparsity give twice as much. A test
  holds them to SMs · operations per clock and SM · clock, within 1 %.
* A peak is not reached: matmul_efficiency is the best that was measured of large matmuls, where
  somebody did. What a matmul loses because its blocks do not fill the last wave of SMs, or its
  edges a tile, is not in it: that follows from the shape (NVIDIA, Matrix Multiplication Background
  User's Guide, sections 3.1 and 3.2).
* launch is the host's time for one launch; simulations spend it once a call. Where launch and
  graph_node were measured, they are upper bounds: 64 KiB over the rate at which many small kernels
  that move so much follow one another, by single launches and in a graph.
* Links count each way; a document's figure for both together is halved.
* A float32 matmul on matrix units rounds its operands to TF32. Without that, the vector peak holds.

## Figures

`

// TestDevicesDocument writes docs/devices.md again.
func TestDevicesDocument(t *testing.T) {
	var b strings.Builder
	b.WriteString(aboutDevices)
	b.WriteString("| figure | in | scenario key | what it is |\n|---|---|---|---|\n")
	for _, f := range device.Figures() {
		key := ""
		if f.Key != "" {
			key = "`" + f.Key + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %v | %s | %s |\n", f.Name, f.Unit, key, f.About)
	}
	for _, p := range device.Catalogue() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| figure | value | source |\n|---|---|---|\n", p.Name,
			strings.TrimSuffix(p.About, ".")+".")
		for _, v := range p.Values {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", v.Figure, v.Text, v.Source)
		}
	}
	path := filepath.Join(repository(t), "docs", "devices.md")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
		return
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, strings.Split(string(have), "\n"), strings.Split(b.String(), "\n"),
		"go test ./cmd/collsim -run Devices -update rewrites it")
}
