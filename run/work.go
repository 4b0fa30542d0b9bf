package run

import (
	"collsim/schedule"
	"collsim/topology"
)

// work counts what there is to do in a schedule, of all ranks.
type work struct {
	steps     int64 // sub-steps
	messages  int64 // with signals and puts, as a run counts them
	transfers int64 // these, silent puts, gets and multimem operations
	bytes     int64 // of transfers whose size their step names,
	received  int64 // and of the messages that such steps take in
	blocks    int64 // that steps name,
	listed    int64 // and those among them that are listed one by one
	afar      int64 // blocks of other ranks that steps access, of each rank
	posts     int64 // steps that others of their rank wait for
	lanes     int64
	places    int64 // messages that may be under way at once
	peers     int64 // ends of connections that lanes send on,
	hops      int64 // and links on their routes, where the network is known
	written   int64 // steps of programs, loops once
	largest   int64 // bytes of a message
}

// plus adds n times the counts of another schedule.
func (w work) plus(n int64, v work) work {
	return work{w.steps + n*v.steps, w.messages + n*v.messages, w.transfers + n*v.transfers,
		w.bytes + n*v.bytes, w.received + n*v.received, w.blocks + n*v.blocks,
		w.listed + n*v.listed, w.afar + n*v.afar, w.posts + n*v.posts, w.lanes + n*v.lanes,
		w.places + n*v.places, w.peers + n*v.peers, w.hops + n*v.hops, w.written + n*v.written,
		max(w.largest, v.largest)}
}

// over returns the counts of one of n ranks that do the same.
func (w work) over(n int64) work {
	return work{w.steps / n, w.messages / n, w.transfers / n, w.bytes / n, w.received / n,
		w.blocks / n, w.listed / n, w.afar / n, w.posts / n, w.lanes / n, w.places / n, w.peers / n,
		w.hops / n, w.written / n, w.largest}
}

// hasOwn reports whether each rank has a program of its own.
func hasOwn(s *schedule.Schedule) bool { return s.Group == nil && !s.HasRoles() }

// workOf walks the lanes of every rank, or of one where all do as much, or of one of each role.
func workOf(s *schedule.Schedule) work { return workOn(s, nil) }

// workOn also counts the links of a network on routes; nil: it is not known.
func workOn(s *schedule.Schedule, g *topology.Graph) (all work) {
	c := counter{s: s, graph: g, known: map[schedule.Peer]struct{}{}}
	if s.AlikeInRoles() {
		for role := range s.Roles() {
			first, ranks := s.Role(role)
			c.work = work{}
			c.walk(first)
			all = all.plus(int64(ranks), c.work)
		}
		return all
	}
	ranks := s.RepresentativeRanks()
	if s.Spec.Kind.Splits() { // blocks have given sizes
		ranks = s.Spec.Ranks
	}
	for rank := range ranks {
		c.walk(rank)
	}
	return all.plus(int64(s.Spec.Ranks/ranks), c.work)
}

// counter counts the work of ranks.
type counter struct {
	work
	s     *schedule.Schedule
	step  schedule.Step
	known map[schedule.Peer]struct{} // of the present lane
	graph *topology.Graph
	route []int32
}

// walk counts the steps of a rank, and its connections.
func (c *counter) walk(rank int) {
	s, p := c.s, c.s.Program(rank)
	slices := int32(max(s.Slices, 1))
	c.lanes += int64(p.Lanes())
	skips := s.Teams() == nil && !schedule.Composed(s)
	for lane := range p.Lanes() {
		if skips && s.Group == nil {
			p.Written(lane, &c.step, func(int64, bool) bool {
				c.written++
				return true
			})
		}
		spot := schedule.Spot{Rank: rank, Channel: p.Channel(lane)}
		most, last, hops := 1, schedule.Peer{Rank: -1}, int64(0)
		clear(c.known)
		alike := iteration{loop: -1}
		for at := p.Walk(lane); !at.Done(); at.Next(slices) {
			if skips && at.Slice() == 0 {
				alike.skip(c, p, &at, spot.Channel)
			}
			p.Load(&at, &c.step)
			spot.Slice = int(at.Slice())
			c.count(spot)
			most = max(most, len(c.step.Send))
			for i := range c.step.Send {
				if to := c.step.Send[i].Peer; to != last {
					last = to
					hops += c.connect(rank, to)
				}
			}
		}
		c.places, c.peers = c.places+int64(most), c.peers+int64(len(c.known))
		c.hops += hops
	}
}

// connect notes the connection of the present lane to a peer, and returns the links on its route if
// it is new.
func (c *counter) connect(rank int, to schedule.Peer) (hops int64) {
	_, known := c.known[to]
	c.known[to] = struct{}{}
	if known || c.graph == nil {
		return 0
	}
	c.route = c.graph.Route(rank, int(to.Rank), c.route[:0])
	return int64(len(c.route))
}

// count counts the step in c.step, at a spot.
func (c *counter) count(spot schedule.Spot) {
	c.steps++
	messages, others := transfersOf(&c.step)
	c.messages, c.transfers = c.messages+messages, c.transfers+messages+others
	if c.step.Post {
		c.posts++
	}
	if sent, known := c.s.Bytes(spot, &c.step); known {
		c.bytes += (messages + others) * sent
		for i := range c.step.From {
			if c.step.From[i].Kind == schedule.Message {
				c.received += sent
			}
		}
		if len(c.step.Send) > 0 {
			c.largest = max(c.largest, sent)
		}
	}
	for i := range c.step.From {
		f := &c.step.From[i]
		if f.Kind != schedule.Message {
			c.name(&f.Region)
		}
		if f.Kind == schedule.Get || f.Kind == schedule.Multimem {
			c.afar += blocksIn(&f.Region) * int64(max(len(f.Team), 1))
		}
	}
	for i := range c.step.Send {
		if d := &c.step.Send[i]; d.Lands() {
			c.afar += blocksIn(&d.Region) * int64(max(len(d.Team), 1))
		}
	}
	for i := range c.step.To {
		c.name(&c.step.To[i])
	}
}

// name counts the blocks of a region.
func (w *work) name(r *schedule.Region) {
	w.blocks, w.listed = w.blocks+blocksIn(r), w.listed+int64(len(r.List))
}

// blocksIn returns how many blocks a region has.
func blocksIn(r *schedule.Region) int64 {
	if r.List != nil {
		return int64(len(r.List))
	}
	return int64(r.Run) * int64(r.Times)
}

// iteration is of the outermost loop of a lane.
type iteration struct {
	loop, number int32
	alike        int32 // iterations right behind it that do the same: AlikeAfter
	began        int32 // steps before it,
	before       work  // and what was counted then
}

// skip counts the iterations that do the same as the one before, all but the last, when a lane has
// come to the first of them, and has the lane go on with the last.
func (x *iteration) skip(c *counter, p *schedule.Program, at *schedule.Cursor, channel int) {
	loop, _ := at.Outermost()
	if loop < 0 || loop == x.loop && at.Iterations()[0] == x.number {
		return
	}
	if n := x.alike - 1; n > 0 && loop == x.loop && at.Iterations()[0] == x.number+1 {
		c.work = c.plus(int64(n), c.work).plus(-int64(n), x.before)
		at.SkipOutermost(n, n*(at.Step-x.began))
	}
	number := at.Iterations()[0]
	*x = iteration{loop, number, p.AlikeAfter(at, channel, number), at.Step, c.work}
}

// transfersOf counts the messages of a step, and its silent puts, gets and multimem operations.
// What is fused is one operation.
func transfersOf(step *schedule.Step) (messages, others int64) {
	for i := range step.From {
		if kind := step.From[i].Kind; kind == schedule.Get || kind == schedule.Multimem {
			others++
		}
	}
	for i := range step.Send {
		switch d := &step.Send[i]; {
		case d.Message():
			messages++
		case !d.Fused:
			others++
		}
	}
	return messages, others
}

// Steps counts the steps of all ranks.
func Steps(s *schedule.Schedule) int64 { return workOf(s).steps }
