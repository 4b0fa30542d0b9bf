package schedule

import (
	"bytes"
	"encoding/binary"
	"slices"

	"collsim/symmetry"
)

// Classes partition the parts of ranks that do the same, as far as messages between ranks can show.
// A part of a rank is a set of lanes that await events of one another. The two trees of a double
// tree, say, are two parts of every rank that do not depend on each other. A tree has few classes,
// but pairs of places in two trees would all be different.
//
// Parts of one class have one role. Their peers at each place are of one class, and do the same to
// them in the same steps. It is the coarsest such partition that refines the roles (colour
// refinement; a bisimulation). A class does not know a rank's number: one ring of 2m ranks and two
// of m have the same classes.
type Classes struct {
	*symmetry.Partition     // of the parts of all ranks: rank·Parts + part
	Parts               int // of each rank

	s     *Schedule
	parts []int32 // of each lane: its part
	role  []int32 // of each rank
	ranks symmetry.Graph
	ports [][]port // of each role: by part, then by place of the peer
}

// Rank returns the rank of a class's representative.
func (c *Classes) Rank(class int32) int32 { return c.Rep(class) / int32(c.Parts) }

// part returns the part of its rank that a class's representative is.
func (c *Classes) part(class int32) int32 { return c.Rep(class) % int32(c.Parts) }

// A port describes what a part of a role does to one of its peers: the lanes on which messages go
// to it and come from it.
type port struct {
	// numbers of its set of connections, and of the set that the peer's port must have
	wires, mirror int32
	steps         int32 // number of the list of steps that use them
	to            int32 // part of the peer; −1 if none, or several
}

// mostClasses bounds the number of classes that are of use.
const mostClasses = 1 << 13

// HasRoles reports whether the schedule has roles, so that it may have classes.
func (s *Schedule) HasRoles() bool { return s.cast != nil }

// ClassesOf returns the classes of a schedule. It is nil where there are no roles, where the ports
// of ranks do not match, and where blocks are stored at different places on different ranks.
func ClassesOf(s *Schedule) *Classes {
	if !s.AlikeInRoles() {
		return nil
	}
	c := &Classes{s: s}
	c.listParts()
	c.role, c.ranks = s.PeerGraph()
	c.listPorts()
	g, ok := c.graph()
	if !ok {
		return nil
	}
	numbers, does := c.programs()
	of := make([]int32, 0, len(c.role)*c.Parts)
	for _, role := range c.role {
		of = append(of, numbers[int(role)*c.Parts:][:c.Parts]...)
	}
	p := symmetry.NewPartition(g, of, does)
	if !p.Refine(mostClasses) {
		return nil
	}
	c.Partition = p.Ordered()
	return c
}

// OfClasses returns a schedule with the buffers of one rank for each class, and without programs.
// Steps of ExecuteClasses take place in it.
func (s *Schedule) OfClasses(c *Classes) *Schedule {
	t := *s
	t.Spec.Ranks, t.cast = c.Len(), nil
	t.role = func(int32) *code { return &code{} }
	return &t
}

// Lanes returns the number of lanes of a class's rank.
func (c *Classes) Lanes(class int) int {
	return int(c.s.cast.codes[c.role[c.Rank(int32(class))]].lanes)
}

// listParts joins lanes where one awaits the other on any rank.
func (c *Classes) listParts() {
	for _, code := range c.s.cast.codes {
		for int(code.lanes) > len(c.parts) {
			c.parts = append(c.parts, int32(len(c.parts)))
		}
	}
	join := func(a, b int32) {
		x, y := c.parts[a], c.parts[b]
		for i, part := range c.parts {
			if part == max(x, y) {
				c.parts[i] = min(x, y)
			}
		}
	}
	var step Step
	for role := range c.s.cast.codes {
		p := c.program(int32(role))
		for lane := range p.Lanes() {
			for at := p.Walk(lane); !at.Done(); at.Next(1) {
				p.Load(&at, &step)
				for _, e := range step.Await {
					join(int32(lane), e.Lane)
				}
			}
		}
	}
	numbers := slices.Compact(slices.Sorted(slices.Values(c.parts)))
	for i, part := range c.parts {
		c.parts[i] = int32(slices.Index(numbers, part))
	}
	c.Parts = len(numbers)
}

// program returns the program of a role, with peers named by place.
func (c *Classes) program(role int32) *Program { return c.s.ProgramOfRole(int(role)) }

// programs numbers what parts of roles do, by role, then part, and returns how many numbers there
// are. Equal numbers mean equal steps, with peers named by their order among the part's.
func (c *Classes) programs() (list []int32, count int) {
	numbers := symmetry.Colours[string]{}
	var step Step
	for role, first := range c.s.cast.first {
		p, texts := c.program(int32(role)), make([][]byte, c.Parts)
		for lane := range p.Lanes() {
			part := c.parts[lane]
			texts[part] = appendNumbers(texts[part], int32(lane), int32(p.Channel(lane)))
			for at := p.Walk(lane); !at.Done(); at.Next(1) {
				p.Load(&at, &step)
				step.peers(func(peer *Peer) { peer.Rank = c.order(first, part, peer.Rank) })
				texts[part] = step.append(append(texts[part], 's'))
			}
			texts[part] = append(texts[part], 'e')
		}
		for _, text := range texts {
			n, _ := symmetry.NumberText(numbers, text)
			list = append(list, n)
		}
	}
	return list, len(numbers)
}

// listPorts computes the ports of every role.
func (c *Classes) listPorts() {
	numbers := symmetry.Colours[string]{}
	number := func(text []byte) int32 {
		n, _ := symmetry.NumberText(numbers, text)
		return n
	}
	for role := range c.s.cast.codes {
		type sides struct {
			wires, mirror []wireEnd
			steps         []byte
			to            []int32
		}
		all := make([]sides, c.Parts*(mostPeers+1))
		p := c.program(int32(role))
		note := func(lane int, number int32, peer *Peer, out bool) {
			x := &all[int(c.parts[lane])*(mostPeers+1)+int(peer.Rank)]
			end := wireEnd{int32(lane), peer.Lane, int32(peer.Class), peer.Tag, out}
			x.wires = append(x.wires, end)
			x.mirror = append(x.mirror, wireEnd{end.far, end.near, end.class, end.tag, !out})
			x.steps = end.append(binary.AppendVarint(x.steps, int64(number)))
			if int(peer.Lane) < len(c.parts) {
				x.to = append(x.to, c.parts[peer.Lane])
			}
		}
		var step Step
		for lane := range p.Lanes() {
			for at := p.Walk(lane); !at.Done(); at.Next(1) {
				p.Load(&at, &step)
				for i := range step.From {
					if step.From[i].Kind != Local {
						note(lane, at.Step, &step.From[i].Peer, false)
					}
				}
				for i := range step.Send {
					note(lane, at.Step, &step.Send[i].Peer, true)
				}
			}
		}
		ports := make([]port, len(all))
		for i := range all {
			x := &all[i]
			ports[i] = port{number(textOf(x.wires)), number(textOf(x.mirror)),
				number(append(x.steps, 's')), -1}
			if to := slices.Compact(slices.Sorted(slices.Values(x.to))); len(to) == 1 {
				ports[i].to = to[0]
			}
		}
		c.ports = append(c.ports, ports)
	}
}

// A wireEnd is an end of a connection, seen from a rank: near is the rank's lane, far the peer's.
type wireEnd struct {
	near, far, class, tag int32
	out                   bool
}

// append appends a text that identifies the end.
func (w wireEnd) append(text []byte) []byte {
	return appendFlags(appendNumbers(text, w.near, w.far, w.class, w.tag), w.out)
}

// textOf returns a text that identifies a set of ends.
func textOf(ends []wireEnd) []byte {
	slices.SortFunc(ends, func(a, b wireEnd) int {
		return bytes.Compare(a.append(nil), b.append(nil))
	})
	text := []byte{'w'}
	for _, w := range slices.Compact(ends) {
		text = w.append(text)
	}
	return text
}

// port returns what a part of a rank does to its i-th peer.
func (c *Classes) port(rank, part, i int32) *port {
	return &c.ports[c.role[rank]][part*(mostPeers+1)+i]
}

// order returns how many of a rank's peers before a place a part of the rank has connections to.
func (c *Classes) order(rank, part, place int32) (n int32) {
	for i := range place {
		if c.port(rank, part, i).to >= 0 {
			n++
		}
	}
	return n
}

// graph joins the parts of ranks that are connected: an arc for each peer, in the order of places,
// labelled by what the peer does to the part. It reports false if a port has no match.
func (c *Classes) graph() (g symmetry.Graph, ok bool) {
	parts, none := int32(c.Parts), c.ports[0][mostPeers].wires // of no peer
	g.First = make([]int32, 1, len(c.role)*c.Parts+1)
	n := len(c.ranks.To) // most peers are of one part
	g.To, g.Back, g.Label = make([]int32, 0, n), make([]int8, 0, n), make([]int32, 0, n)
	for unit := range int32(len(c.role)) * parts {
		rank, part := unit/parts, unit%parts
		for i, peer := range c.ranks.Peers(rank) {
			mine, back := c.port(rank, part, int32(i)), int32(c.ranks.Back[int(c.ranks.First[rank])+i])
			if mine.wires == none {
				continue
			}
			if mine.to < 0 || back < 0 || c.port(peer, mine.to, back).wires != mine.mirror {
				return g, false
			}
			g.To = append(g.To, peer*parts+mine.to)
			g.Back = append(g.Back, int8(c.order(peer, mine.to, back)))
			g.Label = append(g.Label, c.port(peer, mine.to, back).steps)
		}
		g.First = append(g.First, int32(len(g.To)))
	}
	c.ranks.Back = nil // what follows knows the places
	return g, true
}
