package device

import (
	"fmt"
	"math/bits"
	"slices"

	"collsim/unit"
)

// Protocol holds the costs of NCCL's calls and messages besides bandwidth, by the shape of an
// algorithm and by protocol. A message with a protocol takes the hop given here in place of the
// latencies of links within a node and of Device.Overhead. Its call takes Base in place of
// Device.Launch.
type Protocol struct {
	Shape    string // one of Shapes
	Protocol string // one of Protocols
	// Base is the time of a call, once, its launch included.
	Base unit.Time
	// NVLink and PCIe are the times of a hop between two GPUs of a node, by their connection.
	NVLink, PCIe unit.Time
	// Network is the time of a hop between nodes in addition to the fabric's own, which is that of
	// LL.
	Network unit.Time
	// Ramp is the additional time of a call for each doubling of its bytes between 1 and 16 MiB:
	// long calls reach their rate late. NCCL's tables have none; it is fitted to measured times.
	Ramp unit.Time
	// Rate is the largest rate of a channel, flags included, in place of Device.LaneRate; 0 keeps
	// that.
	Rate   unit.Rate
	Source string
}

// BaseOf returns the time of a call of n bytes, once: Base, and Ramp times log2(1 + n/1 MiB). The
// logarithm is interpolated linearly between whole numbers and grows up to 16 MiB.
func (p *Protocol) BaseOf(n unit.Bytes) unit.Time {
	const from, upTo = uint64(unit.MiB), 16 * unit.MiB
	sum := from + uint64(min(max(n, 0), upTo))
	doublings := bits.Len64(sum/from) - 1
	step := from << doublings
	hi, lo := bits.Mul64(uint64(p.Ramp), sum-step)
	part, _ := bits.Div64(hi, lo, step)
	return p.Base + p.Ramp*unit.Time(doublings) + unit.Time(part)
}

// Shapes lists the shapes of algorithms that a protocol's figures may be for.
func Shapes() []string {
	return []string{"ring", "tree", "pat", "nvls", "nvlstree", "p2p", "collnet-direct",
		"collnet-chain"}
}

// Protocols lists NCCL's protocols.
func Protocols() []string { return []string{"simple", "ll", "ll128"} }

// Sources of NCCL's figures, and the derivation of others from them.
const (
	ncclTables = "NCCL 2.30.7, src/graph/tuning.cc, baseLatencies and hwLatencies"
	overLL     = "; network: what that table has more than for LL"
)

// ncclProtocols returns the figures of NCCL's own model, which are the same for all generations.
func ncclProtocols() []Protocol {
	us := func(us float64) unit.Time { return unit.Time(us * float64(unit.Microsecond)) }
	row := func(shape, protocol string, base, nvlink, pcie, network float64, source string) Protocol {
		return Protocol{Shape: shape, Protocol: protocol, Base: us(base), NVLink: us(nvlink),
			PCIe: us(pcie), Network: us(network), Source: source}
	}
	const asRing = "assumed: as ring"
	// A call of these schedules has two barriers of three hops among 8 GPUs, a load and a store.
	const ofNode = ncclTables + ": 25 us of a call in a node, less the base of Simple, over 8 hops; "
	const tree = ofNode + "network: 20.9 us of a hop less a tree's of LL"
	const nvls = ofNode + "network, with CollNet: a quarter of its hop's 18 us is less than a " +
		"tree's of LL"
	// A call by CollNet crosses the network four times in turn: a signal, a request, the data and
	// a signal.
	const collNet = ncclTables + ": network: a quarter of the %s us of its hop less a tree's of LL"
	return []Protocol{
		row("ring", "ll", 6.6, .6, 1, 0, ncclTables),
		row("ring", "ll128", 14, 1.9, 2.5, 1.3, ncclTables+overLL),
		row("ring", "simple", 8.4, 3.4, 5.7, 11.3, ncclTables+overLL),
		row("tree", "ll", 6.8, .6, 1, 0, ncclTables),
		row("tree", "ll128", 14, 1.25, 1.9, 3.5, ncclTables+overLL),
		row("tree", "simple", 8.4, 4, 4, 9, ncclTables+overLL),
		row("pat", "simple", 8, 4, 4, 9, ncclTables+overLL+" of a tree"),
		row("nvls", "simple", 8.4, 2.075, 2.075, 0, nvls),
		row("nvlstree", "simple", 8.4, 2.075, 2.075, 15.9, tree),
		row("collnet-direct", "simple", 5.6, 3.7, 3.7, 2.75, fmt.Sprintf(collNet, "31")+
			"; base: 0.4 us for each of 7 other GPUs, twice"),
		row("collnet-chain", "simple", 0, 2.8, 2.8, 2.5, fmt.Sprintf(collNet, "30")),
		row("p2p", "ll", 6.6, .6, 1, 0, asRing),
		row("p2p", "simple", 8.4, 3.4, 5.7, 11.3, asRing),
	}
}

// ProtocolOf returns the figures of a shape and a protocol; false where the device has none.
func (d *Device) ProtocolOf(shape, protocol string) (Protocol, bool) {
	i := slices.IndexFunc(d.Protocols, func(p Protocol) bool {
		return p.Shape == shape && p.Protocol == protocol
	})
	if i < 0 {
		return Protocol{}, false
	}
	return d.Protocols[i], true
}

// LeastHop returns, for each figure of a hop, its least value over all protocols; false if there
// are none.
func (d *Device) LeastHop() (least Protocol, ok bool) {
	for i, p := range d.Protocols {
		if i == 0 {
			least = p
		}
		least.NVLink, least.PCIe = min(least.NVLink, p.NVLink), min(least.PCIe, p.PCIe)
		least.Network = min(least.Network, p.Network)
	}
	return least, len(d.Protocols) > 0
}

// Cost is a time of a protocol by its name in scenarios and files of machines.
type Cost struct {
	Name string
	Of   *unit.Time
}

// Costs lists the times of the protocol.
func (p *Protocol) Costs() []Cost {
	return []Cost{{"base", &p.Base}, {"nvlink", &p.NVLink}, {"pcie", &p.PCIe},
		{"network", &p.Network}, {"ramp", &p.Ramp}}
}

// Validate returns an error that names the first invalid figure.
func (p *Protocol) Validate() error {
	for _, c := range p.Costs() {
		if *c.Of < 0 || *c.Of > MaxCost {
			return fmt.Errorf("protocol %s %s: %s = %v: a time from 0 s to %v is expected",
				p.Shape, p.Protocol, c.Name, *c.Of, MaxCost)
		}
	}
	if p.Rate < 0 || int64(p.Rate) > mostOnWire {
		return fmt.Errorf("protocol %s %s: rate = %v: a rate up to %v is expected", p.Shape,
			p.Protocol, p.Rate, unit.Rate(mostOnWire))
	}
	return nil
}
