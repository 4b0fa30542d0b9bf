package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// A Protocol names what decides NCCL's latency of a message: the shape of its algorithm, and the
// framing of messages inside a node and between nodes. A simulation looks up latencies by it
// (device.Protocol). The zero value is no protocol: messages then cost what the device and the
// links say.
type Protocol struct {
	Shape         Shape
	Node, Network Framing
	// Apart treats every rank as a node of its own, whatever the network has.
	Apart bool
	// Leave chooses the NIC by which messages leave a node.
	Leave Leave
}

// Leave names the rule by which a message leaves a node.
type Leave uint8

// The rules: by the NICs on the shortest route; by the sender's own NIC; by the receiver's rail.
// The last reaches a NIC of that rail directly, or through a nearest GPU of the sender's node
// (PXN), or always through the first such GPU. Package topology has the same rules in this order.
const (
	LeaveByRoute Leave = iota
	LeaveByOwn
	LeaveByRail
	LeaveByNeighbour
	LeaveByFirst
)

var leaveNames = [...]string{"", "own-nic", "rail-nic", "pxn", "pxn-first"}

// String returns the name of a rule in texts.
func (l Leave) String() string { return leaveNames[l] }

// A Shape is the form of one of NCCL's algorithms, which determines its latencies.
type Shape uint8

// The shapes.
const (
	NoShape Shape = iota
	RingShape
	TreeShape
	PATShape
	NVLSShape
	NVLSTreeShape
	P2PShape
	CollNetDirectShape
	CollNetChainShape
)

var (
	shapeNames = [...]string{"none", "ring", "tree", "pat", "nvls", "nvlstree", "p2p",
		"collnet-direct", "collnet-chain"}
	framingNames = [...]string{Bare: "simple", Packets: "ll", Lines: "ll128"}
)

// String returns the name of a shape in texts and scenarios.
func (s Shape) String() string { return shapeNames[s] }

// Shapes lists the names of all shapes except NoShape.
func Shapes() []string { return slices.Clone(shapeNames[RingShape:]) }

// Protocol returns the name that NCCL has for a framing: "simple", "ll" or "ll128".
func (f Framing) Protocol() string { return framingNames[f] }

// Protocols lists NCCL's names of framings.
func Protocols() []string { return slices.Clone(framingNames[:]) }

// String returns the text form: "ring ll128", "p2p ll simple" where the network has another framing
// than the node, "pat simple apart".
func (p Protocol) String() string {
	text := p.Shape.String() + " " + p.Node.Protocol()
	if p.Network != p.Node {
		text += " " + p.Network.Protocol()
	}
	if p.Apart {
		text += " apart"
	}
	if p.Leave != LeaveByRoute {
		text += " " + p.Leave.String()
	}
	return text
}

// parseProtocol parses the format of String.
func parseProtocol(words []string) (p Protocol, err error) {
	if n := len(words); n > 0 {
		if at := slices.Index(leaveNames[:], words[n-1]); at > 0 {
			p.Leave, words = Leave(at), words[:n-1]
		}
	}
	if n := len(words); n > 0 && words[n-1] == "apart" {
		p.Apart, words = true, words[:n-1]
	}
	if len(words) < 2 || len(words) > 3 {
		return p, fmt.Errorf("protocol takes a shape (%s), one of %s within a node, and another one "+
			"between nodes if it differs", strings.Join(Shapes(), ", "),
			strings.Join(Protocols(), ", "))
	}
	shape := slices.Index(shapeNames[:], words[0])
	if shape <= 0 {
		return p, fmt.Errorf("%q is no shape; one of %s is expected", words[0],
			strings.Join(Shapes(), ", "))
	}
	p.Shape = Shape(shape)
	for i, word := range words[1:] {
		framing := slices.Index(framingNames[:], word)
		if framing < 0 {
			return p, fmt.Errorf("%q is no protocol; one of %s is expected", word,
				strings.Join(Protocols(), ", "))
		}
		if p.Network = Framing(framing); i == 0 {
			p.Node = Framing(framing)
		}
	}
	return p, nil
}
