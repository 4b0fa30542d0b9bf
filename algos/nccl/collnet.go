package nccl

import (
	"fmt"
	"strconv"

	"collsim/collective"
	"collsim/dtype"
)

// overNetwork reports whether the switches between nodes reduce and multicast what a call sends
// there.
func (m *model) overNetwork(a Algorithm) bool { return a.isCollNet() || a == NVLS && m.nodes > 1 }

// mostDirect is NCCL_MAX_DIRECT_ARITY + 1: the most GPUs of a node with CollNet.
const mostDirect = 8

// The settings of NCCL_COLLNET_ENABLE. Where it is not set, CollNet is off.
const (
	unset = iota
	disabled
	enabled
)

// ownNodes is the library's own NCCL_COLLNET_NODE_THRESHOLD (init.cc).
const ownNodes = 2

// ofCollNet lists the variables that say whether there is CollNet.
func ofCollNet() []variable {
	return []variable{
		{"NCCL_COLLNET_ENABLE", "1: CollNet, where the network adds", func(e *Env, s string) error {
			if s != "0" && s != "1" {
				return fmt.Errorf("0 or 1 is expected")
			}
			e.collNet = disabled
			if s == "1" {
				e.collNet = enabled
			}
			return nil
		}},
		{"NCCL_COLLNET_NODE_THRESHOLD", "nodes with CollNet at least", func(e *Env, s string) error {
			n, err := strconv.Atoi(s)
			if err != nil || n < 1 || n > 1<<20 {
				return fmt.Errorf("a number of nodes is expected")
			}
			e.collNetNodes = n
			return nil
		}},
	}
}

// noNetwork says why the library has no CollNet on a communicator; "" if it does (init.cc,
// transport/coll_net.cc). A tree of switches is there: a plugin of the network asks for no more.
func (m *model) noNetwork() string {
	least := ownNodes
	if m.env != nil && m.env.collNetNodes > 0 {
		least = m.env.collNetNodes
	}
	switch {
	case !m.collNet:
		return "NCCL_COLLNET_ENABLE is not 1"
	case m.noAggregation:
		return "it needs switches between nodes that multicast and reduce: " +
			"topology.network.multimem = true"
	case m.nodes == 1:
		return "it is for several nodes"
	case m.nodes < least:
		return fmt.Sprintf("NCCL_COLLNET_NODE_THRESHOLD asks for %d nodes", least)
	}
	return ""
}

// noCollNet says why the library does not do a call by CollNetDirect or CollNetChain; "" if it
// does (enqueue.cc, updateCollCostTable).
func (m *model) noCollNet(spec *collective.Spec, a Algorithm) string {
	why := m.noNetwork()
	switch {
	case why != "":
		return why
	case m.perNode > mostDirect:
		return fmt.Sprintf("a node has %d GPUs at most", mostDirect)
	case a == CollNetDirect && m.Joined != bySwitch:
		return "it is for nodes with NVSwitches"
	case !aggregates(spec.Type, spec.Op):
		return fmt.Sprintf("the network does not reduce %v by %v", spec.Type, spec.Op)
	}
	return ""
}

// aggregates reports whether SHARP reduces a type (src/sharp_plugin.c of Mellanox'
// nccl-rdma-sharp-plugins, typeConvert and opConvert, with version 3 of the protocol). What avg and
// premulsum scale, the GPUs do.
func aggregates(t dtype.Type, op collective.Op) bool {
	return op != collective.Prod && t != dtype.Float8E4M3 && t != dtype.Float8E5M2
}

// collNetGraph returns what the search finds for CollNet between nodes. It is inferred from its
// rules (graph/search.cc), not recorded. The chain's pattern is that of a tree that ends at the
// first GPU. Of CollNetDirect every head has a NIC, and all GPUs of its node send to it.
func (m *model) collNetGraph(a Algorithm) graph {
	if a == CollNetChain {
		g := m.tree
		g.channels = m.ring.channels
		return g
	}
	g := graph{channels: m.directHeads(), intra: m.ring.inter, inter: m.ring.inter,
		nvlink: m.Joined != byPCIe}
	_, speeds := m.speeds()
	share := 1.0 // of the heads' speed that a GPU sends: as a head, and to the others
	if m.perNode > 1 {
		share += float64(g.channels-1) / float64(m.perNode-1)
	}
	for _, s := range speeds {
		if (m.NICs == 0 || s <= m.NICRate) && (m.perNode == 1 || float64(s*share) <= m.all()) {
			g.intra, g.inter = s, s
			break
		}
	}
	for i := len(speeds) - 1; i >= 0; i-- { // faster within nodes, until it is twice as fast
		s := speeds[i]
		if s > g.intra && g.intra < 2*g.inter && float64(s*share) <= m.all() {
			g.intra = s
		}
	}
	return g
}

// directHeads returns how many GPUs of a node reduce a slice by CollNetDirect: those that are the
// nearest to a NIC.
func (m *model) directHeads() int {
	n := min(m.perNode, mostDirect)
	if m.NICs > 0 {
		n = min(n, m.NICs)
	}
	return n
}

// collNetBandwidth returns the bandwidth of CollNet (graph/tuning.cc).
func (m *model) collNetBandwidth(a Algorithm) float64 {
	g := m.collNetGraph(a)
	bus := float64(float64(g.channels) * g.intra)
	if a == CollNetChain {
		return bus * .5
	}
	perHead := float64(m.perNode) / float64(g.channels)
	bus /= perHead - (perHead-1)/2
	if m.SM >= 90 {
		bus *= .85
	}
	return bus * .5
}

// collNetLatency returns the latency of CollNet's hops.
func (m *model) collNetLatency(a Algorithm, intra, inter float64) float64 {
	others := float64(m.perNode - 1)
	if a == CollNetChain {
		return float64(2*others*intra) + inter
	}
	return float64(2*(float64(min(1, others)*intra)+float64(others*m.arity))) + inter
}

// collNetChannels returns how many channels a communicator with CollNet has: half more, where its
// nodes are faster than the network.
func (m *model) collNetChannels(n int) int {
	if g := m.collNetGraph(CollNetChain); g.intra > g.inter && m.perNode > 1 {
		return min(n+n/2, m.mostChannels)
	}
	return n
}

// directChannels returns how many channels a call by CollNetDirect takes (enqueue.cc,
// topoGetAlgoInfo).
func (m *model) directChannels(bytes int64, n int) int {
	least, heads := int64(512), int64(m.directHeads())
	tooMany := func() bool { return bytes < int64(n)*mostThreads*heads*least }
	for step := 16; step >= 1 && tooMany(); step /= 2 {
		for n > step && tooMany() {
			if n == step+step/2 {
				least /= 2
			}
			n--
		}
	}
	return n
}

// networkChunk returns the bytes of a chunk of a call that the network reduces (enqueue.cc,
// calcCollChunking).
func (c *Choice) networkChunk(bytes int64) int64 {
	m := c.model
	size := m.buffer(Simple) / slots
	heads, depth := int64(1), int64(m.perNode)
	steps := []struct{ times, over int64 }{{64, 128 << 10}, {8, 64 << 10}, {1, 32 << 10}}
	switch c.Algorithm {
	case NVLS:
		return c.switchChunk(bytes)
	case CollNetDirect:
		heads, depth = int64(m.directHeads()), 2
		if m.perNode == 1 {
			depth = 1
		}
		steps[2].times = 8
	default:
		size = min(size, 256<<10)
	}
	for _, s := range steps {
		for bytes/(int64(c.Channels)*heads*size) < depth*s.times && size > s.over {
			size /= 2
		}
	}
	return size / Simple.grain() * Simple.grain()
}
