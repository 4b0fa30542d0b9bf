package chakra

import (
	"slices"

	"collsim/collective"
	"collsim/collective/calls"
)

// Calls returns the collectives and messages of a trace. Nothing is said of the order between those
// of several groups: all are made together.
func Calls(files []Input) (*calls.Log, error) {
	t, err := readAll("", files, 0)
	if err != nil {
		return nil, err
	}
	l := &calls.Log{Ranks: make([]calls.Rank, len(files))}
	for _, g := range t.groups() {
		if len(g.ranks) > 1 {
			t.order(g)
		}
		t.append(l, g)
	}
	l.Groups = append(l.Groups, calls.Group{Name: "messages"})
	for rank := range t.nodes {
		l.Ranks[rank].Number = rank
		for i := range t.nodes[rank] {
			if n := &t.nodes[rank][i]; n.kind == commSend || n.kind == commRecv {
				l.Ranks[rank].Calls = append(l.Ranks[rank].Calls, n.end(len(l.Groups)-1, i))
			}
		}
	}
	return l, nil
}

// append adds the collectives of a group to a log, as a group of its own.
func (t *trace) append(l *calls.Log, g *team) {
	group := calls.Group{Name: g.name}
	for member, rank := range g.ranks {
		group.Ranks = append(group.Ranks, int(rank))
		r := &l.Ranks[rank]
		for k, i := range g.ops[member] {
			r.Calls = append(r.Calls, t.nodes[rank][i].call(len(l.Groups), k, int(i)))
		}
	}
	l.Groups = append(l.Groups, group)
}

// call describes a collective: in elements of its type or, where it is not known, in bytes.
func (n *node) call(group, k, own int) calls.Call {
	kind := kinds[n.attrs[commType]]
	c := calls.Call{Group: group, Seq: int64(k), Batch: 1, Kind: kind, Name: kind.String(),
		In: n.attrs[commSize], Out: -1, Uneven: n.lists, To: n.to, From: n.from,
		Root: int(n.root) - 1, Own: own}
	if n.element > 0 {
		c.Type, c.In = elementTypes[n.element].name, c.In/elementTypes[n.element].bytes
	}
	return c
}

// end describes one end of a message.
func (n *node) end(group, own int) calls.Call {
	c := calls.Call{Group: group, Batch: 1, Kind: collective.SendRecv, Sends: n.kind == commSend,
		In: n.attrs[commSize], Out: n.attrs[commSize], Root: -1, Tag: n.attrs[commTag], Own: own}
	c.Name, c.Peer = "recv", int(n.attrs[commSrc])
	if c.Sends {
		c.Name, c.Peer = "send", int(n.attrs[commDst])
	}
	if n.element > 0 {
		c.Type = elementTypes[n.element].name
	}
	return c
}

// alike reports ranks whose request differs from that of most in the group, or that expect another
// length than their peer sends.
func (t *trace) alike(g *team) {
	l := &calls.Log{Ranks: make([]calls.Rank, len(t.nodes))}
	for rank := range l.Ranks {
		l.Ranks[rank].Number = rank
	}
	t.append(l, g)
	differs := make([]bool, len(t.nodes))
	for _, m := range l.Meet() {
		if d, is := m.Difference(); is && d.Field != calls.SplitsField {
			t.unlike(g, m, &d, differs)
			continue
		}
		for _, d := range m.Unequal() {
			t.unequal(m, &d)
		}
	}
	t.numbers(g)
}

// unlike reports the ranks whose request differs from that of most, each once.
func (t *trace) unlike(g *team, m *calls.Meeting, d *calls.Difference, known []bool) {
	usual := d.Values[0].Ranks[0]
	theirs := t.requestOf(m, usual)
	for _, rank := range d.Odd() {
		if rank == usual || known[rank] {
			continue
		}
		known[rank] = true
		mine := t.requestOf(m, rank)
		t.defect(rank, m.Calls[slices.Index(m.Ranks, rank)].Own, "asks for %s as collective %d%s, "+
			"but rank %d asks for %s: %v", mine.likeness(), m.Seq, g.of(), usual, theirs.likeness(),
			theirs)
	}
}

// requestOf returns the node of a rank in a meeting.
func (t *trace) requestOf(m *calls.Meeting, rank int) *node {
	return &t.nodes[rank][m.Calls[slices.Index(m.Ranks, rank)].Own]
}

// unequal reports a rank that expects another length than it is sent.
func (t *trace) unequal(m *calls.Meeting, d *calls.Difference) {
	sender, rank := d.Values[0].Ranks[0], d.Values[1].Ranks[0]
	t.defect(rank, m.Calls[slices.Index(m.Ranks, rank)].Own, "it expects %s bytes from rank %d, "+
		"which sends it %s: %v", d.Values[1].Text, sender, d.Values[0].Text, t.requestOf(m, sender))
}

// numbers reports ranks that request more or fewer collectives than the first, and a group in which
// ranks that have a file request none.
func (t *trace) numbers(g *team) {
	var callers []int32
	for member, rank := range g.ranks {
		if g.ops[member] != nil {
			callers = append(callers, rank)
		}
	}
	if len(callers) < len(g.ranks) && g.members != "" {
		first := slices.Index(g.ranks, callers[0])
		t.defect(int(callers[0]), int(g.ops[first][0]), "Process Group Ranks = %s; those who call it, "+
			"by their files, are %v", g.members, callers)
		return
	}
	for member := 1; member < len(g.ranks); member++ {
		rank, first := int(g.ranks[member]), g.ranks[0]
		if n, m := len(g.ops[member]), len(g.ops[0]); n > m {
			t.defect(rank, int(g.ops[member][m]), "asks for %d collectives%s, but rank %d for %d", n,
				g.of(), first, m)
		} else if n < m {
			t.defect(int(first), int(g.ops[0][n]), "asks for %d collectives%s, but rank %d for %d", m,
				g.of(), rank, n)
		}
	}
}
