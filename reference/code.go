package reference

import "collsim/schedule"

// A compiler translates each sub-step of a schedule to moves of data, so that they can be repeated
// for every window without walking the schedule again.
//
//	recvReduceCopySend  ──►  take message 3 · fold in[2] · store out[2] · give message 7
type compiler struct {
	s      *schedule.Schedule
	stored bool          // inputs are stored in memory
	parts  *[3]partition // of the memories
	widens bool          // steps compute in float32
	merges bool          // a switch adds
	tape
	spans []schedule.Span
}

// tape is a sequence of moves.
type tape struct {
	moves []move
	list  []part // of all moves
}

// A move is one operation on the value of a sub-step. The value exists only until the next
// sub-step.
type move struct {
	kind     moveKind
	memory   schedule.Buffer // of a region: its memory
	scale    bool            // the operand is scaled first
	rank     int32           // owner of the memory; for take, the receiver
	handle   int32           // of a message
	from, to int32           // the region's parts in the compiler's list
}

// A moveKind selects the operation of a move.
type moveKind uint8

const (
	take       moveKind = iota // the value is a message
	load                       // the value is a region
	foldIn                     // the value is combined with a message, on its right
	fold                       // the value is combined with a region, on its right
	setAside                   // the value is set aside; another will be made
	foldAside                  // what was set aside is combined with the value, on its right
	scaleValue                 // the value is scaled
	widen                      // the value becomes float32: until narrow, all is done in that
	narrow                     // the value becomes the type's again, rounded
	store                      // the value is stored in a region
	give                       // a copy of the value becomes a message
	giveAway                   // the value becomes a message
	drop                       // the value is forgotten
)

// bytesPerMove and bytesPerPart are the sizes of a move and a part in memory.
const (
	bytesPerMove = 24
	bytesPerPart = 16
)

// A part is n elements that are named together. at is the number of the part in its memory's
// partition or, in an input that is not stored, its offset.
type part struct{ at, n int64 }

// compile appends the moves of a sub-step.
func (c *compiler) compile(at *schedule.Visit) {
	step, found := at.Step, false
	wide := c.widens && computes(step)
	for i := range step.From {
		f := &step.From[i]
		m := move{scale: f.Scale}
		switch {
		case f.Kind == schedule.Message && f.Put(): // its bytes have landed
			continue
		case f.Kind == schedule.Multimem:
			c.multimem(at, f, found, wide)
			found = true
			continue
		case f.Kind == schedule.Message:
			m.kind, m.handle, m.rank = take, at.In[i], at.Rank
		default:
			rank := int(at.Rank)
			if f.Kind == schedule.Get {
				rank = int(f.Peer.Rank)
			}
			m.kind = load
			c.region(&m, at, rank, &f.Region)
		}
		if found {
			m.kind += foldIn - take
		}
		c.add(m, wide && !found)
		found = true
	}
	if step.Scale {
		c.moves = append(c.moves, move{kind: scaleValue})
	}
	if wide && found {
		c.moves = append(c.moves, move{kind: narrow})
	}
	c.results(at, found)
}

// computes reports whether a step combines or scales.
func computes(step *schedule.Step) bool {
	n := 0
	for i := range step.From {
		f := &step.From[i]
		if f.Scale {
			return true
		}
		switch {
		case f.Kind == schedule.Multimem:
			n += len(f.Team)
		case f.Kind != schedule.Message || !f.Put():
			n++
		}
	}
	return n > 1 || step.Scale
}

// add appends a move. If widens, it appends what makes the move's value float32, too.
func (c *compiler) add(m move, widens bool) {
	if !widens {
		c.moves = append(c.moves, m)
		return
	}
	scaled := m.scale
	m.scale = false
	c.moves = append(c.moves, m, move{kind: widen})
	if scaled {
		c.moves = append(c.moves, move{kind: scaleValue})
	}
}

// multimem appends what a switch does: it adds up the regions of a team, in the team's order,
// before the sum is combined with the value so far.
func (c *compiler) multimem(at *schedule.Visit, f *schedule.Source, found, wide bool) {
	c.merges = true
	if found {
		c.moves = append(c.moves, move{kind: setAside})
	}
	for i, rank := range f.Team {
		m := move{kind: load}
		if i > 0 {
			m.kind = fold
		}
		c.region(&m, at, int(rank), &f.Region)
		c.add(m, wide && i == 0)
	}
	if f.Scale {
		c.moves = append(c.moves, move{kind: scaleValue})
	}
	if found {
		c.moves = append(c.moves, move{kind: foldAside})
	}
}

// results appends the uses of the value. Puts land, also a switch's, and regions are stored. The
// last message gets the buffer itself.
func (c *compiler) results(at *schedule.Visit, found bool) {
	step, last := at.Step, -1
	lands := func(rank int32, r *schedule.Region) {
		m := move{kind: store}
		c.region(&m, at, int(rank), r)
		c.moves = append(c.moves, m)
	}
	for i := range step.Send {
		switch d := &step.Send[i]; {
		case d.Team != nil:
			for _, rank := range d.Team {
				lands(rank, &d.Region)
			}
		case d.Put:
			lands(d.Peer.Rank, &d.Region)
		default:
			last = i
		}
	}
	for i := range step.To {
		m := move{kind: store}
		c.region(&m, at, int(at.Rank), &step.To[i])
		c.moves = append(c.moves, m)
	}
	for i := range step.Send {
		if !step.Send[i].Lands() && i != last {
			c.moves = append(c.moves, move{kind: give, handle: at.Out[i]})
		}
	}
	switch {
	case last >= 0:
		c.moves = append(c.moves, move{kind: giveAway, handle: at.Out[last]})
	case found:
		c.moves = append(c.moves, move{kind: drop})
	}
}

// region lists the parts of a region of a rank. It names blocks one by one, since a partition
// consists of blocks.
func (c *compiler) region(m *move, at *schedule.Visit, rank int, r *schedule.Region) {
	where := at.Spot()
	where.Rank = rank
	home, base := c.s.Home(r.Buffer, rank)
	m.memory, m.rank, m.from = home, int32(rank), int32(len(c.list))
	c.spans = c.s.BlockSpans(c.spans[:0], where, r)
	guess := int64(0)
	for _, span := range c.spans {
		p := part{span.Off, span.Len}
		if c.stored || home != schedule.Input {
			p.at = c.parts[home].number(base+span.Off, span.Len, guess)
			guess = p.at + 1
		}
		c.list = append(c.list, p)
	}
	m.to = int32(len(c.list))
}

// reset removes all moves.
func (t *tape) reset() { t.moves, t.list = t.moves[:0], t.list[:0] }

// full reports whether to begin another tape: long ones would be copied when they grow.
func (t *tape) full() bool { return len(t.moves) >= 1<<14 || len(t.list) >= 1<<14 }

// fresh returns an empty tape with the capacity of this one.
func (t *tape) fresh() tape {
	return tape{make([]move, 0, len(t.moves)+8), make([]part, 0, len(t.list)+8)}
}

// bytes returns the memory of a tape.
func (t *tape) bytes() int64 {
	return bytesPerMove*int64(cap(t.moves)) + bytesPerPart*int64(cap(t.list))
}
