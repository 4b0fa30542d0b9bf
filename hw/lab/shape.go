package lab

import (
	"fmt"
	"slices"

	"collsim/topology"
	"collsim/unit"
)

const (
	mtu     = 4000         // bytes of an IP packet: larger ones cost less processor time
	headers = 14 + 20 + 32 // of Ethernet, IP, and TCP with timestamps
	payload = mtu - 20 - 32
	// a frame being sent, and one for the delay of the timer that wakes a queue
	bucket = 2 * payload
	// leastRate keeps tc's internal times within 32 bits.
	leastRate = 128
)

// buffers holds the sizes of a connection's buffers in the kernel, in bytes.
type buffers struct {
	send    int // for unacknowledged data
	receive int // for unread data
}

// buffersFor returns the buffers of a lab. A send buffer holds what the fastest shaped wire carries
// in 10 ms, a typical wait for a processor; more would leave more of a message in the socket when a
// lane continues. The receive window must exceed the reverse traffic while data is queued.
// Acknowledgements overtake data here, and data that acknowledges older bytes than the window is
// dropped (RFC 5961, section 5.2).
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

// frames returns the length of a queue: all frames that two sockets can send. The kernel needs more
// than 512 bytes for one.
func (b buffers) frames() int { return 2 * b.send / 512 }

// settings lists the settings of a namespace, under /proc/sys/net.
func (b buffers) settings() []string {
	return []string{
		"ipv4/ip_forward = 1",
		"ipv4/conf/all/rp_filter = 0",
		"ipv4/conf/default/rp_filter = 0",
		// Only the ranks' traffic goes over the wires.
		"ipv6/conf/default/disable_ipv6 = 1",
		// Multipath TCP has buffers of its own above those of TCP, and Go's listeners use it by
		// default.
		"mptcp/enabled = 0",
		// No packet is lost. Reno opens its window fully, and late or reordered packets are not
		// sent again.
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

// flows lists the queues of each link, as tc's filters. Where a link leaves a rank, all traffic of
// that rank shares a queue, so that it leaves in the order of its writes. Other traffic has a queue
// for each pair of ranks.
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

// shape limits every direction of a wire to its rate.
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

// limit limits what leaves a namespace by a device. Only bytes of messages count (stab). Packets
// below 256 bytes have no class, and so no limit. Others wait in their flow's queue; the queues
// send a frame each in turn.
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
