package run

import (
	"collsim/schedule"
	"collsim/sim"
)

// work is what there is to do in a schedule. bytes are of messages whose size their step names,
// moved the elements of all steps, and blocks those that the steps name.
type work struct {
	steps, messages, bytes, moved, lanes, blocks int64
	walked                                       int64 // steps that were looked at to count all
	rolled                                       int64 // in loops of one step,
	kept                                         int64 // or that sim/event keeps: hasOwn
	places                                       int64 // messages that may be on their way at once
	connections                                  int64
	cells                                        int64 // parts that memories are cut into
	held                                         int64 // of them, those of outputs and scratch
	longest                                      int64 // elements of a part
	sizes                                        int64 // of messages, that differ
	largest                                      int64 // of them, in bytes
	runs                                         int64 // of blocks that follow one another
	isOneSided                                   bool  // see schedule.Schedule.OneSided
	writing
	ways // once somebody has looked (takesways.go)
}

// writing is what is written of programs of ranks' own, loops once.
type writing struct {
	written int64 // steps
	sends   int64 // messages of these,
	parts   int64 // all that is kept of them,
	strips  int64 // runs of blocks that they name,
	listed  int64 // and blocks that they name one by one
}

// written is a step.
func written(step *schedule.Step) writing {
	_, runs := blocksOf(step)
	return writing{1, int64(len(step.Send)), int64(step.Parts()), runs, listedIn(step)}
}

func (w writing) plus(v writing) writing {
	return writing{w.written + v.written, w.sends + v.sends, w.parts + v.parts, w.strips + v.strips,
		w.listed + v.listed}
}

func (w work) times(n int64) work {
	return work{w.steps * n, w.messages * n, w.bytes * n, w.moved * n, w.lanes * n, w.blocks * n,
		w.walked * n, w.rolled * n, w.kept * n, w.places * n, w.connections * n, w.cells * n, w.held * n,
		w.longest, w.sizes, w.largest, w.runs * n, w.isOneSided,
		writing{w.written * n, w.sends * n, w.parts * n, w.strips * n, w.listed * n}, w.ways}
}

// again is what there is to do if what has been counted since then is done n times more.
func (w work) again(since work, n int64) work {
	w.steps += n * (w.steps - since.steps)
	w.messages += n * (w.messages - since.messages)
	w.bytes += n * (w.bytes - since.bytes)
	w.moved += n * (w.moved - since.moved)
	w.blocks += n * (w.blocks - since.blocks)
	w.runs += n * (w.runs - since.runs)
	w.rolled += n * (w.rolled - since.rolled)
	w.kept += n * (w.kept - since.kept)
	return w
}

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
	for _, row := range s.Spec.Splits { // where each rank does as much, others have other sizes
		for _, n := range row {
			c.see(n)
		}
	}
	all = c.work.times(int64(s.Spec.Ranks / ranks))
	all.cut(s)
	return all
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
	seen  map[int64]struct{}  // sizes of messages
	last  int64               // of these, the one before
}

func newCounter(s *schedule.Schedule) *counter {
	return &counter{s: s, peers: map[peerOf]struct{}{}, seen: map[int64]struct{}{}}
}

// see counts a size, the first time.
func (c *counter) see(n int64) {
	if _, known := c.seen[n]; !known {
		c.seen[n] = struct{}{}
		c.sizes++
	}
}

// peerOf is where a connection of a lane leads.
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
				c.writing = c.writing.plus(written(&c.step))
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
			c.loops(p, &at)
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
	width, sends := int64(c.s.Spec.Type.Width()), int64(len(c.step.Send))
	c.steps, c.walked = c.steps+1, c.walked+1
	c.isOneSided = c.isOneSided || c.step.OneSided()
	c.messages += sends
	c.moved += n
	c.bytes += sends * n * width
	blocks, runs := blocksOf(&c.step)
	c.blocks, c.runs = c.blocks+blocks, c.runs+runs
	if sends > 0 && n > 0 && n != c.last {
		c.last = n
		c.see(n)
		c.largest = max(c.largest, n*width)
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

// loops counts a step of a program of a rank's own to which a lane has come, if it is of a loop of
// few.
func (c *counter) loops(p *schedule.Program, at *schedule.Cursor) {
	if !hasOwn(c.s) || c.s.Teams() != nil || c.s.Parts() != nil {
		return
	}
	if loop, _ := at.Around(); loop < 0 || at.Body() > sim.KeptBody {
		return
	}
	if at.Body() == 1 {
		c.rolled++
	}
	if p.Repeats(at) {
		c.kept++
	}
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
