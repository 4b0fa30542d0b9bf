package lab

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"collsim/topology"
)

// MaxRanks bounds the ranks of a lab. Each rank is a process.
const MaxRanks = 64

const (
	// gateway is the next hop of every route: the other end of the wire has this address.
	gateway     = "169.254.0.1"
	coordinator = "10.1.0.1"
	// ranksNetwork has the addresses of all ranks.
	ranksNetwork = "10.0.0.0/24"
)

// A wire is a veth pair: a link and its reverse.
type wire struct {
	links [2]int32 // of the topology
	nodes [2]int32
}

// wireName returns a wire's interface name, the same at both ends.
func wireName(i int) string { return fmt.Sprintf("w%d", i) }

// addressOf returns the only address of a rank.
func addressOf(rank int) string { return fmt.Sprintf("10.0.0.%d", rank+1) }

// hardware returns the MAC address of an end of a wire.
func hardware(wire, end int) string {
	return fmt.Sprintf("02:00:00:%02x:%02x:%02x", wire>>8&0xff, wire&0xff, end)
}

// wires pairs every link with its reverse. Parallel links are paired in order.
func wires(g *topology.Graph) ([]wire, error) {
	type edge struct{ from, to int32 }
	open := map[edge][]int{}
	var all []wire
	for i := range g.Links() {
		k := &g.Links()[i]
		back := edge{k.To, k.From}
		if w := open[back]; len(w) > 0 {
			all[w[0]].links[1] = int32(i)
			open[back] = w[1:]
			continue
		}
		open[edge{k.From, k.To}] = append(open[edge{k.From, k.To}], len(all))
		all = append(all, wire{[2]int32{int32(i), -1}, [2]int32{k.From, k.To}})
	}
	for _, w := range all {
		if w.links[1] < 0 {
			return nil, fmt.Errorf("link %s has none back: TCP needs both",
				g.Links()[w.links[0]].Name)
		}
	}
	return all, nil
}

// hops returns the link by which each node sends to each rank, −1 if no route needs one. It refuses
// routes that depend on their source.
func hops(g *topology.Graph) ([][]int32, error) {
	next := make([][]int32, len(g.Nodes()))
	for node := range next {
		next[node] = slices.Repeat([]int32{-1}, len(g.Ranks))
	}
	var route []int32
	for src := range g.Ranks {
		for dst := range g.Ranks {
			route = g.Route(src, dst, route[:0])
			for _, k := range route {
				hop := &next[g.Links()[k].From][dst]
				if *hop >= 0 && *hop != k {
					return nil, fmt.Errorf("traffic to rank %d leaves by %s or %s, depending on "+
						"where it comes from: routing = %q is expected", dst, g.Links()[*hop].Name,
						g.Links()[k].Name, topology.Shortest)
				}
				*hop = k
			}
		}
	}
	return next, nil
}

// A command is a line for ip or tc in a namespace, or a setting there ("set"). Without a namespace
// it is one of ip that creates a namespace.
type command struct {
	space string
	tool  string
	line  string
}

// A plan lists the commands that build a lab, in order.
type plan struct {
	prefix   string
	buffers  buffers
	spaces   []string // of the nodes; the control network's is last
	commands []command
	made     []string // the namespaces created so far
}

// add appends a command.
func (p *plan) add(space int, tool, format string, args ...any) {
	p.commands = append(p.commands, command{p.spaces[space], tool, fmt.Sprintf(format, args...)})
}

// newPlan plans a network in namespaces whose names have a prefix.
func newPlan(g *topology.Graph, prefix string) (*plan, error) {
	if n := len(g.Ranks); n > MaxRanks {
		return nil, fmt.Errorf("%d ranks: at most %d are expected", n, MaxRanks)
	}
	if err := g.Connected(); err != nil {
		return nil, err
	}
	all, err := wires(g)
	if err != nil {
		return nil, err
	}
	next, err := hops(g)
	if err != nil {
		return nil, err
	}
	p := &plan{prefix: prefix, buffers: buffersFor(g)}
	for node := range g.Nodes() {
		p.spaces = append(p.spaces, fmt.Sprintf("%s-%d", prefix, node))
	}
	p.spaces = append(p.spaces, prefix+"-control")
	for space := range p.spaces {
		p.commands = append(p.commands, command{"", "ip", "netns add " + p.spaces[space]})
	}
	for space := range p.spaces {
		for _, s := range p.buffers.settings() {
			p.add(space, "set", "%s", s)
		}
	}
	p.connect(g, all)
	p.control(g, len(all))
	p.shape(g, all)
	p.routes(g, all, next)
	p.gather()
	return p, nil
}

// gather sorts the commands, so that one call of a tool executes many. Namespaces come first, then
// their settings, then wires, then the rest of each namespace.
func (p *plan) gather() {
	number := map[string]int{"": -1}
	for i, space := range p.spaces {
		number[space] = i
	}
	stage := func(c *command) int {
		switch {
		case c.space == "":
			return 0
		case c.tool == "set":
			return 1
		case strings.HasPrefix(c.line, "link add "):
			return 2
		case c.tool == "ip":
			return 3
		}
		return 4
	}
	slices.SortStableFunc(p.commands, func(a, b command) int {
		return cmp.Or(stage(&a)-stage(&b), number[a.space]-number[b.space])
	})
}

// connect plans the wires. A rank's address is on its first wire, since Open MPI ignores addresses
// of the interface lo.
func (p *plan) connect(g *topology.Graph, all []wire) {
	for space := range p.spaces {
		p.add(space, "ip", "link set lo up")
	}
	first := slices.Repeat([]string{"lo"}, len(g.Nodes()))
	for i, w := range slices.Backward(all) {
		first[w.nodes[0]], first[w.nodes[1]] = wireName(i), wireName(i)
	}
	for i, w := range all {
		p.veth(i, wireName(i), int(w.nodes[0]), wireName(i), int(w.nodes[1]))
	}
	for rank, node := range g.Ranks {
		p.add(int(node), "ip", "addr add %s/32 dev %s", addressOf(rank), first[node])
	}
}

// veth plans a veth pair with static neighbour entries. Segments are no larger than a frame.
func (p *plan) veth(i int, name string, from int, far string, to int) {
	p.add(from, "ip", "link add %s address %s type veth peer name %s address %s netns %s", name,
		hardware(i, 0), far, hardware(i, 1), p.spaces[to])
	for end, at := range []int{from, to} {
		dev := []string{name, far}[end]
		p.add(at, "ip", "link set %s mtu %d txqueuelen %d gso_max_segs 1 up", dev, mtu,
			p.buffers.frames())
		p.add(at, "ip", "neigh add %s lladdr %s dev %s nud permanent", gateway, hardware(i, 1-end), dev)
	}
}

// control plans an unshaped route between every rank and the coordinator.
func (p *plan) control(g *topology.Graph, first int) {
	hub := len(p.spaces) - 1
	for rank, node := range g.Ranks {
		dev := fmt.Sprintf("r%d", rank)
		p.veth(first+rank, "control", int(node), dev, hub)
		if rank == 0 {
			p.add(hub, "ip", "addr add %s/32 dev %s", coordinator, dev)
		}
		p.add(int(node), "ip", "route add %s via %s dev control onlink src %s", coordinator, gateway,
			addressOf(rank))
		p.add(hub, "ip", "route add %s via %s dev %s onlink src %s", addressOf(rank), gateway, dev,
			coordinator)
	}
}

// routes plans the topology's routes at every node. A rank's own traffic has its address. It is
// acknowledged at once, since senders with small buffers would wait for a delayed acknowledgement.
// Its retransmission timeout exceeds the time in queues.
func (p *plan) routes(g *topology.Graph, all []wire, next [][]int32) {
	over := make([]int, len(g.Links()))
	for i, w := range all {
		over[w.links[0]], over[w.links[1]] = i, i
	}
	from := make([]string, len(g.Nodes()))
	for rank, node := range g.Ranks {
		from[node] = " quickack 1 rto_min 5s src " + addressOf(rank)
	}
	for node := range next {
		for rank, k := range next[node] {
			if k >= 0 {
				p.add(node, "ip", "route add %s via %s dev %s onlink%s", addressOf(rank), gateway,
					wireName(over[k]), from[node])
			}
		}
	}
}
