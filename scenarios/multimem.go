package scenarios

import (
	"errors"
	"slices"

	"collsim/device"
	"collsim/topology"
)

// Multicasts reports whether the switch of a node multicasts and reduces what its ranks have
// (multimem), so that NCCL has NVLS there. The node is that of the first of these ranks, the next
// perNode of them; 0 is all of them. No ranks are all ranks.
func (t *Topology) Multicasts(ranks []int, perNode int) bool {
	if !declaresMultimem(t) {
		return false
	}
	team := firstOf(t, ranks, perNode)
	if node := t.params.Node; t.homes != nil && node != nil && node.OneSwitch() {
		apart := func(rank int32) bool { return t.homes[rank].node != t.homes[team[0]].node }
		return node.Multimem && !slices.ContainsFunc(team, apart) // without a graph of all nodes
	}
	g, err := t.Graph()
	if err != nil || len(team) == 0 { // building it reports the error
		return false
	}
	up, _, err := g.Multimem(team[0], team, true)
	return err == nil && !slices.ContainsFunc(up, func(way []int32) bool { return len(way) > 1 })
}

// declaresMultimem reports whether a part of the network may have switches that do multimem.
func declaresMultimem(t *Topology) bool {
	declared := t.own != nil
	for _, p := range []*topology.Params{&t.params, t.params.Node, t.params.Network} {
		declared = declared || p != nil && p.Multimem
	}
	return declared
}

// firstOf returns the first perNode of some ranks, 0 for all; no ranks are all ranks.
func firstOf(t *Topology, ranks []int, perNode int) []int32 {
	n := t.Ranks
	if ranks != nil {
		n = len(ranks)
	}
	if perNode > 0 {
		n = min(n, perNode)
	}
	team := make([]int32, n)
	for i := range team {
		if team[i] = int32(i); ranks != nil {
			team[i] = int32(ranks[i])
		}
	}
	return team
}

// Multimem returns why the switches of a network do no multimem for a team of ranks, nil for all.
func Multimem(t *Topology, ranks []int) error {
	if !declaresMultimem(t) {
		return errors.New("none multicasts and reduces")
	}
	g, err := t.Graph()
	if err == nil {
		err = g.Listable()
	}
	if err == nil {
		team := firstOf(t, ranks, 0)
		_, _, err = g.Multimem(team[0], team, true)
	}
	return err
}

// Aggregates reports whether the switches between nodes multicast and reduce what the ranks at one
// place of every node have, whichever the place, so that NCCL has CollNet there. A node has the
// next perNode of the ranks; no ranks are all ranks.
func (t *Topology) Aggregates(ranks []int, perNode int) bool {
	p := t.params.Network
	if perNode < 1 || t.own == nil && (p == nil || !p.Multimem) {
		return false
	}
	n := t.Ranks
	if ranks != nil {
		n = len(ranks)
	}
	g, err := t.Graph()
	if err != nil || n <= perNode || n%perNode != 0 { // building it reports the error
		return false
	}
	for place := range perNode {
		var team []int32
		for i := place; i < n; i += perNode {
			if team = append(team, int32(i)); ranks != nil {
				team[len(team)-1] = int32(ranks[i])
			}
		}
		if _, _, err := g.Multimem(team[0], team, true); err != nil {
			return false
		}
	}
	return true
}

// multicasts reports whether a switch of a view multicasts where the scenario does not say: one
// that joins GPUs which NVIDIA sells on boards with NVSwitches of the third generation or later.
func (v *view) multicasts(at, preset string) bool {
	it, _ := v.given("device.preset")
	name, _ := it.value.(string)
	return topology.Lookup(preset).OneSwitch && at != "topology.network." && v.byName().of == nil &&
		device.Multicasts(name)
}
