package schedule

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Classes are parts of ranks that do the same, as far as anybody can tell who follows messages from
// rank to rank. A part of a rank is lanes that await events of one another: the two trees of a
// double tree are two parts of every rank, which know nothing of each other, and while a tree has
// few classes, pairs of places in two trees are all different. Parts of one class are of one role,
// their peers at each place are of one class, and do the same to them in the same steps. It is the
// coarsest such partition that refines the roles (colour refinement; a bisimulation). It says
// nothing of who a rank is: one ring of 2m ranks and two of m have the same classes.
type Classes struct {
	Parts int     // of each rank
	Of    []int32 // the class of each part of each rank: of rank·Parts + part
	Reps  []int32 // of each class, its first part of a rank
	Size  []int32 // of each class, how many they are

	s     *Schedule
	parts []int32 // of each lane
	role  []int32 // of each rank
	first []int32 // of each rank, its peers in peers, and their number
	peers []int32
	faces []int32  // of each peer, what it does to each part of this rank: port.steps
	ports [][]port // of each role: by part, then place
	// examples are members, of each class at each place: one for each class of peers there and place
	// that it has there. Nil: the representative, as all are of one.
	examples [][][]int32
}

// Rank is the rank of a class's representative.
func (c *Classes) Rank(class int32) int32 { return c.Reps[class] / int32(c.Parts) }

// part is which part of its rank the representative is.
func (c *Classes) part(class int32) int32 { return c.Reps[class] % int32(c.Parts) }

// port is what a part of a role does to one of its peers: on which lanes messages go to it and come
// from it.
type port struct {
	wires, mirror int32 // what goes over which connections, and what the peer's port must be
	steps         int32 // and in which steps
	to            int32 // the part of the peer; −1 of nobody, or of several
}

// mostClasses bounds how many are of use.
const mostClasses = 1 << 13

// HasRoles reports whether there may be classes.
func (s *Schedule) HasRoles() bool { return s.cast != nil }

// ClassesOf refines the roles of a schedule, nil where it has none, where ranks do not fit
// together, and where blocks do not lie at one place on all ranks.
func ClassesOf(s *Schedule) *Classes {
	if !s.AlikeInRoles() {
		return nil
	}
	c := &Classes{s: s}
	c.listParts()
	c.listPeers()
	c.listPorts()
	if !c.face() {
		return nil
	}
	numbers := c.programs()
	for _, role := range c.role {
		c.Of = append(c.Of, numbers[int(role)*c.Parts:][:c.Parts]...)
	}
	for n := 0; ; {
		c.refine()
		if len(c.Reps) == n {
			break
		}
		if n = len(c.Reps); n > mostClasses {
			return nil
		}
	}
	c.Size = make([]int32, len(c.Reps))
	for _, class := range c.Of {
		c.Size[class]++
	}
	return c
}

// OfClasses is a schedule with the buffers of as many ranks as there are classes, and no programs:
// where ExecuteClasses has steps take place.
func (s *Schedule) OfClasses(c *Classes) *Schedule {
	t := *s
	t.Spec.Ranks, t.cast = len(c.Reps), nil
	t.role = func(int32) *code { return &code{} }
	return &t
}

// Lanes is how many lanes the rank of a class has.
func (c *Classes) Lanes(class int) int {
	return int(c.s.cast.codes[c.role[c.Rank(int32(class))]].lanes)
}

// listParts joins lanes of which one awaits the other, on whatever rank.
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

// listPeers asks every rank for its role and peers.
func (c *Classes) listPeers() {
	ranks := c.s.Spec.Ranks
	c.role, c.first = make([]int32, ranks), make([]int32, ranks+1)
	var peers []int32
	var key roleKey
	for rank := range ranks {
		key, peers = c.s.cast.place(rank, peers[:0])
		c.role[rank] = c.s.cast.numbers[key]
		c.peers = append(c.peers, peers...)
		c.first[rank+1] = int32(len(c.peers))
	}
}

// peersOf are a rank's peers, at their places.
func (c *Classes) peersOf(rank int32) []int32 { return c.peers[c.first[rank]:c.first[rank+1]] }

// program is what a role runs, with peers named by their places.
func (c *Classes) program(role int32) *Program { return c.s.ProgramOfRole(int(role)) }

// programs numbers what parts of roles do, by role, then part: peers are named by their order among
// those of the part.
func (c *Classes) programs() (list []int32) {
	numbers := map[string]int32{}
	var step Step
	for role, ports := range c.ports {
		p, texts := c.program(int32(role)), make([][]byte, c.Parts)
		for lane := range p.Lanes() {
			part := c.parts[lane]
			order := make([]int32, mostPeers+1)
			for i := 1; i <= mostPeers; i++ {
				order[i] = order[i-1]
				if ports[int(part)*(mostPeers+1)+i-1].to >= 0 {
					order[i]++
				}
			}
			texts[part] = appendNumbers(texts[part], int32(lane), int32(p.Channel(lane)))
			for at := p.Walk(lane); !at.Done(); at.Next(1) {
				p.Load(&at, &step)
				for i := range step.From {
					step.From[i].Peer.Rank = order[step.From[i].Peer.Rank]
				}
				for i := range step.Send {
					step.Send[i].Peer.Rank = order[step.Send[i].Peer.Rank]
				}
				texts[part] = step.append(append(texts[part], 's'))
			}
			texts[part] = append(texts[part], 'e')
		}
		for _, text := range texts {
			n, known := numbers[string(text)]
			if !known {
				n = int32(len(numbers))
				numbers[string(text)] = n
			}
			list = append(list, n)
		}
	}
	return list
}

// listPorts finds what every role does to each of its peers.
func (c *Classes) listPorts() {
	numbers := map[string]int32{}
	number := func(text []byte) int32 {
		n, known := numbers[string(text)]
		if !known {
			n = int32(len(numbers))
			numbers[string(text)] = n
		}
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

// wireEnd is an end of a connection, as seen from a rank.
type wireEnd struct {
	near, far, class, tag int32
	out                   bool
}

func (w wireEnd) append(text []byte) []byte {
	return appendFlags(appendNumbers(text, w.near, w.far, w.class, w.tag), w.out)
}

// textOf is a set of ends, written down.
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

// port is what a part of a rank does to its i-th peer.
func (c *Classes) port(rank, part int32, i int) *port {
	return &c.ports[c.role[rank]][int(part)*(mostPeers+1)+i]
}

// order is how many of a rank's peers before a place a part of it faces.
func (c *Classes) order(rank, part int32, place int) (n int32) {
	for i := range place {
		if c.port(rank, part, i).to >= 0 {
			n++
		}
	}
	return n
}

// back is the part of a rank's i-th peer that a part of the rank faces, and at which place that has
// the rank: where their connections are the same; −1 where there is none.
func (c *Classes) back(rank, part int32, i int) (peer int32, place int) {
	mine := c.port(rank, part, i)
	peer = c.peersOf(rank)[i]
	if mine.to < 0 {
		return -1, -1
	}
	for j, other := range c.peersOf(peer) {
		if other == rank && c.port(peer, mine.to, j).wires == mine.mirror {
			return peer*int32(c.Parts) + mine.to, j
		}
	}
	return -1, -1
}

// face notes what every peer does to a rank, and reports whether all fit together.
func (c *Classes) face() bool {
	parts := int32(c.Parts)
	c.faces = make([]int32, len(c.peers)*c.Parts)
	none := c.ports[0][mostPeers].wires // of nobody
	for rank := range int32(len(c.role)) {
		for i := range c.peersOf(rank) {
			for part := range parts {
				at := (c.first[rank]+int32(i))*parts + part
				if c.faces[at] = -1; c.port(rank, part, i).wires == none {
					continue
				}
				peer, j := c.back(rank, part, i)
				if j < 0 {
					return false
				}
				c.faces[at] = c.port(peer/parts, peer%parts, j).steps
			}
		}
	}
	return true
}

// refine divides classes by those of their peers, and by what these do.
func (c *Classes) refine() {
	table, mask := make([]int32, 1<<16), uint64(1<<16-1) // 1 more than the class
	of := make([]int32, len(c.Of))
	c.Reps = c.Reps[:0]
	var key []int32
	var keys [][]int32
	for unit := range int32(len(of)) {
		key = c.key(unit, key[:0])
		h := uint64(0)
		for _, x := range key {
			h = (h ^ uint64(uint32(x))) * 0x9e3779b97f4a7c15
			h ^= h >> 29
		}
		if 2*len(c.Reps) > len(table) {
			return // far more than are of use
		}
		for at := h & mask; ; at = (at + 1) & mask {
			if table[at] == 0 {
				c.Reps, keys = append(c.Reps, unit), append(keys, slices.Clone(key))
				table[at] = int32(len(c.Reps))
			}
			if class := table[at] - 1; slices.Equal(key, keys[class]) {
				of[unit] = class
				break
			}
		}
	}
	c.Of = of
}

// key is what tells a part of a rank from others.
func (c *Classes) key(unit int32, key []int32) []int32 {
	parts := int32(c.Parts)
	rank, part := unit/parts, unit%parts
	key = append(key, c.Of[unit])
	ports := c.ports[c.role[rank]][int(part)*(mostPeers+1):]
	for i, peer := range c.peersOf(rank) {
		if face := c.faces[(c.first[rank]+int32(i))*parts+part]; face >= 0 {
			key = append(key, c.Of[peer*parts+ports[i].to], face)
		}
	}
	return key
}
