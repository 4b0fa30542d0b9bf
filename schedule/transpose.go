package schedule

import (
	"fmt"
	"slices"

	"collsim/collective"
)

// Transpose turns a schedule that only moves data into one that sums it along the reversed paths.
// An all-gather becomes a reduce-scatter, a broadcast a reduce, a gather a scatter, and each of
// these the other way. Every lane runs backwards. What was sent is received and added; what was
// copied to several places is summed from them. A collective is a linear map of all ranks' inputs;
// the result computes the transposed map. op is the operator of the result, zero if it does not
// reduce. How avg divides, and the factor of premulsum, are taken from s.Spec.
//
// The schedule must deliver every block to every rank once, by copies and messages only. Events,
// gets and puts are refused. Lanes that read one region concurrently would add to it concurrently:
// a race, which Verify reports. Rounds are counted from the last. Operands are in the order of the
// ranks they come from. Under a group of one digit, where ranks have no order, messages come first.
// They do so under other groups where there are more than one message and one region.
func Transpose(s *Schedule, op collective.Op) (*Schedule, error) {
	t := *s
	kind, ok := dual(s.Spec.Kind)
	if !ok || s.Spec.Kind.Reduces() && s.Spec.Op != collective.Sum {
		return nil, fmt.Errorf("%v has no transpose", s.Spec.Kind)
	}
	t.Spec.Kind, t.Spec.Op = kind, op
	t.cast, t.timing, t.straight = nil, nil, nil
	t.Cuts[Input], t.Cuts[Output] = s.Cuts[Output], s.Cuts[Input]
	if s.Memory == 0 { // sums of other ranks' blocks, if there are any
		t.Cuts[Scratch] = s.Cuts[Output]
		for rank := range s.Spec.Ranks {
			t.Memory = max(t.Memory, s.Len(Output, rank))
		}
	}
	if err := t.settle(); err != nil {
		return nil, err
	}
	x := transposition{s: s, t: &t, sent: roundsOf(s)}
	x.written = newProgramCache(s.Spec.Ranks, func(rank int32) *code {
		c, _, _ := transposeCode(s, &t, int(rank), x.sent.withoutCache(), nil)
		return c
	})
	first, err := x.codes()
	if err != nil {
		return nil, err
	}
	if !x.used && s.Memory == 0 {
		t.Memory, t.Cuts[Scratch] = 0, nil
	}
	if t.Group != nil {
		t.role = func(int32) *code { return first }
		return &t, nil
	}
	t.role = x.written.code
	return &t, nil
}

// dual returns the kind of the transposed collective.
func dual(k collective.Kind) (collective.Kind, bool) {
	pairs := [][2]collective.Kind{
		{collective.AllGather, collective.ReduceScatter},
		{collective.AllGatherV, collective.ReduceScatterV},
		{collective.Broadcast, collective.Reduce}, {collective.Gather, collective.Scatter},
	}
	for _, p := range pairs {
		for i := range p {
			if p[i] == k {
				return p[1-i], true
			}
		}
	}
	return 0, false
}

// transposeCode runs all lanes of a rank backwards, and reports whether they use scratch. If peers
// is not nil, the code names peers by their place in it (roles).
func transposeCode(s, t *Schedule, rank int, sent *sentRounds,
	peers []int32) (c *code, scratch bool, err error) {
	var b bundler
	mods := t.moduli()
	p := s.Program(rank)
	for lane := range p.Lanes() {
		x := transposer{s: s, t: t, rank: int32(rank), lane: int32(lane), sent: sent, peers: peers,
			roll: roll{mods: mods}, live: map[strip]*marks{}, first: map[blockKey]int{},
			came: map[wire]int{}, got: -1, twins: vector(s.Spec.Kind) && s.Len(Input, rank) > 0}
		var steps []Step
		for c := p.Walk(lane); !c.Done(); c.Next(1) {
			var step Step
			p.Load(&c, &step)
			x.note(len(steps), &step)
			steps = append(steps, step)
		}
		for i := len(steps) - 1; i >= 0; i-- {
			if err := x.step(i, &steps[i]); err != nil {
				return nil, false, fmt.Errorf("lane %d step %d: %w", lane, i, err)
			}
		}
		x.finish()
		if x.moved && s.Memory > 0 {
			return nil, false, fmt.Errorf("lane %d: scratch is not free to hold sums of the output", lane)
		}
		scratch = scratch || x.used
		b.add(int32(p.Channel(lane)), x.roll.knots, mods)
	}
	return b.code(), scratch, nil
}

// A strip is a tile of a buffer of the original.
type strip struct {
	buffer Buffer
	tile   int32
}

// A blockKey is one block of a tile of a buffer of the original.
type blockKey struct {
	buffer      Buffer
	tile, block int32
}

// A transposer runs one lane backwards. Consider a block of the original that is read later. Going
// backwards, it holds the sum of what those reads have brought in: it is live.
type transposer struct {
	s, t *Schedule
	rank int32
	lane int32
	// peers of its role; nil without roles
	peers []int32
	sent  *sentRounds
	came  map[wire]int // messages of the original not yet sent back
	got   int32        // last round in which it receives
	now   int32        // round of the present step
	roll  roll
	held  *Step            // last step, which may still pass its sum on
	live  map[strip]*marks // live blocks
	// first is the first step of the original that reads a block of the input.
	first map[blockKey]int
	// twins says that the sum of an output block may be stored where that of the same input block
	// goes. They are the same vector, and the original reads each input once.
	twins bool
	moved bool // a sum of the output was moved to scratch, and not only passed on
	used  bool // scratch is used
}

// note records what the original receives and what it reads of its input.
func (x *transposer) note(i int, step *Step) {
	for j := range step.From {
		if step.From[j].Kind == Message {
			x.came[x.sent.wire(x.rank, x.lane, step.From[j].Peer)]++
		}
		if f := &step.From[j]; f.Kind == Local && f.Region.Buffer == Input {
			x.each(&f.Region, func(k blockKey) {
				if _, seen := x.first[k]; seen {
					x.twins = false
					return
				}
				x.first[k] = i
			})
		}
	}
}

// each calls f with the blocks of a region.
func (x *transposer) each(r *Region, f func(blockKey)) {
	for i := range r.count() {
		f(blockKey{r.Buffer, r.Tile, mod(r.block(i), x.s.blocks[r.Buffer])})
	}
}

// marksOf returns the live blocks of a region's tile.
func (x *transposer) marksOf(r *Region) *marks {
	at := strip{r.Buffer, r.Tile}
	if x.live[at] == nil {
		x.live[at] = &marks{}
	}
	return x.live[at]
}

// runs calls f with a region's blocks as runs from … to−1.
func (x *transposer) runs(r *Region, f func(from, to int64)) {
	r.runs(int64(x.s.blocks[r.Buffer]), f)
}

// step appends the transpose of the i-th step.
func (x *transposer) step(i int, step *Step) error {
	lands := slices.ContainsFunc(step.Send, func(d Dest) bool { return d.Lands() })
	if len(step.From) != 1 || step.From[0].Kind > Message || step.From[0].Put() || step.Post ||
		len(step.Await) > 0 || step.Flush || lands || !step.Moves() {
		return fmt.Errorf("%s: only copies and messages of data are transposed", step.Name())
	}
	x.now = x.round(step)
	back := Step{Round: x.now}
	for _, d := range step.Send {
		back.From = append(back.From, Source{Kind: Message, Peer: d.Peer})
	}
	for j := range step.To {
		r, there, err := x.sum(&step.To[j])
		if err != nil {
			return err
		}
		if there {
			back.From = append(back.From, x.source(r))
		}
		x.runs(&step.To[j], x.marksOf(&step.To[j]).remove)
	}
	if from := &step.From[0]; from.Kind == Message {
		back.Send = []Dest{{Peer: from.Peer}}
	} else if err := x.into(i, &from.Region, &back); err != nil {
		return err
	}
	if len(back.From) == 0 {
		return fmt.Errorf("%s: nobody reads what it brings", step.Name())
	}
	if x.s.Group == nil {
		slices.SortStableFunc(back.From, func(a, b Source) int {
			return int(x.origin(&a)) - int(x.origin(&b))
		})
	} else if f := back.From; len(x.s.Group) > 1 && len(f) == 2 && f[0].Kind == Message &&
		f[1].Kind == Local { // in rank 0's order
		back.Ranked = true
		slices.Reverse(back.From)
	}
	x.append(back)
	return nil
}

// round returns the round of a step's transpose. What it sends goes when that came, counted from
// the end. A step that only receives begins the next round if it would be the second in its own (as
// in Lane.Round).
func (x *transposer) round(step *Step) int32 {
	if f := &step.From[0]; f.Kind == Message {
		w := x.sent.wire(x.rank, x.lane, f.Peer)
		x.came[w]--
		round := x.sent.last - x.sent.round(w, x.came[w])
		if len(step.Send) > 0 {
			x.got = round
		}
		return round
	}
	round := max(x.sent.last-step.Round, 0)
	if len(step.Send) > 0 {
		if round == x.got {
			round++
		}
		x.got = round
	}
	return round
}

// origin returns the rank that an operand comes from.
func (x *transposer) origin(f *Source) int32 {
	if f.Kind == Message {
		return f.Peer.Rank
	}
	return x.rank
}

// append adds a step. If it only passes on the sum that the step before has stored, which no other
// step reads, both become one step.
func (x *transposer) append(s Step) {
	h := x.held
	if h == nil || len(h.To) != 1 || len(h.Send) > 0 || h.To[0].Buffer == Input ||
		len(s.From) != 1 || s.From[0].Kind != Local ||
		!h.To[0].equal(&s.From[0].Region, x.t.blocks[h.To[0].Buffer]) {
		x.finish()
		x.held = &s
		return
	}
	h.To, h.Send, h.Scale = s.To, s.Send, h.Scale || s.Scale
	if len(s.Send) > 0 {
		h.Round = s.Round
	}
}

// finish rolls the last step up.
func (x *transposer) finish() {
	if x.held != nil {
		x.held.regions(func(r *Region) { x.used = x.used || r.Buffer == Scratch })
		if x.peers != nil {
			x.held.peers(func(p *Peer) { p.Rank = int32(slices.Index(x.peers, p.Rank)) })
		}
		x.roll.add(x.held)
		x.held = nil
	}
}

// into adds, to a transposed step, the store of its value into the sum of a region that the
// original reads.
func (x *transposer) into(i int, r *Region, back *Step) error {
	sum, there, err := x.sum(r)
	if err != nil {
		return err
	}
	if there {
		back.From = append(back.From, x.source(sum))
	}
	x.runs(r, x.marksOf(r).add)
	back.To = []Region{x.home(*r)}
	if r.Buffer != Input || !x.t.Spec.ScalesAfter() {
		return nil
	}
	complete, blocks := 0, 0
	x.each(r, func(k blockKey) {
		blocks++
		if first, ok := x.first[k]; ok && first == i {
			complete++
		}
	})
	if complete != 0 && complete != blocks {
		return fmt.Errorf("some of its blocks are complete, others are not")
	}
	back.Scale = complete > 0
	return nil
}

// source returns a region as an operand.
func (x *transposer) source(r Region) Source {
	return Source{Kind: Local, Region: r, Scale: r.Buffer == Input && x.t.Spec.ScalesBefore()}
}

// sum returns where the sum of a region of the original is, and whether there is one. An output
// block that is not live yet is the transposed collective's input.
func (x *transposer) sum(r *Region) (Region, bool, error) {
	live, marks := 0, x.marksOf(r)
	x.runs(r, func(from, to int64) { live += marks.count(from, to) })
	switch {
	case live == int(r.count()):
		return x.home(*r), true, nil
	case live > 0 && r.Buffer != Output:
		return Region{}, false, fmt.Errorf("some of its blocks are read later, others are not")
	case live > 0: // move the rest to where the sums are
		var rest []int32
		x.each(r, func(k blockKey) {
			if b := int64(k.block); marks.count(b, b+1) == 0 {
				rest = append(rest, k.block)
				marks.add(b, b+1)
			}
		})
		from, to := Region{Buffer: Input, Tile: r.Tile, List: rest}, Region{Buffer: Output,
			Tile: r.Tile, List: slices.Clone(rest)}
		x.append(Step{From: []Source{x.source(from)}, To: []Region{x.home(to)}, Round: x.now})
		return x.home(*r), true, nil
	case r.Buffer == Output:
		input := *r
		input.Buffer, input.List = Input, slices.Clone(r.List)
		return input, true, nil
	}
	return Region{}, false, nil
}

// home returns where the transposed schedule stores the sum of a region of the original. Sums of
// the input are in the output. Sums of the output are there too if they are twins, else in scratch.
// Scratch stays.
func (x *transposer) home(r Region) Region {
	switch {
	case r.Buffer == Input:
		r.Buffer = Output
	case r.Buffer == Output && !x.twins:
		r.Buffer, x.moved = Scratch, true
	}
	return r
}
