package simtest

import (
	"fmt"
	"math/rand/v2"

	"collsim/topology"
	"collsim/unit"
)

// WiredNodes returns a random network of nodes given by wires. Two GPUs share a PCIe switch, and
// each such switch has a NIC. Mostly the nodes differ, and some GPUs and NICs are absent.
func WiredNodes(rng *rand.Rand, ranks int) topology.Params {
	rates := []unit.Rate{GBs, 2 * GBs, GBs / 2, unit.Unlimited}
	times := []unit.Time{0, 0, 100 * unit.Nanosecond, 250 * unit.Nanosecond}
	wire := func(from, to string) topology.Wire {
		return topology.Wire{From: from, To: to, Bandwidth: rates[rng.IntN(len(rates))],
			Latency: times[rng.IntN(len(times))], Both: true, Length: rng.IntN(3)}
	}
	p := topology.Params{Node: &topology.Params{Preset: "links"},
		Network: &topology.Params{Preset: "switch", Bandwidth: rates[rng.IntN(len(rates))],
			Latency: times[rng.IntN(len(times))]},
		Routing: topology.Routing(rng.IntN(3) / 2),
		Order:   []string{"block", "round-robin"}[rng.IntN(3)/2]}
	most, alike := 1, 1+rng.IntN(ranks)
	isAlike := ranks%alike == 0
	for left := ranks; left > 0; {
		size := 1 + rng.IntN(left)
		if isAlike {
			size = alike
		}
		left -= size
		if !isAlike && rng.IntN(3) == 0 { // and an absent GPU
			p.Absent = append(p.Absent, fmt.Sprintf("node%d/gpu%d", len(p.Sizes), rng.IntN(size+1)))
			size++
		}
		p.Sizes, most = append(p.Sizes, size), max(most, size)
	}
	for gpu := range most {
		pcie := fmt.Sprint("pcie", gpu/2)
		p.Node.Wires = append(p.Node.Wires, wire(fmt.Sprint("gpu", gpu), pcie))
		if gpu%2 == 0 {
			p.Node.Wires = append(p.Node.Wires, wire(pcie, "cpu0"), wire(pcie, fmt.Sprint("nic", gpu/2)))
		}
	}
	for node := range p.Sizes {
		if nic := rng.IntN(2 * most); !isAlike && 0 < nic && nic < (most+1)/2 { // nic0 is always there
			p.Absent = append(p.Absent, fmt.Sprintf("node%d/nic%d", node, nic))
		}
	}
	return p
}
