package run_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/device"
	"collsim/internal/tier"
	"collsim/run"
	"collsim/unit"
)

// oneNode is a collective of 256 MiB on 8 GPUs around a switch, at the rate of their data sheet.
func oneNode(d *device.Device, algorithm string) string {
	rate := d.GPU.NVLink
	if rate == 0 {
		rate = d.GPU.PCIe
	}
	return fmt.Sprintf(`check.numbers = false
topology.preset = "switch"
topology.ranks = 8
topology.bandwidth = %q
topology.latency = "500 ns"
device.preset = %q
collective.kind = "all_reduce"
collective.bytes = "256 MiB"
collective.algorithm = %s
`, rate, d.Name, algorithm)
}

// reportOf is what comes of a scenario.
func reportOf(t *testing.T, text string) *run.Report {
	t.Helper()
	s, err := run.Load("s.toml", []byte(text), run.LoadOptions{})
	require.NoError(t, err, text)
	report, err := s.Run(context.Background(), run.RunOptions{})
	require.NoError(t, err, text)
	return report
}

// TestDefaultFillsTheLinks: on every GPU, the fastest without a number of channels is as good as
// any number of channels makes a ring or a two-shot, within 3 %.
func TestDefaultFillsTheLinks(t *testing.T) {
	tried := 0
	for _, preset := range device.Catalogue() {
		d := preset.Device
		if d.LaneRate == unit.Unlimited || d.GPU.NVLink+d.GPU.PCIe == 0 {
			continue
		}
		tried++
		best := reportOf(t, oneNode(&d, `"fastest"`)).Results[0]
		require.Nil(t, best.Held, d.Name)
		var others []string
		for channels := 1; channels <= 32; channels += tier.Of(8, 1) {
			others = append(others, fmt.Sprintf(`"ring(channels=%d)"`, channels),
				fmt.Sprintf(`"two-shot(channels=%d)"`, channels))
		}
		for _, r := range reportOf(t, oneNode(&d, "["+strings.Join(others, ", ")+"]")).Results {
			require.LessOrEqual(t, float64(best.Time), 1.03*float64(r.Time), "%s: %v for %v", d.Name,
				best.Algorithm, r.Algorithm)
		}
	}
	require.GreaterOrEqual(t, tried, 10)
}

// fourNodes are nodes of 8 GPUs with a NIC of 50 GB/s each, on rails.
const fourNodes = `check.numbers = false
topology.nodes = 4
topology.node.preset = "switch"
topology.node.ranks = 8
topology.node.bandwidth = "450 GB/s"
topology.node.latency = "300 ns"
topology.network.preset = "rails"
topology.network.bandwidth = "400 Gbit/s"
topology.network.latency = "1.5 us"
collective.kind = %q
collective.bytes = "256 MiB"
collective.algorithm = %q
device.preset = %q
%s
`

// TestChannelsOfNodes: on nodes with several NICs a default takes all of them, and an algorithm
// that cannot, or is told not to, is said to leave some idle.
func TestChannelsOfNodes(t *testing.T) {
	for _, c := range []struct {
		kind, algorithm, device, more string
		channels                      int
		busbw                         float64 // at least, in GB/s
		idle                          bool    // says that NICs are
	}{
		{"all_reduce", "fastest", "h100-sxm", "", 16, 375, false},
		{"all_reduce", "ring", "h100-sxm", "", 16, 375, false},
		{"all_gather", "ring", "h100-sxm", "", 16, 370, false},
		{"reduce_scatter", "ring", "h100-sxm", "", 16, 370, false},
		{"broadcast", "chain", "h100-sxm", "", 16, 150, false},
		{"all_reduce", "ring", "h100-sxm", "topology.network.nics = 4", 16, 190, false},
		{"all_reduce", "ring", "ideal", "", 1, 49, true},
		{"all_reduce", "ring", "h100-sxm", "device.channels = 4", 4, 130, true},
		{"all_reduce", "ring", "h100-sxm", "collective.channels = 2", 2, 70, true},
	} {
		r := reportOf(t, fmt.Sprintf(fourNodes, c.kind, c.algorithm, c.device, c.more)).Results[0]
		bus, _ := r.BusBW()
		require.GreaterOrEqual(t, bus, c.busbw, "%+v", c)
		if c.algorithm != "fastest" {
			require.Equal(t, c.channels, r.Algorithm.Channels, "%+v", c)
		}
		require.Equal(t, c.idle, strings.Contains(strings.Join(r.Warnings, "\n"), "NICs"), "%+v", c)
	}
}

// TestSlowNIC: one of 8 NICs at a tenth of its speed costs a ring that takes all of them no more
// than that NIC's part at a tenth of the speed.
func TestSlowNIC(t *testing.T) {
	const slow = "[[topology.link]]\nmatch = \"node1/nic3 <-> rail3\"\nbandwidth = \"10 %\"\n"
	text := fmt.Sprintf(fourNodes, "all_reduce", "ring", "h100-sxm", "")
	whole := reportOf(t, text).Results[0]
	damaged := reportOf(t, text+slow).Results[0]
	ratio := float64(damaged.Time) / float64(whole.Time)
	require.Greater(t, ratio, 8.5)
	require.Less(t, ratio, 10.5)
}

// TestChannelsOfTeams: a team that has one rank a node has one NIC, and as many channels as that
// needs; a permute on NVLink fills it.
func TestChannelsOfTeams(t *testing.T) {
	r := reportOf(t, fmt.Sprintf(fourNodes, "all_reduce", "ring", "h100-sxm",
		`collective.teams = "rail"`)).Results[0]
	require.Equal(t, 2, r.Algorithm.Channels)
	require.Nil(t, r.Held)
	r = reportOf(t, fmt.Sprintf(fourNodes, "all_reduce", "ring", "h100-sxm",
		`collective.teams = "node"`)).Results[0]
	require.Equal(t, 13, r.Algorithm.Channels)
}

// beside is a matmul of all SMs beside a call that is longer.
const beside = `check.numbers = false
check.proof = false
topology.preset = "switch"
topology.ranks = 4
topology.bandwidth = "450 GB/s"
topology.latency = "500 ns"
topology.multimem = true
device.preset = "h100-sxm"
%s
[[program.tensor]]
name = "g"
shape = [8192, 4096]
[[program.tensor]]
name = "x"
shape = [2048, 4096]
[[program.tensor]]
name = "w"
shape = [4096, 3072]
[[program.op]]
name = "sum"
call = %q
in = "g"
out = "gs"
algorithm = %q
async = true
[[program.op]]
name = "mm"
kernel = "matmul"
in = ["x", "w"]
out = "h"
`

// TestMatmulBesideCalls: a matmul beside a call, whatever does it, is never faster than on a device
// that lacks the SMs that the call's channels have.
func TestMatmulBesideCalls(t *testing.T) {
	preset, err := device.Lookup("h100-sxm")
	require.NoError(t, err)
	mm := func(r *run.Report) unit.Time {
		ops := r.Programs[0].Ops
		last := ops[len(ops)-1]
		return last.End - last.Start
	}
	alone := map[int]unit.Time{}
	tried := 0
	for _, a := range run.Algorithms() {
		kind := a.Kinds[0]
		if strings.HasPrefix(a.Name, "openmpi") || kind != collective.AllReduce &&
			(kind != collective.AllGather || !tier.Long) {
			continue
		}
		name := a.Name
		if name == "nccl:nvlstree" || strings.HasPrefix(name, "nccl:collnet-") { // of several nodes
			continue
		}
		text := fmt.Sprintf(beside, "", kind, name)
		s, err := run.Load("s.toml", []byte(text), run.LoadOptions{})
		require.NoError(t, err)
		report, err := s.Run(context.Background(), run.RunOptions{})
		require.NoError(t, err, name)
		blocks := 0
		for _, part := range report.Programs[0].Lowered.Schedule.Parts() {
			seen := map[int]bool{}
			p := part.Schedule.Program(0)
			if part.Schedule.Spec.Kind != kind {
				continue
			}
			for lane := range p.Lanes() {
				if c := p.Walk(lane); !c.Done() {
					seen[p.Channel(lane)] = true
				}
			}
			blocks = max(blocks, len(seen))
		}
		if blocks == 0 { // by copy engines
			continue
		}
		switch name {
		case "nccl:nvls":
			require.Equal(t, 16, blocks, name)
		case "nccl:auto", "nccl:ring", "nccl:tree": // of 24
			require.GreaterOrEqual(t, blocks, 20, name)
		}
		tried++
		least, known := alone[blocks]
		if !known {
			left := preset.GPU.SMs - blocks
			share := func(x device.FLOPS) string {
				return (x * device.FLOPS(left) / device.FLOPS(preset.GPU.SMs)).String()
			}
			small := fmt.Sprintf("device.sms = %d\ndevice.tensor_bfloat16 = %q", left,
				share(preset.GPU.Tensor.BFloat16))
			text := strings.Replace(fmt.Sprintf(beside, small, kind, name), `name = "sum"`,
				"name = \"sum\"\nenabled = false", 1)
			least = mm(reportOf(t, text))
			alone[blocks] = least
		}
		require.GreaterOrEqual(t, mm(report), least, "%s, %d channels", name, blocks)
	}
	require.GreaterOrEqual(t, tried, 8)
}
