package nccl

import (
	"fmt"
	"strings"

	"collsim/collective"
	"collsim/schedule"
)

// Algorithm is one of NCCL's algorithms, in the order of its tables.
type Algorithm int

// The algorithms. CollNet's, which the library has behind Ring, are the last.
const (
	Tree Algorithm = iota
	Ring
	NVLS
	NVLSTree
	PAT
	CollNetDirect
	CollNetChain
	algorithms
)

// String returns the name in NCCL's logs.
func (a Algorithm) String() string {
	return [...]string{"Tree", "Ring", "NVLS", "NVLSTree", "PAT", "CollNetDirect", "CollNetChain"}[a]
}

// row returns the name in the table of algorithms, without its prefix.
func (a Algorithm) row() string {
	return strings.Replace(strings.ToLower(a.String()), "collnet", "collnet-", 1)
}

// Protocol selects how bytes are handed over.
type Protocol int

// The protocols, in the order of NCCL's tables.
const (
	LL     Protocol = iota // 4 bytes and a flag at a time
	LL128                  // 120 bytes and a flag
	Simple                 // a slot at a time, and a counter
	protocols
)

// String returns the name in NCCL's logs.
func (p Protocol) String() string { return [...]string{"LL", "LL128", "Simple"}[p] }

// Way is an algorithm with a protocol.
type Way struct {
	Algorithm Algorithm
	Protocol  Protocol
}

// String returns a name such as "Ring LL128".
func (w Way) String() string { return fmt.Sprintf("%v %v", w.Algorithm, w.Protocol) }

// legal reports whether NCCL has a kernel for a way to do a kind (device/generate.py).
func (w Way) legal(kind collective.Kind) bool {
	blocks := kind == collective.AllGather || kind == collective.ReduceScatter
	switch w.Algorithm {
	case Ring:
		return blocks || kind == collective.AllReduce || kind == collective.Broadcast ||
			kind == collective.Reduce
	case Tree:
		return kind == collective.AllReduce
	case NVLS:
		return w.Protocol == Simple && (blocks || kind == collective.AllReduce)
	case NVLSTree, CollNetDirect, CollNetChain:
		return w.Protocol == Simple && kind == collective.AllReduce
	}
	return w.Protocol == Simple && blocks
}

// buffer returns the bytes of a connection (init.cc, computeBuffSizes), which has slots of equal
// size.
func (p Protocol) buffer() int64 {
	return [...]int64{8 * 512 * 8 * 16, 120 * 640 * 8 * 8, 4 << 20}[p]
}

// framing returns the framing of messages: their flags.
func (p Protocol) framing() schedule.Framing {
	return [...]schedule.Framing{LL: schedule.Packets, LL128: schedule.Lines, Simple: schedule.Bare}[p]
}

// shape returns the row of latencies that an algorithm has (device.Protocol).
func (a Algorithm) shape() schedule.Shape {
	return [...]schedule.Shape{Tree: schedule.TreeShape, Ring: schedule.RingShape,
		NVLS: schedule.NVLSShape, NVLSTree: schedule.NVLSTreeShape, PAT: schedule.PATShape,
		CollNetDirect: schedule.CollNetDirectShape, CollNetChain: schedule.CollNetChainShape}[a]
}

// usesSwitch reports whether the switch of a node reduces and multicasts.
func (a Algorithm) usesSwitch() bool { return a == NVLS || a == NVLSTree }

// isCollNet reports whether the switches between nodes reduce and multicast, and those of nodes do
// not: CollNetDirect or CollNetChain.
func (a Algorithm) isCollNet() bool { return a == CollNetDirect || a == CollNetChain }

// protocol returns how messages of the choice are handed over.
func (c *Choice) protocol() schedule.Protocol {
	framing, leave := c.Protocol.framing(), schedule.LeaveByRoute
	if c.Algorithm == Ring {
		leave = c.model.leaveRing()
	}
	return schedule.Protocol{Shape: c.Algorithm.shape(), Node: framing, Network: framing,
		Apart: c.model.perNode == 1, Leave: leave}
}

// flags returns how many bytes of flags go with 120 of data: 4 with 4 of LL, 8 in a line of 128.
func (p Protocol) flags() int64 { return [...]int64{LL: 120, LL128: 8, Simple: 0}[p] }

// MaxChannels is MAXCHANNELS.
const MaxChannels = 64

// slots is the number of slots of a connection, NCCL_STEPS.
const slots = 8

// grain returns the bytes that divide each chunk (ncclProtoGrainSize).
func (p Protocol) grain() int64 { return [...]int64{16, 1920, 512}[p] }

// steps returns the slots that a chunk and a slice take. On a ring that sends by Simple a slice
// takes two of them, a chunk four (collectives.h, ALLREDUCE_CHUNKSTEPS and its like).
func (w Way) steps(kind collective.Kind) (chunk, slice int64) {
	if w == (Way{Ring, Simple}) && kind != collective.Broadcast && kind != collective.Reduce {
		return slots / 2, slots / 4
	}
	return 1, 1
}
