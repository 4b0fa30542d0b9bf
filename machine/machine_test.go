package machine

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/topology"
	"collsim/unit"
)

// TestNames: the names, for which no file is read, are those of the catalogue, in its order, and
// each is found as the same machine.
func TestNames(t *testing.T) {
	names := Names()
	for i, m := range Catalogue() {
		require.Equal(t, names[i], m.Name)
		found, err := Find(m.Name)
		require.NoError(t, err)
		require.Same(t, m, found)
	}
	require.Len(t, Catalogue(), len(names))
}

// TestCatalogue reads every machine: its device is one, its network can be built, a message between
// two GPUs of a node reaches what is known, and every figure has a source.
func TestCatalogue(t *testing.T) {
	require.GreaterOrEqual(t, len(Catalogue()), 40)
	for _, m := range Catalogue() {
		_, err := device.Lookup(m.Device)
		require.NoError(t, err, m.Name)
		require.NotEmpty(t, m.About, m.Name)
		for _, f := range m.Figures {
			require.NotEmpty(t, f.Source, "%s: %s", m.Name, f.Name)
			require.False(t, strings.HasPrefix(f.Source, "assumed") && f.Source == "assumed", m.Name)
		}
		for _, nodes := range []int{1, 2, 4} {
			node := m.Node(m.GPUs)
			p := topology.Params{Nodes: nodes, Node: &node}
			if nodes > 1 {
				p.Network = &topology.Params{Preset: m.Joins, NICs: m.NICs,
					Bandwidth: m.NICReached(nodes), Latency: m.Hop / 2}
			}
			g, err := topology.Build(p)
			require.NoError(t, err, m.Name)
			require.NoError(t, g.Connected(), m.Name)
			require.Len(t, g.Ranks, nodes*m.GPUs, m.Name)
			if m.Wires == nil {
				require.Equal(t, m.Link(), slowest(g, 0, 1), m.Name)
			}
			if nodes > 1 {
				require.LessOrEqual(t, slowest(g, 0, m.GPUs), m.NICReached(nodes), m.Name)
			}
		}
		if m.Wires == nil {
			require.LessOrEqual(t, m.Rate, sheet(t, m), m.Name)
		}
		require.Contains(t, m.Sketch(), m.Device)
	}
}

// sheet is the rate of a GPU by its data sheet.
func sheet(t *testing.T, m *Machine) unit.Rate {
	for _, f := range m.Figures {
		if f.Name == "gpu_rate" {
			rate, err := unit.ParseRate(f.Sheet)
			require.NoError(t, err, m.Name)
			return rate
		}
	}
	return 0
}

// slowest is the rate of the slowest link between two ranks.
func slowest(g *topology.Graph, src, dst int) unit.Rate {
	rate := unit.Unlimited
	for _, link := range g.Route(src, dst, nil) {
		rate = min(rate, g.Link(link).Bandwidth)
	}
	return rate
}

// TestNICsOfManyNodes: the share of a NIC falls with nodes where somebody has seen that.
func TestNICsOfManyNodes(t *testing.T) {
	m, err := Find("mn5")
	require.NoError(t, err)
	for nodes, want := range map[int]string{2: "22.45 GB/s", 4: "22.45 GB/s", 7: "22.45 GB/s",
		8: "21.325 GB/s", 16: "19.9 GB/s", 1000: "19.9 GB/s"} {
		require.Equal(t, want, m.NICReached(nodes).String(), nodes)
	}
}

// TestLike: a machine has the figures of the one that it is like, and says from where.
func TestLike(t *testing.T) {
	alps, err := Find("alps")
	require.NoError(t, err)
	gh200, err := Find("gh200-4")
	require.NoError(t, err)
	require.Equal(t, gh200.Rate, alps.Rate)
	require.Equal(t, "gh200-4", alps.Figures[0].Of)
	require.NotEmpty(t, alps.Env)
	require.Empty(t, gh200.Env)
	_, err = Find("dgx-h10")
	require.ErrorContains(t, err, "dgx-h100")
}

// TestReadRefuses names the machine, the key and what was expected.
func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"about = ":       "mine: toml",
		`about = "mine"`: "mine: device: missing: every GPU",
		"like = \"dgx-h100\"\ngpus = { is = \"many\", source = \"me\" }": `gpus: "many": a whole number`,
		"like = \"dgx-h100\"\ngpus = { is = \"4\" }":                     "is and source are expected",
		"like = \"dgx-h100\"\ngpu = { is = \"4\", source = \"me\" }":     "gpu: no such figure",
		"like = \"dgx-h1\"": `like: "dgx-h1": a machine`,
		"like = \"dgx-h100\"\ngpus = { is = \"4\", source = \"me\", of = \"x\" }":       "no such key",
		"like = \"dgx-h100\"\nnic_share = { is = \"8: 9 %, 4: 8 %\", source = \"me\" }": "rise",
	} {
		_, err := Read("mine", []byte(text))
		require.ErrorContains(t, err, want)
	}
	m, err := Read("mine", []byte("about = \"half\"\nlike = \"dgx-h100\"\n"+
		"gpus = { is = \"4\", source = \"me\" }\n"))
	require.NoError(t, err)
	require.Equal(t, 4, m.GPUs)
	require.Equal(t, "h100-sxm", m.Device)
}

// TestOptionalAllocs: every key of every machine is looked up among the fitted figures, which are
// not listed again for that.
func TestOptionalAllocs(t *testing.T) {
	require.Zero(t, testing.AllocsPerRun(10, func() { require.True(t, isOptional("ring_ll128")) }))
}
