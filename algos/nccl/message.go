package nccl

import "cmp"

// How a message is cut where no variable says otherwise: the chunk within a node of NVLinks, in
// another one, and over a network (init.cc, computeBuffSizes), up to what a part goes by LL, and
// what parts are a multiple of.
const (
	nvlinkChunk = 512 << 10
	pcieChunk   = 128 << 10
	netChunk    = 128 << 10
	llPart      = 16 << 10
	partGrain   = 4 << 10
)

// p2pChunk returns the bytes of a chunk of a send: by what joins the ranks, and no more than a slot
// of a connection by Simple holds.
func (m *model) p2pChunk() int64 {
	own, told := int64(nvlinkChunk), int64(0)
	e := &p2pSizes{}
	if m.env != nil {
		e = &m.env.p2p
	}
	switch {
	case m.nodes > 1:
		own, told = netChunk, e.network
	case m.Joined == byPCIe:
		own, told = pcieChunk, e.pcie
	default:
		told = e.nvlink
	}
	return min(cmp.Or(told, own), m.buffer(Simple)/slots)
}

// p2pChannels returns how many channels sends may take in all, of those that a communicator has: a
// power of two.
func (m *model) p2pChannels(all int) int {
	if e := m.env; e != nil {
		all = max(min(all, cmp.Or(e.p2p.max, MaxChannels)), e.p2p.min)
	}
	return powerUp(all)
}

// llUpTo returns the bytes of a part up to which it goes by LL.
func (m *model) llUpTo() int64 {
	if m.env != nil && m.env.p2p.hasLL {
		return m.env.p2p.ll
	}
	return llPart
}

// message describes how a block is cut into parts and chunks; it is the same for every sender.
type message struct {
	parts []int64 // where they end, in bytes
	ll    bool    // inside of a node
	ends  []int64 // of chunks, in elements
	first []int   // chunk of a part, and behind the last the number of chunks
}

// perPeer returns the least and the most channels that a message may take. The least leaves some
// channels to every rank (graph/paths.cc, ncclTopoComputeP2pChannels).
func (x *p2p) perPeer() (least, most int) {
	told := 0
	if x.env != nil && x.nodes > 1 {
		if told = x.env.p2p.netPeer; told > 0 && x.perNode > 1 {
			told = min(told, x.search.rings(1, x.perNode).toPeer)
		}
	}
	switch most = powerUp(x.toPeer); {
	case told > 0: // however many peers there are
		most = min(powerUp(told), x.channels)
	case x.nodes == 1:
		most = min(most, x.channels)
	default:
		for most*((x.ranks+together-1)/together) > x.channels && most > 1 {
			most /= 2
		}
	}
	for least = most; least*x.ranks > x.channels && least > 1; least /= 2 {
	}
	return least, most
}

// cut makes parts and chunks of a block of so many elements. An empty one has a chunk without
// elements: NCCL sends that, too.
func (x *p2p) cut(elements int64) *message {
	width := int64(x.spec.Type.Width())
	size, step := elements*width, x.p2pChunk()
	shortest, longest := step/8, step*32 // parts
	if x.nodes > 1 {
		shortest, longest = step/2, step
	}
	least, most := x.perPeer()
	n := max(1, min(int64(least), up(size, shortest)))
	for part := max(shortest, up(size, n)); part > longest && n <= int64(most/2); part = up(size, n) {
		n *= 2
	}
	m := &message{ll: size <= n*x.llUpTo()}
	chunk := step
	switch {
	case x.nodes == 1:
	case size < step:
		chunk /= 4
	case size < 8*step:
		chunk /= 2
	}
	part := up(up(size, n), partGrain) * partGrain
	for i := range n {
		end := min((i+1)*part, size)
		m.parts, m.first = append(m.parts, end), append(m.first, len(m.ends))
		at := min(i*part, size)
		for at < end || len(m.ends) == m.first[i] {
			at = min(at+chunk, end)
			m.ends = append(m.ends, at/width)
		}
	}
	m.first = append(m.first, len(m.ends))
	return m
}
