package schedule

// What a rank runs of a composed schedule: the lanes of its parts, one part after the other. Each
// begins with a step that awaits the parts before it, and begins the part's bracket; and ends with
// one that posts, so that others can await its end.

// seated is a part's program on a rank, and its first lane there.
type placedProgram struct {
	*Program
	part  int32
	first int32
}

// edge is where in a lane of a part a cursor is; 0 in any other lane.
type edge int8

const (
	atBegin edge = iota + 1
	inside
	atEnd
	afterEnd
)

// composedProgram is what a rank runs.
func (s *Schedule) composedProgram(rank int) *Program {
	whole := &Program{schedule: s, code: &code{}, rank: int32(rank)}
	for i := range s.parts {
		p := &s.parts[i]
		place := p.placeOf(rank)
		if place < 0 {
			continue
		}
		own := p.Schedule.Program(place)
		whole.parts = append(whole.parts, placedProgram{own, int32(i), p.first[place]})
		whole.code.lanes += own.code.lanes
	}
	return whole
}

// seat is the part's program that a lane is of, and which lane of it.
func (p *Program) partAt(lane int) (*placedProgram, int) {
	i, n := 0, len(p.parts)
	for n > 1 { // binary search: the last that begins at or before the lane
		if half := n / 2; int(p.parts[i+half].first) <= lane {
			i, n = i+half, n-half
		} else {
			n = half
		}
	}
	// Parts without lanes begin where the next does: the last of them that has lanes is meant.
	return &p.parts[i], lane - int(p.parts[i].first)
}

// Part is the part of a composed schedule that a lane is of; 0 of any other.
func (p *Program) Part(lane int) int {
	if p.parts == nil {
		return 0
	}
	own, _ := p.partAt(lane)
	return int(own.part)
}

// Stream is the stream of its rank that a lane is on: in a schedule that is not composed, every
// lane is one.
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

// Slices is how many sub-steps a step of a lane is that moves data.
func (p *Program) Slices(lane int) int {
	if p.parts == nil {
		return max(p.schedule.Slices, 1)
	}
	own, _ := p.partAt(lane)
	return max(own.schedule.Slices, 1)
}

// Slots is how many messages a connection from a lane holds, of class FIFO; 0 leaves it to the
// environment.
func (p *Program) Slots(lane int) int {
	if p.parts == nil {
		return p.schedule.Slots
	}
	own, _ := p.partAt(lane)
	return own.schedule.Slots
}

// walkPart is Walk of a lane of a composed schedule.
func (p *Program) walkPart(lane int) Cursor {
	own, index := p.partAt(lane)
	c := own.Walk(index)
	c.edge, c.own = atBegin, lane
	return c
}

// loadPart is Load in a lane of a composed schedule.
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
		for _, before := range part.waits[own.rank] {
			q := &p.schedule.parts[before]
			s.Await = append(s.Await, q.ends[q.placeOf(int(p.rank))]...)
		}
		return
	}
	own.Load(c, s)
	for i := range s.From {
		if f := &s.From[i]; f.Kind != Local {
			part.translatePeer(&f.Peer)
			f.Team = part.translateTeam(f.Team)
		}
	}
	for i := range s.Send {
		d := &s.Send[i]
		part.translatePeer(&d.Peer)
		d.Team = part.translateTeam(d.Team)
	}
	for i := range s.Await {
		s.Await[i].Lane += int32(c.own - index)
	}
}

// seatPeer makes a peer in the part one in the whole.
func (p *part) translatePeer(peer *Peer) {
	peer.Lane += p.first[peer.Rank]
	peer.Rank = int32(p.Ranks[peer.Rank])
}

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

// ends are the events that all lanes have ended, of which the first has that number.
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

// posts is how often the nodes post.
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
