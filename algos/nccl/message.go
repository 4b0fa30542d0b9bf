package nccl

// How a message is cut: the chunk within a node of NVLinks, and over a network
// (NCCL_P2P_NVL_CHUNKSIZE and NCCL_P2P_NET_CHUNKSIZE), up to what a part goes by LL
// (NCCL_P2P_LL_THRESHOLD), and what parts are a multiple of.
const (
	nvlinkChunk = 512 << 10
	netChunk    = 128 << 10
	llPart      = 16 << 10
	partGrain   = 4 << 10
)

// message is how a block is cut, in the same way whoever sends it.
type message struct {
	parts []int64 // where they end, in bytes
	ll    bool    // inside of a node
	ends  []int64 // of chunks, in elements
	first []int   // chunk of a part, and behind the last the number of chunks
}

// perPeer is how many channels a message may take: at least, of as many as leave every rank some,
// and at most (graph/paths.cc, ncclTopoComputeP2pChannels).
func (x *p2p) perPeer() (least, most int) {
	if most = powerUp(x.toPeer); x.nodes == 1 {
		most = min(most, x.channels)
	} else {
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
	size, step := elements*width, int64(nvlinkChunk)
	shortest, longest := step/8, step*32 // parts
	if x.nodes > 1 {
		step = netChunk
		shortest, longest = step/2, step
	}
	least, most := x.perPeer()
	n := max(1, min(int64(least), up(size, shortest)))
	for part := max(shortest, up(size, n)); part > longest && n <= int64(most/2); part = up(size, n) {
		n *= 2
	}
	m := &message{ll: size <= n*llPart}
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
