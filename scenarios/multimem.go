package scenarios

import (
	"slices"

	"collsim/topology"
)

// Multicasts reports whether the switch of a node multicasts and reduces what its ranks have
// (multimem), so that NCCL has NVLS there. The node is that of the first of these ranks, the next
// perNode of them; 0 is all of them. No ranks are all ranks.
func (t *Topology) Multicasts(ranks []int, perNode int) bool {
	declared := t.own != nil
	for _, p := range []*topology.Params{&t.params, t.params.Node, t.params.Network} {
		declared = declared || p != nil && p.Multimem
	}
	if !declared {
		return false
	}
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
	if node := t.params.Node; t.homes != nil && node != nil && node.Preset == "switch" {
		apart := func(rank int32) bool { return t.homes[rank].node != t.homes[team[0]].node }
		return node.Multimem && !slices.ContainsFunc(team, apart) // without a graph of all nodes
	}
	g, err := t.Graph()
	if err != nil || n == 0 { // building it reports the error
		return false
	}
	up, _, err := g.Multimem(team[0], team, true)
	return err == nil && !slices.ContainsFunc(up, func(way []int32) bool { return len(way) > 1 })
}

// multicasts reports whether a switch of a view multicasts where the scenario does not say: one
// that joins GPUs which NVIDIA sells on boards with NVSwitches of the third generation or later.
func (v *view) multicasts(at, preset string) bool {
	it, _ := v.given("device.preset")
	name, _ := it.value.(string)
	return preset == "switch" && at != "topology.network." && v.byName().of == nil &&
		slices.Contains(multicasting(), name)
}

// multicasting lists the devices whose boards have such switches. (A GH200 is sold on others, too:
// there multimem is to be given.)
func multicasting() []string {
	return []string{"h100-sxm", "h200", "b200", "gb200", "b300", "gb300"}
}
