package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/machine"
)

// byName is a scenario on a machine.
func byName(name, more string) string {
	return fmt.Sprintf("topology.preset = %q\ncollective.kind = \"all_reduce\"\n"+
		"collective.bytes = \"1 MiB\"\n%s", name, more)
}

// TestEveryMachineIsWhatItsKeysSay: the name of a machine, and the keys that it stands for written
// out, are the same point.
func TestEveryMachineIsWhatItsKeysSay(t *testing.T) {
	for _, m := range machine.Catalogue() {
		for _, nodes := range []int{1, 3} {
			short := byName(m.Name, fmt.Sprintf("topology.nodes = %d\n", nodes))
			var long strings.Builder
			fmt.Fprintf(&long, "topology.nodes = %d\ncollective.kind = \"all_reduce\"\n"+
				"collective.bytes = \"1 MiB\"\n", nodes)
			for _, k := range m.Keys(nodes) {
				if m.Wires == nil || k.Path != "topology.node.ranks" { // which the preset says
					fmt.Fprintf(&long, "%s = %s\n", k.Path, k.Value)
				}
			}
			if m.Wires != nil { // no keys say what they are
				fmt.Fprintf(&long, "topology.preset = %q\n", m.Name)
			}
			s, err := load("s.toml", []byte(short), testOptions())
			require.NoError(t, err, m.Name)
			l, err := load("s.toml", []byte(long.String()), testOptions())
			require.NoError(t, err, long.String())
			require.Equal(t, m.Name, s.Points[0].Topology.Machine)
			require.Equal(t, l.Points[0].Topology.params, s.Points[0].Topology.params, m.Name)
			require.Equal(t, l.Points[0].Device, s.Points[0].Device, m.Name)
			require.Equal(t, nodes*m.GPUs, s.Points[0].Topology.Ranks, m.Name)
		}
	}
}

// TestMachineKeysWin: what is given wins over what the name of a machine stands for, and ranks
// without nodes are as many nodes as these take, or part of one.
func TestMachineKeysWin(t *testing.T) {
	for more, want := range map[string][]int{ // nodes, ranks, NICs of a node
		"":                                       {1, 8, 0},
		"topology.ranks = 4":                     {1, 4, 0},
		"topology.ranks = 24":                    {3, 24, 8},
		"topology.nodes = 2":                     {2, 16, 8},
		"topology.nodes = 2\ntopology.ranks = 8": {2, 8, 4},
		"topology.nodes = 2\ntopology.network.nics = 2":                         {2, 16, 2},
		"topology.nodes = 2\ntopology.node.ranks = 6":                           {2, 12, 8},
		"topology.node.ranks = [8, 8, 4]":                                       {3, 20, 8},
		"topology.node.ranks = [4, 4]":                                          {2, 8, 4},
		"topology.node.ranks = [3]":                                             {1, 3, 0},
		"topology.node.ranks = [8, 2]\ntopology.ranks = 10\ntopology.nodes = 2": {2, 10, 8},
		"topology.nodes = 2\ntopology.absent = [\"node0/gpu3\", \"*/nic1\"]":    {2, 15, 8},
		"topology.absent = [\"node0/gpu3\"]":                                    {1, 7, 0},
	} {
		s, err := load("s.toml", []byte(byName("dgx-h100", more)), testOptions())
		require.NoError(t, err, more)
		of, nics := s.Points[0].Topology, 0
		if of.params.Network != nil {
			nics = of.params.Network.NICs
		}
		require.Equal(t, want, []int{of.Nodes, of.Ranks, nics}, more)
	}
	p4d, err := load("s.toml", []byte(byName("p4d", "topology.nodes = 2\ntopology.ranks = 6")),
		testOptions())
	require.NoError(t, err)
	require.Equal(t, 2, p4d.Points[0].Topology.params.Network.NICs) // of pairs
	s, err := load("s.toml", []byte(byName("dgx-h100", "device.preset = \"h200\"\n"+
		"topology.node.bandwidth = \"100 GB/s\"\n[[topology.link]]\n"+
		"match = \"node0/gpu1 <-> node0/switch\"\nbandwidth = \"50 %\"")), testOptions())
	require.NoError(t, err)
	require.Equal(t, "h200", s.Points[0].Device.Name)
	require.Equal(t, "100 GB/s", s.Points[0].Topology.params.Node.Bandwidth.String())
	require.True(t, s.Points[0].Topology.Changed())
}

// TestMachinesInErrors: what is wrong is told at the keys that are given, or with the machine.
func TestMachinesInErrors(t *testing.T) {
	for more, want := range map[string]string{
		"topology.ranks = 20": "s.toml:4: topology.ranks = 20: nodes = 3 of 8 ranks have 24\n" +
			"  nodes that differ: node.ranks = [8, 8, 4]",
		"topology.nodes = 3\ntopology.ranks = 10": "topology.ranks = 10: nodes = 3 of 8 ranks have 24\n" +
			"  nodes that differ: node.ranks = [4, 4, 2]",
		"topology.node.ranks = [8, 9]": "s.toml:4: topology.node.ranks = [8, 9]: node 1 has 9 ranks; " +
			"dgx-h100 has 8 GPUs",
		"topology.nodes = 3\ntopology.node.ranks = [8, 4]": "s.toml:5: topology.node.ranks = [8, 4]: " +
			"nodes = 3: the ranks of as many nodes are expected, not of 2",
		"topology.ranks = 13\ntopology.node.ranks = [8, 4]": "s.toml:4: topology.ranks = 13: " +
			"nodes of [8 4] ranks have 12",
		"topology.node.ranks = [8, 0]": "s.toml:4: topology.node.ranks = [8, 0]: that of node 1 is 0; " +
			"1 to 1048576 is expected",
		"topology.nodes = 2\ntopology.absent = [\"node2/gpu1\"]": "s.toml:5: topology.absent = " +
			"[\"node2/gpu1\"]: matches no GPU and no NIC; nearest: node0/gpu1, node1/gpu1, node0/gpu0",
		"topology.nodes = 2\ntopology.absent = \"node1/nic*\"": "s.toml:5: topology.absent = " +
			"\"node1/nic*\": node1 has 8 ranks, and none has a NIC",
		"topology.node.ranks = [1, 8]\ntopology.absent = \"node1/nic0\"": "s.toml:5: topology.absent = " +
			"\"node1/nic0\": no route from node0/gpu0 to node1/gpu0: their NICs hang on no network together",
		"topology.k = 4":                  "topology.k = 4",
		"topology.bandwidth = \"1 GB/s\"": "topology.bandwidth",
	} {
		_, err := load("s.toml", []byte(byName("dgx-h100", more)), testOptions())
		require.ErrorContains(t, err, want, more)
	}
	_, err := load("s.toml", []byte(byName("dgx-h10", "")), testOptions())
	require.ErrorContains(t, err, `did you mean "dgx-h100"?`)
}
