package nccl

import (
	"fmt"

	"collsim/collective"
	"collsim/dtype"
)

// nvlsBandwidth returns the bandwidth of a channel.
func (m *model) nvlsBandwidth(kind collective.Kind, a Algorithm) float64 {
	g := &m.nvls
	if g.channels < 2 {
		return 0
	}
	switch m.switchRule {
	case byRing:
		if m.nodes > 2 {
			return g.inter
		}
		return g.intra
	case bySpeeds, bySpeedsLess:
		return m.lesserSpeed(kind, a)
	}
	n := float64(g.channels)
	intra := g.intra * nvlsShare[m.generation()] * (n - 1) / n
	if kind == collective.AllReduce {
		intra *= 2
	} else {
		intra *= float64(m.perNode-1) / float64(m.perNode)
	}
	inter := g.inter
	if a == NVLSTree {
		if m.nodes <= 2 {
			inter *= 2
		}
		inter = min(inter, m.nvlsTreeMost[m.generation()][m.scale()])
	}
	return min(intra, inter)
}

// nvlsShare lists the share of the search's speed that NVLS and NVLSTree reach, by generation.
var nvlsShare = [generations]float64{hopper: .85, blackwell: .74}

// lesserSpeed returns the speed of a channel of NVLS and NVLSTree in releases from 2.19 to 2.27.
func (m *model) lesserSpeed(kind collective.Kind, a Algorithm) float64 {
	intra, inter := m.nvls.intra, m.nvls.inter
	switch {
	case a == NVLSTree && m.nodes > 2:
		inter /= 2
	case a == NVLS && kind != collective.AllReduce && m.switchRule == bySpeedsLess:
		intra, inter = intra*float64(m.perNode-1)/float64(m.perNode), .9*inter
	}
	return min(intra, inter)
}

// switchShare returns the share of the wires' bandwidth that releases before 2.28 give NVLS and
// NVLSTree.
func (m *model) switchShare(kind collective.Kind, a Algorithm) float64 {
	switch {
	case m.switchRule == byRing && a == NVLSTree:
		return .7 * float64(m.nodes) / float64(2*(m.nodes-1))
	case m.switchRule == byRing && m.topShare == 1:
		return .75
	case kind != collective.AllReduce && m.hasPAT:
		return 1
	}
	return 5. / 6
}

// noSwitch says why the library does not do a call by NVLS or NVLSTree; "" if it does.
func (m *model) noSwitch(spec *collective.Spec, a Algorithm) string {
	scaled := spec.Op == collective.Avg || spec.Op == collective.PremulSum
	switch {
	case m.noMulticast:
		return "it needs a switch that multicasts and reduces: topology.node.multimem = true, or " +
			"topology.multimem where there are no nodes"
	case m.perNode < m.leastHeads:
		return fmt.Sprintf("it needs %d GPUs a node", m.leastHeads)
	case a == NVLS && spec.Kind != collective.AllReduce && !m.hasNVLSBlocks,
		a == NVLSTree && !m.hasNVLSTree:
		return fmt.Sprintf("NCCL %s does not do that", m.release.name)
	case a == NVLS && m.nodes > 1 && (spec.Kind != collective.AllReduce || m.noNetwork() != ""):
		return "over several nodes that is NVLSTree, and all_reduce alone"
	case a == NVLSTree && m.nodes == 1:
		return "on one node that is NVLS"
	case !m.Multicast:
		return "machine=" + m.name + " has no such switch"
	case spec.Kind != collective.AllReduce && m.perNode > mostHeads:
		return fmt.Sprintf("a node has %d GPUs at most", mostHeads)
	case spec.Kind.Reduces() && (scaled || !multicasts(spec.Type, spec.Op)):
		return fmt.Sprintf("the switch does not reduce %v by %v", spec.Type, spec.Op)
	}
	return ""
}

// multicasts reports whether a switch adds numbers of a type.
func multicasts(t dtype.Type, op collective.Op) bool {
	switch t {
	case dtype.Int32, dtype.Uint32, dtype.Int64, dtype.Uint64, dtype.Float16, dtype.BFloat16:
		return op != collective.Prod
	case dtype.Float32, dtype.Float64:
		return op == collective.Sum
	}
	return false
}
