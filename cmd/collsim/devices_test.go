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

A scenario names one, and replaces what it knows better; so does --set device.hbm_bandwidth=...:

    [device]
    preset = "h100-sxm"
    overhead = "800 ns"

Figures that have a key in [scenario.md](scenario.md#device) are spent by simulations; from the
others follow some of these, or they are for information. A device with sms has a model of a GPU:
launches, streams, blocks on SMs, copy engines and a memory that kernels, copies and messages share.
What it does, and where it is simpler than a GPU, is said in [decision 18](decisions/0018-gpu.md).
On any other device nothing of this exists: its kernels, other than opaque ones, take no time.

## How to read them

* Peaks are of dense operands; documents that have them with sparsity give twice as much. A test
  holds them to SMs · operations per clock and SM · clock, within 1 %.
* A peak is not reached: matmul_efficiency is the part at which a matmul's blocks compute, clocks
  that fall under load included. What a matmul loses besides follows from its shape: its start, a
  wave that is not full, edges of tiles, small tiles that read the cache more often, and the memory,
  of which hbm_efficiency is reached ([decision 25](decisions/0025-kernels.md)). These figures are
  fitted to published times where there are enough (V100, A100, H100, MI300X); "collsim explain"
  says of each kernel of a program how it is cut and what bounds it. device.tile fixes the tile of
  all matmuls.
* launch is the host's time for one launch. A schedule that does not say what is launched is one
  call, and each of its channels holds a block on the SMs until it ends. Where launch and
  graph_node were measured, they are upper bounds: 64 KiB over the rate at which many small kernels
  that move so much follow one another, by single launches and in a graph.
* l2 is the last cache before the memory: NVIDIA's L2, AMD's Infinity Cache. A matmul's blocks find
  in it what those before them have read, as far back as it reaches
  ([decision 18](decisions/0018-gpu.md)).
* Links count each way; a document's figure for both together is halved.
* A float32 matmul on matrix units rounds its operands to TF32; simulations take the vector peak,
  as their numbers are not rounded so and PyTorch's are not unless it is told to. Nothing spends
  tensor_float32: who wants TF32 sets vector_float32 to it.
* overhead, reduce_rate and copy_rate are what a step of a channel costs; of lane_rate, which is
  what a channel moves at most, NCCL's tuner has figures.
* A call that does not say how many channels it has has as many as fill the links to its peers:
  ⌈rate of these links / (lane_rate · lanes of a channel that send at once)⌉, rounded up to a
  multiple of a node's NICs where a ring, a chain or a tree spans nodes, whose channels leave a node
  by different NICs; at most channels, and a quarter of the SMs. On the ideal device it is one. Of
  short vectors "fastest" tries one channel and half of these, too.
* Each channel holds its block as long as it runs, those of NCCL's schedules too: a matmul beside a
  call has what is left of the SMs.

## Figures

`

// What docs/devices.md says of protocols.
const aboutProtocols = `
## NCCL's protocols

A message of NCCL's takes one time by LL, another by LL128 and another by Simple, on a ring, on a
tree and between two peers. On NVIDIA's GPUs the schedules of nccl:auto and its like have these
times, which NCCL's own model counts with. base is what a call costs once, in place of launch and
launch_latency. nvlink and pcie are a message's latency from a GPU to another one of its node, in
place of overhead and of the latencies of the links there, whatever a scenario gives for these; a
[[topology.link]] with a latency of its own keeps it. Between nodes a message takes overhead, the
latencies of the network's links, which are the fabric's, and network on top. A node must be a
switch, links from each to each or wires; on other networks a message takes what its links take, and
the time by which its protocol is slower than LL.

[[device.protocol]] changes one of these figures, and has two more, which NCCL's tables have not:
rate, what a channel moves at most, flags included, and ramp, what a call takes longer for each
doubling of its bytes from 1 MiB to 16 MiB; the ramp of ring and simple counts for calls of our own
algorithms as well. "collsim calibrate --machine" fits them ([calibration.md](calibration.md)). Who
gives device.overhead, latency, launch or
range has measured something else than NCCL's tables: all messages then cost that. Our own
algorithms have overhead and the latencies of links.

| shape | protocol | base | nvlink | pcie | network | source |
|---|---|---|---|---|---|---|
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
	b.WriteString(aboutProtocols)
	h100, err := device.Lookup("h100-sxm")
	require.NoError(t, err)
	for _, row := range h100.Protocols {
		fmt.Fprintf(&b, "| %s | %s | %v | %v | %v | %v | %s |\n", row.Shape, row.Protocol, row.Base,
			row.NVLink, row.PCIe, row.Network, row.Source)
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
