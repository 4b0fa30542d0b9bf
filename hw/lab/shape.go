package lab

import (
	"fmt"
	"slices"

	"collsim/topology"
	"collsim/unit"
)

const (
	mtu     = 4000         // bytes of an IP packet: the larger, the less the processor has to do
	headers = 14 + 20 + 32 // Ethernet's, IP's and TCP's with its time stamps
	payload = mtu - 20 - 32
	bucket  = 2 * payload // a frame that goes, and one for what a timer that wakes a queue is late
	// leastRate keeps what tc computes from a rate in 32 bits.
	leastRate = 128
)

// buffers are what the kernel keeps of a connection, in bytes of its memory.
type buffers struct {
	send    int // of what has not been acknowledged
	receive int // of what has not been read
}

// buffersFor are those of a lab. A sender's hold what its fastest shaped wire carries in 10 ms, for
// which a process may have to wait for a processor; more would let a lane leave more behind when it
// goes on. A receiver's window must be larger than what goes the other way while data waits in a
// queue: acknowledgements overtake data here, and data that acknowledges what is older than that
// is dropped (RFC 5961, section 5.2).
func buffersFor(g *topology.Graph) buffers {
	fastest := unit.Rate(0)
	for i := range g.Links() {
		if b := g.Links()[i].Bandwidth; b != unit.Unlimited {
			fastest = max(fastest, b)
		}
	}
	if fastest == 0 {
		fastest = unit.Unlimited
	}
	send := min(max(int64(fastest)/100, 64<<10), 4<<20)
	return buffers{int(send), int(max(32*send, 4<<20))}
}

// frames is how many of them a queue holds: all that two sockets can send. The kernel needs more
// than 512 bytes to keep one.
func (b buffers) frames() int { return 2 * b.send / 512 }

// settings are of a whole namespace, under /proc/sys/net.
func (b buffers) settings() []string {
	return []string{
		"ipv4/ip_forward = 1",
		"ipv4/conf/all/rp_filter = 0",
		"ipv4/conf/default/rp_filter = 0",
		// Nothing but the ranks' traffic goes over the wires.
		"ipv6/conf/default/disable_ipv6 = 1",
		// It has buffers of its own, above those of TCP, and Go's listeners ask for it.
		"mptcp/enabled = 0",
		// Nothing is lost: Reno opens its window all the way, and what comes late or in another
		// order, from another processor, is not sent again.
		"ipv4/tcp_congestion_control = reno",
		"ipv4/tcp_slow_start_after_idle = 0",
		"ipv4/tcp_no_metrics_save = 1",
		"ipv4/tcp_early_retrans = 0",
		"ipv4/tcp_recovery = 0",
		"ipv4/tcp_reordering = 300",
		fmt.Sprintf("ipv4/tcp_rmem = 4096 %d %d", b.receive, b.receive),
		fmt.Sprintf("ipv4/tcp_wmem = 4096 %d %d", b.send, b.send),
	}
}

// flows are what has a queue of its own on each link, as tc's words for the packets: of a rank that
// the link leaves, all that it sends, so that what it has written first goes first; of others, what
// goes from one rank to another.
func flows(g *topology.Graph) [][]string {
	all := make([][]string, len(g.Links()))
	var route []int32
	for src, node := range g.Ranks {
		own := "match ip src " + addressOf(src)
		for dst := range g.Ranks {
			route = g.Route(src, dst, route[:0])
			for _, k := range route {
				switch {
				case g.Links()[k].From != node:
					all[k] = append(all[k], own+" match ip dst "+addressOf(dst))
				case !slices.Contains(all[k], own):
					all[k] = append(all[k], own)
				}
			}
		}
	}
	return all
}

// shape gives every direction of a wire its rate.
func (p *plan) shape(g *topology.Graph, all []wire) {
	queues := flows(g)
	for i, w := range all {
		for end, k := range w.links {
			if rate := g.Links()[k].Bandwidth; rate != unit.Unlimited {
				p.limit(int(w.nodes[end]), wireName(i), rate, queues[k])
			}
		}
	}
}

// limit gives what leaves a namespace by a device its rate. Only the bytes of messages count
// (stab). Packets of less than 256 bytes go to no class, and so pass by. The others wait in their
// flow's queue, of which each in turn sends a frame.
func (p *plan) limit(space int, dev string, rate unit.Rate, queues []string) {
	add := func(format string, args ...any) { p.add(space, "tc", format, args...) }
	add("qdisc add dev %s root handle 1: stab overhead -%d htb", dev, headers)
	add("filter add dev %s parent 1: protocol ip prio 1 u32 match u16 0 0xff00 at 2 flowid 1:0", dev)
	add("class add dev %s parent 1: classid 1:1 htb rate %dbps burst %d cburst %d quantum %d", dev,
		rate, bucket, bucket, payload)
	for i, packets := range queues {
		add("class add dev %s parent 1:1 classid 1:%x htb rate %dbps ceil %dbps burst %d cburst %d "+
			"quantum %d", dev, i+2, max(int64(rate)/int64(len(queues)), leastRate), rate, payload, bucket,
			payload)
		add("filter add dev %s parent 1: protocol ip prio 2 u32 %s flowid 1:%x", dev, packets, i+2)
	}
}
