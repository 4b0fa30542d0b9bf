package exp

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/device"
	"collsim/schedule/forestcoll"
	"collsim/schedule/foreign"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// forests is where the published trees lie.
const forests = "../../../../shared/schedules/forestcoll"

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

func TestForestCollRates(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(forests, "index.toml"))
	if os.IsNotExist(err) {
		t.Skip("the published trees are not beside the repository: ", forests)
	}
	require.NoError(t, err)
	var index struct {
		Case []struct {
			File, Topology string
			Opt            float64 `toml:"opt_algbw"`
			Algbw          float64
		}
	}
	require.NoError(t, toml.Unmarshal(text, &index))
	networks := forestTopologies()
	for _, c := range index.Case {
		t.Run(c.File, func(t *testing.T) {
			g, err := topology.Links(0, networks[c.Topology])
			require.NoError(t, err)
			for _, tiles := range []int64{128, 512, 1024} {
			f, err := os.Open(filepath.Join(forests, c.File))
			require.NoError(t, err)
			defer f.Close()
			k := int64(1)
			bytes := unit.Bytes(tiles*int64(len(g.Ranks))*k) * forestcoll.TileSize
			file, err := forestcoll.Read(f, foreign.Options{File: c.File, Bytes: bytes})
			require.NoError(t, err)
			r, err := sim.Run(file.Schedule, sim.Env{Graph: g, Device: device.Ideal(), Slots: 8}, sim.Options{})
			require.NoError(t, err)
			algbw := float64(file.Schedule.Spec.Bytes())*1000/float64(r.Time)
			t.Log(tiles, algbw/c.Algbw, r.Messages, file.Notes[0])
			}
		})
	}
	_ = json.Unmarshal
	_ = xml.Unmarshal
	_ = strings.Cut
	_ = collective.AllGather
}
