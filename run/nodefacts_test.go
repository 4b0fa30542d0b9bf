package run_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos/nccl"
	"collsim/run"
	"collsim/scenarios"
)

// picked is what NCCL takes of an all_reduce of a size on a scenario.
func picked(t *testing.T, scenario, size string) string {
	t.Helper()
	s, err := run.Load("s.toml", []byte(scenario+fmt.Sprintf(`
[check]
proof = false
numbers = false
[[collective]]
kind = "all_reduce"
algorithm = "nccl:auto"
bytes = %q
`, size)), run.LoadOptions{})
	require.NoError(t, err, scenario)
	report, err := s.Run(context.Background(), run.RunOptions{})
	require.NoError(t, err, scenario)
	return report.Results[0].Picked.String()
}

// TestNCCLOfScenario: which machine NCCL's model answers for follows from the scenario's machine,
// or from its device and network; the operator's variables hold, and the scenario's win over them.
func TestNCCLOfScenario(t *testing.T) {
	flat := func(preset, device string, ranks int) string {
		return fmt.Sprintf("topology.preset = %q\ntopology.ranks = %d\ndevice.preset = %q\n"+
			"topology.bandwidth = \"200 GB/s\"\ntopology.latency = \"500 ns\"\n", preset, ranks, device)
	}
	machine := func(name string, nodes int) string {
		return fmt.Sprintf("topology.preset = %q\ntopology.nodes = %d\n", name, nodes)
	}
	for _, test := range []struct{ scenario, size, want string }{
		{flat("switch", "h100-sxm", 8), "64 MiB", "NVLS Simple, 16 of 16 channels"},
		{flat("switch", "h100-sxm", 8) + "topology.multimem = false\n", "64 MiB",
			"Ring Simple, 24 of 24 channels"},
		{flat("switch", "a100-40gb", 8), "4 MiB", "Ring LL128, 24 of 24 channels"},
		{flat("switch", "v100-32gb", 8), "64 MiB", "Ring Simple, 12 of 12 channels"},
		{flat("switch", "rtx-4090", 8), "64 MiB", "Ring Simple, 4 of 4 channels"},
		{flat("full-mesh", "a100-40gb", 4), "64 MiB", "Ring Simple, 24 of 24 channels"},
		{flat("switch", "ideal", 8), "64 MiB", "Ring Simple, 24 of 24 channels"},
		{machine("dgx-b200", 1), "64 MiB", "NVLS Simple, 24 of 24 channels"},
		{machine("dgx-1v", 1), "64 MiB", "Ring Simple, 12 of 12 channels"},
		{machine("p4d", 2), "256 MiB", "Tree LL128, 8 of 8 channels"},
		{machine("gh200-4", 1), "64 MiB", "Ring Simple, 24 of 24 channels"},
		{machine("dgx-h100", 2), "64 MiB", "NVLSTree Simple, 16 of 16 channels"},
		{machine("g4dn", 4), "64 KiB", "Tree LL, "},
		{machine("g4dn", 4) + "topology.network.plugin_latency = \"0 s\"\n", "64 KiB", "Ring LL, "},
		{machine("dgx-h100", 2), "16 MiB", "NVLSTree Simple, "},
		{machine("dgx-h100", 2) + "topology.network.plugin_latency = \"75 us\"\n", "16 MiB",
			"Ring LL128, "},
		{machine("a3-high", 2), "1 KiB", "Ring Simple, 1 of 8 channels"},
		{machine("alps", 1) + "nccl.env = { NCCL_ALGO = \"ring\" }\n", "8 MiB", "Ring Simple, "},
		{machine("alps", 1) + "nccl.env = { NCCL_PROTO = \"ll128\" }\n", "1 KiB", "Tree LL128, "},
	} {
		got := picked(t, test.scenario, test.size)
		require.True(t, strings.HasPrefix(got, test.want), "%s: %s", test.scenario, got)
	}
}

// TestNCCLElsewhere: NCCL is refused on GPUs that are not NVIDIA's, unless a machine is named.
func TestNCCLElsewhere(t *testing.T) {
	const scenario = `topology.preset = "mi300x-8"
[[collective]]
kind = "all_reduce"
bytes = "1 KiB"
algorithm = `
	load := func(algorithm string) error {
		s, err := run.Load("s.toml", []byte(scenario+fmt.Sprintf("%q", algorithm)), run.LoadOptions{})
		if err == nil {
			_, err = s.Run(context.Background(), run.RunOptions{})
		}
		return err
	}
	require.ErrorContains(t, load("nccl:auto"), "NCCL does not run on mi300x; what RCCL would choose "+
		"is not known here (machine=dgx-h100")
	require.NoError(t, load("nccl:auto(machine=dgx-a100)"))
}

// TestEnvironmentKeys: the keys of a scenario are the variables that NCCL's algorithms read.
func TestEnvironmentKeys(t *testing.T) {
	var keys []string
	for _, k := range scenarios.Keys() {
		if name, ok := strings.CutPrefix(k.Path, "nccl.env."); ok {
			keys = append(keys, name)
		}
	}
	names, about := nccl.Variables()
	require.ElementsMatch(t, names, keys)
	require.Len(t, about, len(names))
}

// TestLibraryNotes: a result says where a tuner plugin decides instead of NCCL's model, and where
// the machine is taken for another; else nothing.
func TestLibraryNotes(t *testing.T) {
	for scenario, want := range map[string][]string{
		"topology.preset = \"dgx-h100\"": nil,
		"topology.preset = \"p4d\"":      nil,
		"topology.preset = \"p5en\"": {"on p5en aws-ofi-nccl's tuner plugin decides; this is " +
			"NCCL's own model"},
		"topology.preset = \"a3-mega\"": {"on a3-mega TCPXO's tuner plugin decides; this is " +
			"NCCL's own model"},
		"topology = { preset = \"switch\", ranks = 8, bandwidth = \"1 GB/s\", latency = \"1 us\" }": {
			"device ideal is nobody's: taken for a DGX H100"},
	} {
		s, err := run.Load("s.toml", []byte(scenario+"\n[collective]\nkind = \"all_reduce\"\n"+
			"algorithm = \"nccl:auto\"\nbytes = 8\n"), run.LoadOptions{})
		require.NoError(t, err, scenario)
		require.Equal(t, want, run.LibraryNotes(s.Points[0], "nccl:auto"), scenario)
		require.Nil(t, run.LibraryNotes(s.Points[0], "ring"))
	}
}
