package run

import "collsim/schedule"

// work counts what there is to do in a schedule: bytes of messages whose size their step names,
// elements that all steps move, and blocks that the steps name.
type work struct {
	steps, bytes, moved, lanes, blocks int64
	messages                           int64 // with signals and puts, as a run counts them
	transfers                          int64 // these, silent puts, gets and multimem operations
	places                             int64 // messages that may be under way at once
	connections                        int64
	cells                              int64 // parts that memories are cut into
	held                               int64 // of them, those of outputs and scratch
	longest                            int64 // elements of a part
	largest                            int64 // bytes of a message
	runs                               int64 // of blocks that follow one another
	isOneSided                         bool  // see schedule.Schedule.OneSided
	written, listed                    int64 // steps of programs, loops once; blocks listed
	posts                              int64 // steps that others of their rank wait for
}

// times multiplies the counts by n.
func (w work) times(n int64) work {
	return work{w.steps * n, w.bytes * n, w.moved * n, w.lanes * n, w.blocks * n, w.messages * n,
		w.transfers * n, w.places * n, w.connections * n, w.cells * n, w.held * n, w.longest,
		w.largest, w.runs * n, w.isOneSided, w.written * n, w.listed * n, w.posts * n}
}

// plus adds the counts of another schedule, which runs before or after.
func (w work) plus(v work) work {
	return work{w.steps + v.steps, w.bytes + v.bytes, w.moved + v.moved, w.lanes + v.lanes,
		w.blocks + v.blocks, w.messages + v.messages, w.transfers + v.transfers,
		w.places + v.places, w.connections + v.connections, w.cells + v.cells, w.held + v.held,
		max(w.longest, v.longest), max(w.largest, v.largest), w.runs + v.runs,
		w.isOneSided || v.isOneSided, w.written + v.written, w.listed + v.listed,
		w.posts + v.posts}
}

// again adds n times what has been counted since.
func (w work) again(since work, n int64) work {
	w.steps += n * (w.steps - since.steps)
	w.messages += n * (w.messages - since.messages)
	w.transfers += n * (w.transfers - since.transfers)
	w.bytes += n * (w.bytes - since.bytes)
	w.moved += n * (w.moved - since.moved)
	w.blocks += n * (w.blocks - since.blocks)
	w.runs += n * (w.runs - since.runs)
	w.posts += n * (w.posts - since.posts)
	return w
}

// hasOwn reports whether each rank has a program of its own.
func hasOwn(s *schedule.Schedule) bool { return s.Group == nil && !s.HasRoles() }

// workOf walks the lanes of every rank, or of one where all do as much, or of one of each role.
func workOf(s *schedule.Schedule) (all work) {
	if s.AlikeInRoles() {
		all = workOfRoles(s)
		all.cut(s)
		return all
	}
	ranks := s.RepresentativeRanks()
	c := newCounter(s)
	for rank := range ranks {
		c.walk(rank)
	}
	all = c.work.times(int64(s.Spec.Ranks / ranks))
	all.cut(s)
	return all
}

// workOfAll counts as workOf, but with the bytes of every rank where blocks have given sizes: one
// rank does not stand for all then.
func workOfAll(s *schedule.Schedule) work {
	w := workOf(s)
	if s.Spec.Kind.Splits() {
		c := newCounter(s)
		for rank := range s.Spec.Ranks {
			c.walk(rank)
		}
		w.bytes = c.bytes
	}
	return w
}

// workOfRoles walks the lanes of the first rank of each role.
func workOfRoles(s *schedule.Schedule) (all work) {
	c := newCounter(s)
	for role := range s.Roles() {
		first, ranks := s.Role(role)
		c.work = work{}
		c.walk(first)
		all = all.plus(c.work.times(int64(ranks)))
	}
	return all
}

// counter counts the work of ranks.
type counter struct {
	work
	s     *schedule.Schedule
	step  schedule.Step
	peers map[peerOf]struct{} // of a lane
}

func newCounter(s *schedule.Schedule) *counter {
	return &counter{s: s, peers: map[peerOf]struct{}{}}
}

// peerOf identifies the other end of a lane's connection.
type peerOf struct {
	rank, lane, tag int32
	class           schedule.Class
}

// walk counts the steps of a rank, and its connections.
func (c *counter) walk(rank int) {
	s, p := c.s, c.s.Program(rank)
	slices := int32(max(s.Slices, 1))
	c.lanes += int64(p.Lanes())
	skips := s.Teams() == nil && s.Parts() == nil
	for lane := range p.Lanes() {
		if skips && hasOwn(s) {
			p.Written(lane, &c.step, func(int64, bool) bool {
				c.written, c.listed = c.written+1, c.listed+listedIn(&c.step)
				return true
			})
		}
		spot := schedule.Spot{Rank: rank, Channel: p.Channel(lane)}
		most, last := 1, peerOf{rank: -1}
		clear(c.peers)
		var before work // the latest loop
		began, alike := int32(0), iteration{loop: -1}
		for at := p.Walk(lane); !at.Done(); at.Next(slices) {
			if loop, follow := at.Around(); skips && loop >= 0 && at.Slice() == 0 &&
				at.Place() == loop+1 {
				switch at.Iteration() {
				case 0:
					before, began = c.work, at.Step
				case 1: // the last one is as the first
					if p.SteadyLoop(&at) {
						c.work = c.work.again(before, int64(follow))
						at.Skip(follow, follow*(at.Step-began))
					}
				}
			}
			if skips && at.Slice() == 0 {
				alike.skip(c, p, &at, spot.Channel)
			}
			p.Load(&at, &c.step)
			spot.Slice = int(at.Slice())
			c.count(spot)
			most = max(most, len(c.step.Send))
			for i := range c.step.Send {
				d := &c.step.Send[i].Peer
				if to := (peerOf{d.Rank, d.Lane, d.Tag, d.Class}); to != last {
					c.peers[to], last = struct{}{}, to
				}
			}
		}
		c.places += int64(most)
		c.connections += int64(len(c.peers))
	}
}

// count counts the step in c.step, at a spot.
func (c *counter) count(spot schedule.Spot) {
	n, _ := c.s.Size(spot, &c.step)
	sends := int64(len(c.step.Send))
	c.steps++
	c.isOneSided = c.isOneSided || c.step.OneSided()
	messages, others := transfersOf(&c.step)
	c.messages, c.transfers = c.messages+messages, c.transfers+messages+others
	c.moved += n
	if c.step.Post {
		c.posts++
	}
	if sent, known := c.s.Bytes(spot, &c.step); known {
		c.bytes += (messages + others) * sent
	}
	blocks, runs := blocksOf(&c.step)
	c.blocks, c.runs = c.blocks+blocks, c.runs+runs
	if sends > 0 {
		c.largest = max(c.largest, n*int64(c.s.Spec.Type.Width()))
	}
}

// iteration counts an iteration of the outermost loop of a lane.
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
		c.work = c.again(x.before, int64(n))
		at.SkipOutermost(n, n*(at.Step-x.began))
	}
	number := at.Iterations()[0]
	*x = iteration{loop, number, p.AlikeAfter(at, channel, number), at.Step, c.work}
}

// cut counts the parts that memories are cut into. Ranks whose buffers are as long are cut alike,
// near enough where a table cuts them.
func (w *work) cut(s *schedule.Schedule) {
	known := map[[3]int64][2]int64{}
	var ends []int64
	ranks, times := s.Spec.Ranks, int64(1)
	if s.SameSizes() {
		ranks, times = 1, int64(ranks)
	}
	for rank := range ranks {
		var lens [3]int64
		for b := range lens {
			lens[b] = s.Len(schedule.Buffer(b), rank)
		}
		parts, seen := known[lens]
		if !seen {
			var homes [3]int64
			for b, n := range lens {
				if n == 0 {
					continue
				}
				ends = s.Ends(ends[:0], schedule.Buffer(b), rank, 0)
				pieces := max(int64(len(ends)), 1)
				home, _ := s.Home(schedule.Buffer(b), rank)
				homes[home] = max(homes[home], pieces)
				w.longest = max(w.longest, (n+pieces-1)/pieces)
			}
			parts = [2]int64{homes[0] + homes[1] + homes[2], homes[1] + homes[2]}
			if s.Spec.InPlace {
				parts[1] = parts[0]
			}
			known[lens] = parts
		}
		w.cells += times * parts[0]
		w.held += times * parts[1]
	}
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

// blocksOf counts the blocks that a step names, and their runs.
func blocksOf(step *schedule.Step) (n, runs int64) {
	add := func(r *schedule.Region) {
		if r.List != nil {
			n, runs = n+int64(len(r.List)), runs+int64(len(r.List))
			return
		}
		n, runs = n+int64(r.Run)*int64(r.Times), runs+int64(r.Times)
	}
	for i := range step.From {
		if f := &step.From[i]; f.Kind != schedule.Message {
			add(&f.Region)
		}
	}
	for i := range step.To {
		add(&step.To[i])
	}
	return n, runs
}

// listedIn counts the blocks that a step names one by one.
func listedIn(step *schedule.Step) (n int64) {
	for i := range step.From {
		n += int64(len(step.From[i].Region.List))
	}
	for i := range step.To {
		n += int64(len(step.To[i].List))
	}
	return n
}

// Steps counts the steps of all ranks.
func Steps(s *schedule.Schedule) int64 { return workOf(s).steps }
