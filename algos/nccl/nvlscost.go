package nccl

import "collsim/collective"

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
