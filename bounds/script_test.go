package bounds

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/sim/simtest"
	"collsim/topology"
	"collsim/unit"
)

// TestScripts prints the bounds of collectives on networks, as testdata/scripts shows:
//
//	network PRESET ranks=N   a preset, every link of 1 GB/s and 1 us
//	network                  wires both ways, one a line: from to GB/s; 1 us each
//	slow LINK GB/S           changes a link
//	bounds [KIND…]           all kinds or some, of a million bytes a rank (see collective.Kind)
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		var g *topology.Graph
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "network":
				g = scriptNetwork(t, d)
				return fmt.Sprintf("%d ranks, %d nodes, %d links\n",
					len(g.Ranks), len(g.Nodes()), len(g.Links()))
			case "slow":
				rate, err := unit.ParseRate(d.CmdArgs[1].Key + " GB/s")
				require.NoError(t, err)
				require.NoError(t, g.Override(d.CmdArgs[0].Key, topology.Change{Bandwidth: rate}))
				return ""
			case "bounds":
				return scriptBounds(t, g, d)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

func scriptNetwork(t *testing.T, d *datadriven.TestData) *topology.Graph {
	if len(d.CmdArgs) > 0 {
		ranks := 0
		d.ScanArgs(t, "ranks", &ranks)
		g, err := simtest.Network(d.CmdArgs[0].Key, ranks, gigabyte, unit.Microsecond)
		require.NoError(t, err)
		return g
	}
	var wires []topology.Wire
	for _, line := range strings.Split(d.Input, "\n") {
		words := strings.Fields(line)
		capacity, err := strconv.Atoi(words[2])
		require.NoError(t, err)
		w := wire(words[0], words[1], capacity)
		w.Latency = unit.Microsecond
		wires = append(wires, w)
	}
	g, err := topology.Links(0, wires)
	require.NoError(t, err)
	return g
}

func scriptBounds(t *testing.T, g *topology.Graph, d *datadriven.TestData) string {
	kinds := collective.Kinds()
	if len(d.CmdArgs) > 0 {
		kinds = nil
	}
	for _, a := range d.CmdArgs {
		kind, err := collective.ParseKind(a.Key)
		require.NoError(t, err)
		kinds = append(kinds, kind)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%-15s %10s %17s %17s  %s\n", "", "latency", "bandwidth", "lower", "cut")
	for _, kind := range kinds {
		b := boundsOf(t, specOf(kind, len(g.Ranks), 250_000), g)
		line := fmt.Sprintf("%-15v %10v %17v %17v  %s",
			kind, b.Latency, b.Bandwidth, b.Lower, b.Cut)
		fmt.Fprintln(&out, strings.TrimRight(line, " "))
	}
	return out.String()
}
