package schedule

import "collsim/symmetry"

// A rank's program in a composed schedule: the lanes of its parts, one part after the other. Each
// lane begins with a step that awaits the parts before it, and that begins the part's bracket. It
// ends with a step that posts, so that other parts can await its end.

// placedProgram is a part's program on a rank, and its first lane there.
type placedProgram struct {
	*Program
	part  int32
	place int32 // the rank's index among the part's
	first int32
}

// An edge is the position of a cursor in a lane of a part; 0 in any other lane.
type edge int8

const (
	atBegin edge = iota + 1
	inside
	atEnd
	afterEnd
)

// composedProgram returns a rank's program in a composed schedule.
func (s *Schedule) composedProgram(rank int) *Program {
	whole := &Program{schedule: s, code: &code{}, rank: int32(rank)}
	for i := range s.parts {
		p := &s.parts[i]
		place := p.placeOf(rank)
		if place < 0 {
			continue
		}
		own := p.Schedule.Program(p.Fold.seat(place))
		whole.parts = append(whole.parts, placedProgram{own, int32(i), int32(place), p.first[place]})
		whole.code.lanes += own.code.lanes
	}
	return whole
}

// partAt returns the part's program that a lane belongs to, and the lane's number in it.
func (p *Program) partAt(lane int) (*placedProgram, int) {
	i, n := 0, len(p.parts)
	for n > 1 { // binary search: the last part that begins at or before the lane
		if half := n / 2; int(p.parts[i+half].first) <= lane {
			i, n = i+half, n-half
		} else {
			n = half
		}
	}
	// A part without lanes begins where the next one does; the search finds the last of them, which
	// has lanes.
	return &p.parts[i], lane - int(p.parts[i].first)
}

// Part returns the part of a composed schedule that a lane belongs to; 0 in any other.
func (p *Program) Part(lane int) int {
	if p.parts == nil {
		return 0
	}
	own, _ := p.partAt(lane)
	return int(own.part)
}

// Stream returns the stream of its rank that a lane is on. In a schedule that is not composed,
// every lane is a stream.
func (p *Program) Stream(lane int) int {
	if p.parts == nil {
		return lane
	}
	own, index := p.partAt(lane)
	part := &p.schedule.parts[own.part]
	if part.Launch == nil {
		return int(part.Stream) + index
	}
	return int(part.Stream)
}

// Slices returns how many sub-steps a data-moving step of a lane has.
func (p *Program) Slices(lane int) int {
	if p.parts == nil {
		return max(p.schedule.Slices, 1)
	}
	own, _ := p.partAt(lane)
	return max(own.schedule.Slices, 1)
}

// Slots returns how many messages a FIFO connection from a lane holds; 0 leaves it to the
// environment.
func (p *Program) Slots(lane int) int {
	if p.parts == nil {
		return p.schedule.Slots
	}
	own, _ := p.partAt(lane)
	return own.schedule.Slots
}

// walkPart returns a cursor at the beginning of a lane of a composed schedule.
func (p *Program) walkPart(lane int) Cursor {
	own, index := p.partAt(lane)
	c := own.Walk(index)
	c.edge, c.own = atBegin, lane
	return c
}

// loadPart loads the present step of a lane of a composed schedule.
func (p *Program) loadPart(c *Cursor, s *Step) {
	own, index := p.partAt(c.own)
	part := &p.schedule.parts[own.part]
	if c.edge != inside {
		s.assign(&Step{})
		if c.edge == atEnd {
			s.Post = true
			return
		}
		if part.Launch != nil {
			s.Launch = part.launch
		}
		for _, before := range part.waits[own.place] {
			q := &p.schedule.parts[before]
			s.Await = append(s.Await, q.ends[q.placeOf(int(p.rank))]...)
		}
		return
	}
	own.Load(c, s)
	for i := range s.From {
		if f := &s.From[i]; f.Kind != Local {
			part.translatePeer(&f.Peer, p.schedule.Alike, false)
			f.Team = part.translateTeam(f.Team)
		}
	}
	for i := range s.Send {
		d := &s.Send[i]
		part.translatePeer(&d.Peer, p.schedule.Alike, true)
		d.Team = part.translateTeam(d.Team)
	}
	for i := range s.Await {
		s.Await[i].Lane += int32(c.own - index)
	}
}

// translatePeer translates the peer of a step that receives or sends from the part's numbering to
// the whole's.
func (p *part) translatePeer(peer *Peer, alike *symmetry.Subgroup, sends bool) {
	if alike != nil {
		p.Fold.across(peer, alike, sends)
	}
	peer.Lane += p.first[peer.Rank]
	peer.Rank = int32(p.Ranks[peer.Rank])
}

// translateTeam translates the ranks of a multimem from the part's numbering to the whole's.
func (p *part) translateTeam(team []int32) []int32 {
	if team == nil {
		return nil
	}
	seats := make([]int32, len(team))
	for i, r := range team {
		seats[i] = int32(p.Ranks[r])
	}
	return seats
}

// ends returns the events at the ends of all lanes; first is the number of the first lane.
func (c *code) ends(first int32) []Event {
	events := make([]Event, 0, c.lanes)
	for i := range c.bundles {
		u := &c.bundles[i]
		for lane := range u.count {
			events = append(events, Event{first + u.first + lane, 1 + c.posts(u.from, u.to)})
		}
	}
	return events
}

// posts returns how often the nodes post.
func (c *code) posts(from, to int32) (n int32) {
	for pc := from; pc < to; pc++ {
		x := &c.nodes[pc]
		if x.leaf < 0 {
			n += x.count * c.posts(pc+1, pc+1+x.size)
			pc += x.size
		} else if c.leaves[x.leaf].step.Post {
			n++
		}
	}
	return n
}
