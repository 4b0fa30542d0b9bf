package synth

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/topology"
	"collsim/unit"
)

// wire is a pair of links of so many gigabytes a second.
func wire(from, to string, capacity int) topology.Wire {
	return topology.Wire{From: from, To: to, Bandwidth: unit.Rate(capacity) * unit.Rate(unit.GB),
		Both: true}
}

func gpu(r int) string { return fmt.Sprint("gpu", r) }

// grid is a mesh of rows × columns, or with around a torus.
func grid(rows, columns int, around bool) (wires []topology.Wire) {
	for r := range rows {
		for c := range columns {
			if c+1 < columns || around && columns > 2 {
				wires = append(wires, wire(gpu(r*columns+c), gpu(r*columns+(c+1)%columns), 1))
			}
			if r+1 < rows || around && rows > 2 {
				wires = append(wires, wire(gpu(r*columns+c), gpu((r+1)%rows*columns+c), 1))
			}
		}
	}
	return wires
}

// cluster is nodes of GPUs on a switch of their own, each of which also has a wire to one of some
// switches between the nodes, in turn.
func cluster(nodes, gpus, inside, between, planes int) (wires []topology.Wire) {
	for r := range nodes * gpus {
		wires = append(wires,
			wire(gpu(r), fmt.Sprintf("node%d", r/gpus), inside),
			wire(gpu(r), fmt.Sprintf("plane%d", r%gpus%planes), between))
	}
	return wires
}

// matrix is a wire for every pair of ranks with a digit above 0 in the upper triangle.
func matrix(capacity int, rows ...string) (wires []topology.Wire) {
	for r, row := range rows {
		for c, digit := range row {
			if n := int(digit - '0'); c > r && n > 0 {
				wires = append(wires, wire(gpu(r), gpu(c), n*capacity))
			}
		}
	}
	return wires
}

func star(ranks, capacity int) (wires []topology.Wire) {
	for r := range ranks {
		wires = append(wires, wire(gpu(r), "switch", capacity))
	}
	return wires
}

// published are the networks of optimal_algbw.json (ForestColl's topologies.py).
func published() map[string][]topology.Wire {
	oneWay := grid(1, 8, true)
	for i := range oneWay {
		oneWay[i].Both = false
	}
	return map[string][]topology.Wire{
		"ring4": grid(1, 4, true), "ring8": grid(1, 8, true), "uniring8": oneWay,
		"torus4x4": grid(4, 4, true), "torus3x3": grid(3, 3, true),
		"mesh3x3": grid(3, 3, false), "mesh4x4": grid(4, 4, false),
		"hypercube3": matrix(1, "01101000", "00010100", "00010010", "00000001", "00000110",
			"00000001", "00000001"),
		"full4": matrix(1, "0111", "0011", "0001"),
		"full8": matrix(1, "01111111", "00111111", "00011111", "00001111", "00000111", "00000011",
			"00000001"),
		"star8": star(8, 1), "a100_1": star(8, 300),
		"twolevel_2x4_10_1": cluster(2, 4, 10, 1, 1), "twolevel_3x4_10_1": cluster(3, 4, 10, 1, 1),
		"twolevel_2x8_300_25": cluster(2, 8, 300, 25, 1), "a100_2": cluster(2, 8, 300, 25, 2),
		"dgx1_v100": matrix(1, "01122000", "00210200", "00020010", "00000001", "00000112",
			"00000021", "00000002"),
		"mi250_1": matrix(50, "0400200010000000", "0000010001100000", "0004001001100000",
			"0000000200010000", "0000041000000000", "0000001100000000", "0000000400000000", "",
			"0000000004002000", "0000000000000100", "0000000000040010", "0000000000000002",
			"0000000000000410", "0000000000000011", "0000000000000004"),
	}
}

// graph returns the network of wires.
func graph(t require.TestingT, wires []topology.Wire) *topology.Graph {
	g, err := topology.Links(0, wires)
	require.NoError(t, err)
	return g
}

// randomGraph draws a connected network of 2 to 7 ranks and up to 3 switches. Every rank has a wire
// to one before it or to a switch, every switch one to the one before. There are more at random,
// some of them in one direction only, of rates from 1 to 9.
func randomGraph(t require.TestingT, r *rand.Rand) *topology.Graph {
	var wires []topology.Wire
	ranks, switches := 2+r.Intn(6), r.Intn(4)
	name := func(i int) string {
		if i < ranks {
			return gpu(i)
		}
		return fmt.Sprint("switch", i-ranks)
	}
	seen := map[[2]int]bool{}
	add := func(a, b int, both bool) {
		if a == b || seen[[2]int{a, b}] || both && seen[[2]int{b, a}] {
			return
		}
		w := wire(name(a), name(b), 1+r.Intn(9))
		w.Both = both
		w.Latency = unit.Time(r.Intn(3)) * unit.Microsecond
		seen[[2]int{a, b}], seen[[2]int{b, a}] = true, both || seen[[2]int{b, a}]
		wires = append(wires, w)
	}
	add(0, 1+r.Intn(ranks+switches-1), true)
	for i := 1; i < ranks; i++ {
		if to := r.Intn(i + switches); to < i {
			add(i, to, true)
		} else {
			add(i, ranks+to-i, true)
		}
	}
	for i := range switches {
		add(ranks+i, r.Intn(ranks), true)
		if i > 0 {
			add(ranks+i, ranks+i-1, true)
		}
	}
	for range r.Intn(2 * ranks) {
		add(r.Intn(ranks+switches), r.Intn(ranks+switches), r.Intn(3) > 0)
	}
	g, err := topology.Links(ranks, wires)
	require.NoError(t, err)
	if g.Connected() != nil { // two islands: draw again
		return randomGraph(t, r)
	}
	return g
}

// TestRandomGraph: the networks that other tests draw are connected, and of many sorts.
func TestRandomGraph(t *testing.T) {
	throughSwitch, throughRank := 0, 0
	for seed := range int64(100) {
		n := newNetwork(randomGraph(t, rand.New(rand.NewSource(seed))))
		for _, h := range n.hops {
			throughSwitch += min(1, len(h.links)-1)
		}
		throughRank += n.ranks*(n.ranks-1) - len(n.hops)
	}
	require.Positive(t, throughSwitch)
	require.Positive(t, throughRank)
}
