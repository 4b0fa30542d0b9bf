package run_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/formats"
	"collsim/formats/forestcoll"
	"collsim/internal/samples"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// forestWire is a pair of links of so many gigabytes a second.
func forestWire(from, to string, capacity int) topology.Wire {
	return topology.Wire{From: from, To: to, Bandwidth: unit.Rate(capacity) * unit.Rate(unit.GB),
		Both: true}
}

// forestMatrix is a wire for every pair of GPUs with a digit above 0 in the upper triangle.
func forestMatrix(capacity int, rows ...string) (wires []topology.Wire) {
	for r, row := range rows {
		for c, digit := range row {
			if n := int(digit - '0'); c > r && n > 0 {
				wires = append(wires, forestWire(fmt.Sprint("gpu", r), fmt.Sprint("gpu", c), n*capacity))
			}
		}
	}
	return wires
}

// forestGrid is a mesh of rows × columns, or with around a torus.
func forestGrid(rows, columns int, around bool) (wires []topology.Wire) {
	gpu := func(r, c int) string { return fmt.Sprint("gpu", r%rows*columns+c%columns) }
	for r := range rows {
		for c := range columns {
			if c+1 < columns || around && columns > 2 {
				wires = append(wires, forestWire(gpu(r, c), gpu(r, c+1), 1))
			}
			if r+1 < rows || around && rows > 2 {
				wires = append(wires, forestWire(gpu(r, c), gpu(r+1, c), 1))
			}
		}
	}
	return wires
}

// forestNodes is nodes of GPUs on a switch, and a wire from each GPU to a switch between the nodes.
func forestNodes(nodes, gpus, inside, between int) (wires []topology.Wire) {
	for r := range nodes * gpus {
		gpu := fmt.Sprint("gpu", r)
		wires = append(wires, forestWire(gpu, fmt.Sprintf("(%d,'SW',0)", r/gpus), inside),
			forestWire(gpu, "(-1,'IB',0)", between))
	}
	return wires
}

// forestA100 is ForestColl's DGX A100: 300 GB/s to the switch of the node, and a NIC of 25 GB/s a
// GPU; NICs of even and odd GPUs are on switches of their own.
func forestA100(nodes int) (wires []topology.Wire) {
	for r := range nodes * 8 {
		gpu, nic := fmt.Sprint("gpu", r), fmt.Sprintf("(%d,'mlx5',%d)", r/8, r%8)
		wires = append(wires, forestWire(gpu, fmt.Sprintf("(%d,'NVSwitch',0)", r/8), 300),
			forestWire(gpu, nic, 25), forestWire(nic, fmt.Sprintf("(-1,'IB',%d)", r%2), 25))
	}
	return wires
}

// forestTopologies are the networks that the trees were made for, as topologies.py of
// liangyuRain/ForestColl has them; links of the abstract shapes carry 1 GB/s.
func forestTopologies() map[string][]topology.Wire {
	dgx1 := forestMatrix(1, "01122000", "00210200", "00020010", "00000001", "00000112", "00000021",
		"00000002")
	mi250 := forestMatrix(50, "0400200010000000", "0000010001100000", "0004001001100000",
		"0000000200010000", "0000041000000000", "0000001100000000", "0000000400000000", "",
		"0000000004002000", "0000000000000100", "0000000000040010", "0000000000000002",
		"0000000000000410", "0000000000000011", "0000000000000004")
	cube := forestMatrix(1, "01101000", "00010100", "00010010", "00000001", "00000110", "00000001",
		"00000001")
	return map[string][]topology.Wire{
		"ring4": forestGrid(1, 4, true), "ring8": forestGrid(1, 8, true),
		"full4": forestMatrix(1, "0111", "0011", "0001"),
		"full8": forestMatrix(1, "01111111", "00111111", "00011111", "00001111", "00000111",
			"00000011", "00000001"),
		"mesh3x3": forestGrid(3, 3, false), "mesh4x4": forestGrid(4, 4, false),
		"torus4x4": forestGrid(4, 4, true), "hypercube3": cube, "dgx1_v100": dgx1, "mi250_1": mi250,
		"twolevel_2x4_10_1":   forestNodes(2, 4, 10, 1),
		"twolevel_2x8_300_25": forestNodes(2, 8, 300, 25),
		"twolevel_3x4_10_1":   forestNodes(3, 4, 10, 1),
		"a100_2":              forestA100(2),
	}
}

// forestNode is the name here of a node there: a GPU by its number among all, a switch as it is.
func forestNode(name string, gpus int) string {
	name = strings.ReplaceAll(name, " ", "")
	var node, gpu int
	if _, err := fmt.Sscanf(name, "(%d,'GPU',%d)", &node, &gpu); err == nil {
		return fmt.Sprint("gpu", node*gpus+gpu)
	}
	return name
}

// forestCount is the nodes of a network, as its name says.
func forestCount(network string) (nodes int) {
	for _, format := range []string{"twolevel_%dx", "a100_%d"} {
		if _, err := fmt.Sscanf(network, format, &nodes); err == nil {
			return nodes
		}
	}
	return 1
}

// forestFile is what the test reads of a file by itself.
type forestFile struct {
	Trees []struct {
		Height int `xml:"height,attr"`
		Sends  []struct {
			Path string `xml:"path,attr"`
		} `xml:"send"`
	} `xml:"tree"`
}

// checkForestPaths holds the routes of a network to the paths that the trees are made of, and
// returns how high the highest tree says it is.
func checkForestPaths(t *testing.T, text []byte, g *topology.Graph, gpus int) (height int) {
	var file forestFile
	require.NoError(t, xml.Unmarshal(text, &file))
	for _, tree := range file.Trees {
		height = max(height, tree.Height)
		for _, send := range tree.Sends {
			names := strings.Split(strings.ReplaceAll(send.Path, "),(", ");("), ";")
			var from, to int
			_, err := fmt.Sscanf(forestNode(names[0], gpus)+forestNode(names[len(names)-1], gpus),
				"gpu%dgpu%d", &from, &to)
			require.NoError(t, err)
			want := []string{g.Nodes()[g.Ranks[from]].Name}
			for _, l := range g.Route(from, to, nil) {
				want = append(want, g.Nodes()[g.Links()[l].To].Name)
			}
			for i := range names {
				names[i] = forestNode(names[i], gpus)
			}
			require.Equal(t, want, names)
		}
	}
	return height
}

// TestForestCollRates: on the network that they are for, in many tiles, without latency, the trees
// come within 1 % of the bandwidth that ForestColl computes for them, and not above it. The
// routes are the paths of the file.
func TestForestCollRates(t *testing.T) {
	samples.Each(t, "forestcoll", func(t *testing.T, set samples.Set) {
		require.Len(t, set.Cases, samples.Of(set, 6, 21))
		for _, c := range set.Cases {
			t.Run(c["file"], func(t *testing.T) {
				text, err := os.ReadFile(set.Path(c["file"]))
				require.NoError(t, err)
				checkForestRate(t, text, c)
			})
		}
	})
}

func checkForestRate(t *testing.T, text []byte, c map[string]string) {
	var published, optimal float64
	var chunks int64
	_, err := fmt.Sscan(c["algbw"]+" "+c["opt_algbw"]+" "+c["k"], &published, &optimal, &chunks)
	require.NoError(t, err)
	g, err := topology.Links(0, forestTopologies()[c["topology"]])
	require.NoError(t, err)
	height := checkForestPaths(t, text, g, len(g.Ranks)/forestCount(c["topology"]))
	// The last tile is as many rounds behind the first as the highest tree has levels.
	tiles := 40 * int64(height)
	size := unit.Bytes(tiles*int64(len(g.Ranks))*chunks) * forestcoll.TileSize
	f, err := forestcoll.Read(bytes.NewReader(text), formats.Options{File: c["file"], Bytes: size})
	require.NoError(t, err)
	r, err := sim.Run(f.Schedule, sim.Env{Graph: g, Device: device.Ideal(), Slots: 8}, sim.Options{})
	require.NoError(t, err)
	algbw := float64(f.Schedule.Spec.Bytes()) * 1000 / float64(r.Time) // bytes a nanosecond
	require.GreaterOrEqual(t, algbw, 0.99*published)
	require.LessOrEqual(t, algbw, published*(1+1e-9))
	require.LessOrEqual(t, algbw, optimal*(1+1e-9))
}
