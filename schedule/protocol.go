package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// Protocol names what decides how long NCCL takes to hand a message over: the shape of its
// algorithm, and how messages are framed between two GPUs of a node and between nodes. A simulation
// looks up their latencies by it (device.Protocol). The zero value is no protocol: messages then
// cost what the device and the links say.
type Protocol struct {
	Shape         Shape
	Node, Network Framing
	// Apart says that every rank is taken for a node of its own, whatever the network has.
	Apart bool
	// Leave says by which NIC messages leave a node.
	Leave Leave
}

// Leave names the rule by which a message leaves a node.
type Leave uint8

// The ways to leave: by the NICs on the shortest route; by the sender's own NIC; by that of the
// receiver's rail, as the sender reaches it, or through a GPU of the sender's node that is nearest
// to it (PXN), where the sender is not, or always the first such one. Package topology has the same
// in this order.
const (
	LeaveByRoute Leave = iota
	LeaveByOwn
	LeaveByRail
	LeaveByNeighbour
	LeaveByFirst
)

var leaveNames = [...]string{"", "own-nic", "rail-nic", "pxn", "pxn-first"}

// String returns the name of a way to leave in texts.
func (l Leave) String() string { return leaveNames[l] }

// Shape is the form of an algorithm of NCCL's, by which its latencies differ.
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
)

var (
	shapeNames   = [...]string{"none", "ring", "tree", "pat", "nvls", "nvlstree", "p2p"}
	framingNames = [...]string{Bare: "simple", Packets: "ll", Lines: "ll128"}
)

// String returns the name of a shape in texts and scenarios.
func (s Shape) String() string { return shapeNames[s] }

// Shapes lists the names of all shapes but none.
func Shapes() []string { return slices.Clone(shapeNames[RingShape:]) }

// Protocol returns the name that NCCL has for a framing: "simple", "ll" or "ll128".
func (f Framing) Protocol() string { return framingNames[f] }

// Protocols lists the names of framings.
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

// parseProtocol reads what String writes.
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
