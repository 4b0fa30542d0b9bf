package judge

import (
	"fmt"
	"slices"
)

// A model is a plan on numbered cells: one for every element of every memory of every rank.
type model struct {
	plan  *Plan
	base  [][3]int // rank, memory → first cell
	cells int
	lanes []lane // of all ranks, in order
	first []int  // rank → first lane; then the number of lanes
}

// A lane lists what a lane does, slice by slice.
type lane struct {
	rank, number int
	works        []*work
}

// A work is one slice of a step, or a step that moves nothing.
type work struct {
	rank, lane    int // lane: index among the lanes of all ranks
	number, slice int
	last          bool
	step          *Step
	reads         [][][]int // source → rank of a team → cells
	stores        [][]int   // into → cells; nil for a copy onto itself
	lands         [][][]int // target → rank of a team → cells
}

// String names the work.
func (w *work) String() string {
	return fmt.Sprintf("rank %d step %d (%s)", w.rank, w.number, w.step.text())
}

// newModel numbers the elements, and reports an invalid step.
func newModel(p *Plan) (*model, error) {
	m := &model{plan: p}
	for rank, lanes := range p.Ranks {
		m.number(rank)
		m.first = append(m.first, len(m.lanes))
		for l := range lanes {
			m.lanes = append(m.lanes, lane{rank: rank, number: l})
		}
	}
	m.first = append(m.first, len(m.lanes))
	for l := range m.lanes {
		k := &m.lanes[l]
		source := &p.Ranks[k.rank][k.number]
		for i := range source.Steps {
			step := &source.Steps[i]
			if err := m.check(l, source.Channel, step); err != nil {
				return nil, fmt.Errorf("rank %d lane %d step %d: %w", k.rank, k.number, i, err)
			}
			slices := 1
			if step.Moves() {
				slices = p.Slices
			}
			for s := range slices {
				w := &work{rank: k.rank, lane: l, number: i, slice: s, last: s == slices-1, step: step}
				m.place(w, source.Channel)
				k.works = append(k.works, w)
			}
		}
	}
	return m, nil
}

// number numbers the cells of a rank.
func (m *model) number(rank int) {
	var base, size [3]int
	for b := Input; b <= Scratch; b++ {
		if n := m.plan.size(b, rank); n > 0 {
			memory, begin := m.plan.home(b, rank)
			size[memory] = max(size[memory], begin+n)
		}
	}
	for memory, n := range size {
		base[memory] = m.cells
		m.cells += n
	}
	m.base = append(m.base, base)
}

// buffer returns the cells of a rank's buffer: from … to−1.
func (m *model) buffer(b Buffer, rank int) (from, to int) {
	memory, begin := m.plan.home(b, rank)
	from = m.base[rank][memory] + begin
	return from, from + m.plan.size(b, rank)
}

// region returns the cells of a rank's region, for a channel and a slice.
func (m *model) region(g *Region, rank, channel, slice int) []int {
	from, _ := m.buffer(g.Buffer, rank)
	cells := []int{}
	for _, block := range g.Blocks {
		s := stretch{0, m.plan.size(g.Buffer, rank)}
		for i := range m.plan.Cuts[g.Buffer] {
			l := &m.plan.Cuts[g.Buffer][i]
			part := map[string]int{"channel": channel, "tile": g.Tile, "block": block}[l.Axis]
			s = l.part(s, part, rank)
		}
		if m.plan.Slices > 1 {
			s = (&Level{Split: "even", N: m.plan.Slices}).part(s, slice, rank)
		}
		for i := s.from; i < s.to; i++ {
			cells = append(cells, from+i)
		}
	}
	return cells
}

// place finds the cells of a work.
func (m *model) place(w *work, channel int) {
	regions := func(g *Region, ranks ...int) (list [][]int) {
		for _, rank := range ranks {
			list = append(list, m.region(g, rank, channel, w.slice))
		}
		return list
	}
	for i := range w.step.From {
		f := &w.step.From[i]
		switch f.Kind {
		case Local:
			w.reads = append(w.reads, regions(&f.Region, w.rank))
		case Get:
			w.reads = append(w.reads, regions(&f.Region, f.Peer.Rank))
		default:
			w.reads = append(w.reads, regions(&f.Region, f.Team...))
		}
	}
	for i := range w.step.Into {
		cells := regions(&w.step.Into[i], w.rank)[0]
		if w.isThere(cells) {
			cells = nil
		}
		w.stores = append(w.stores, cells)
	}
	for i := range w.step.To {
		switch t := &w.step.To[i]; {
		case t.Team != nil:
			w.lands = append(w.lands, regions(&t.Region, t.Team...))
		case t.At:
			w.lands = append(w.lands, regions(&t.Region, t.Peer.Rank))
		default:
			w.lands = append(w.lands, nil)
		}
	}
}

// isThere reports whether a work would copy these cells onto themselves.
func (w *work) isThere(cells []int) bool {
	s := w.step
	return len(s.From) == 1 && s.From[0].Kind == Local && !s.From[0].Scaled && !s.Scaled &&
		slices.Equal(cells, w.reads[0][0])
}

// A connection carries messages of one class and tag between two lanes, in order.
type connection struct {
	from, to int // indices among the lanes of all ranks
	class    Class
	tag      int
}

// to returns the connection from a lane to a peer.
func (m *model) to(lane int, p *Peer) connection {
	return connection{lane, m.first[p.Rank] + p.Lane, p.Class, p.Tag}
}

// from returns the connection from a peer to a lane.
func (m *model) from(lane int, p *Peer) connection {
	return connection{m.first[p.Rank] + p.Lane, lane, p.Class, p.Tag}
}

// check reports an invalid step.
func (m *model) check(lane, channel int, s *Step) error {
	rank := m.lanes[lane].rank
	for _, g := range s.Regions() {
		for _, l := range m.plan.Cuts[g.Buffer] {
			if l.Axis == "channel" && channel >= l.parts() {
				return fmt.Errorf("channel %d of %s, which has %d", channel, g.text(), l.parts())
			}
		}
	}
	used := map[connection]bool{}
	peer := func(p *Peer, connect func(int, *Peer) connection) error {
		if p.Rank == rank {
			return fmt.Errorf("is its own peer")
		}
		if lanes := m.first[p.Rank+1] - m.first[p.Rank]; p.Lane < 0 || p.Lane >= lanes {
			return fmt.Errorf("names lane %d of rank %d, which has %d", p.Lane, p.Rank, lanes)
		}
		if c := connect(lane, p); used[c] {
			return fmt.Errorf("uses a connection twice")
		} else {
			used[c] = true
		}
		return nil
	}
	for i := range s.From {
		f := &s.From[i]
		if f.Kind == Get && f.Peer.Rank == rank {
			return fmt.Errorf("gets from itself")
		}
		if f.Kind == Message {
			if err := peer(&f.Peer, m.from); err != nil {
				return err
			}
		}
	}
	for i := range s.To {
		if t := &s.To[i]; t.Team == nil && (t.Message() || t.Peer.Rank == rank) {
			if err := peer(&t.Peer, m.to); err != nil {
				return err
			}
		}
	}
	for _, e := range s.After {
		on := m.first[rank] + e.Lane
		if e.Lane < 0 || on >= m.first[rank+1] || on == lane {
			return fmt.Errorf("awaits lane %d, which is none of the others", e.Lane)
		}
	}
	return m.plan.Problem.allows(s)
}

// allows reports a step that no collective, or not this one, can have.
func (p *Problem) allows(s *Step) error {
	operands, scaled := 0, s.Scaled
	for i := range s.From {
		f := &s.From[i]
		operands, scaled = operands+max(1, len(f.Team)), scaled || f.Scaled
		if twice(f.Team) {
			return fmt.Errorf("names a rank of a multimem twice")
		}
		if f.Put() && (!s.waits() || scaled) {
			return fmt.Errorf("has a put's message for an operand")
		}
	}
	carries := false
	for i := range s.To {
		t := &s.To[i]
		carries = carries || t.At || t.Packet || t.Line
		if t.Team == nil && t.At != (t.Peer.Class == Puts) {
			return fmt.Errorf("sends what is no put as one, or a put as what is none")
		}
		if t.Relaxed && !t.Message() || twice(t.Team) {
			return fmt.Errorf("is relaxed without a message, or names a rank of a multimem twice")
		}
		if t.Fused && !s.fuses() {
			return fmt.Errorf("is fused, and does more than a sum that its operands receive")
		}
	}
	before, after := p.scales()
	switch {
	case operands > 1 && p.Op == "":
		return fmt.Errorf("combines operands; the collective has no operator")
	case scaled && !before && !after:
		return fmt.Errorf("scales; the operator has no factor")
	case (s.Compute != "" || s.Flush) && len(s.From)+len(s.Into)+len(s.To) > 0:
		return fmt.Errorf("computes or flushes, and moves data")
	case operands == 0 && (s.Scaled || carries || len(s.Into) > 0):
		return fmt.Errorf("has nothing to be scaled or stored")
	}
	return nil
}

// fuses reports whether a step loads a multimem and stores it at the same ranks, and nothing else.
// REQUIRES: teams are sorted.
func (s *Step) fuses() bool {
	return len(s.From) == 1 && len(s.To) == 1 && len(s.Into) == 0 && !s.Scaled &&
		s.From[0].Kind == Multimem && !s.From[0].Scaled && !s.To[0].Packet &&
		slices.Equal(s.From[0].Team, s.To[0].Team)
}

// twice reports whether a rank occurs twice. REQUIRES: team is sorted.
func twice(team []int) bool { return len(slices.Compact(slices.Clone(team))) < len(team) }
