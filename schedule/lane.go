package schedule

import (
	"fmt"

	"collsim/kernel"
)

// A Lane is what the author of an algorithm writes on: one lane of one rank. Each method appends
// one step. Ranks and blocks are taken modulo their number.
//
// Chunk and All name the working copy. A block of it is the input's until this lane has written
// that block to the output, and the output's from then on. In, Out and Scratch name a buffer.
type Lane struct {
	Rank, Ranks int
	Root        int
	Index       int // of this lane in its channel, 0 … Lanes−1
	Lanes       int
	Channel     int

	schedule *Schedule
	turn     *turn   // channel order in which Rank, Root, peers and blocks are counted; nil: ranks
	peers    []int32 // of its role; nil without roles
	checker  checker
	roll     roll
	pending  pending
	steps    int
	last     *Step // not yet rolled up, so that Post may still mark it
	tile     int32
	written  marks // blocks of the working copy that are in the output
	writes   int   // how often such blocks have been written
	err      error

	framing   Framing
	facing    int // lane of the peers, for the next step
	awaits    []Event
	completes bool
	launch    *Launch
	round     int32 // of the next step, unless it sends or receives again
	asked     int32 // if asks is true: the round of the next step in any case
	asks      bool
	jumps     bool // the last step got another round for that
	sent, got bool // in the present round
}

// Chunk returns block i of the working copy.
func (l *Lane) Chunk(i int) Region { return l.region(work, i) }

// All returns all blocks of the working copy.
func (l *Lane) All() Region { return l.region(work, 0).Blocks(int(l.blocks(work))) }

// In returns block i of the input.
func (l *Lane) In(i int) Region { return l.region(Input, i) }

// Out returns block i of the output.
func (l *Lane) Out(i int) Region { return l.region(Output, i) }

// Scratch returns block i of the scratch buffer.
func (l *Lane) Scratch(i int) Region { return l.region(Scratch, i) }

// region returns block i of a buffer, modulo its number of blocks.
func (l *Lane) region(b Buffer, i int) Region {
	n := int(l.blocks(b))
	if l.turn != nil && l.turn.place != nil {
		n = l.turn.place.blocks(l, b)
	}
	r := Region{Buffer: b, Tile: l.tile, First: int32(((i % n) + n) % n), Run: 1, Times: 1}
	if l.turn != nil {
		l.place(&r, int(r.First), n)
	}
	return r
}

// Blocks returns n consecutive blocks, beginning with the region's first.
func (r Region) Blocks(n int) Region {
	r.Run = int32(n)
	return r
}

// Every returns the region repeated times times, each period blocks after the one before.
func (r Region) Every(period, times int) Region {
	r.Period, r.Times = int32(period), int32(times)
	return r
}

// Tiles returns the number of tiles of the lane's channel: of the largest block, where blocks are
// cut into tiles.
func (l *Lane) Tiles() int {
	if l.turn != nil && l.turn.place != nil {
		l.misuse("tiles are numbered as the cuts of places have them: their author knows how many")
	}
	return int(max(l.tilesOf(Input), l.tilesOf(Output)))
}

// tilesOf returns the largest number of tiles of a buffer on any rank, since the ranks must agree.
func (l *Lane) tilesOf(b Buffer) int64 {
	cut, most := *l.schedule.cut(b), int64(1)
	if cut.level(Tile) == nil {
		return 1
	}
	for block := range l.schedule.blocks[b] {
		s := span{0, l.schedule.longest[b]}
		at := indices{rank: int32(l.self()), channel: int32(l.Channel), block: block}
		for i := range cut {
			if cut[i].Axis == Tile {
				most = max(most, cut[i].parts(s.len))
				break
			}
			s = cut[i:i+1].within(s, at)
		}
	}
	return most
}

// Tile makes later regions refer to tile t.
func (l *Lane) Tile(t int) { l.tile = int32(t) }

// Send sends a region.
func (l *Lane) Send(to int, r Region) { l.add(nil, []int{to}, l.Local(r)) }

// Recv stores a message.
func (l *Lane) Recv(from int, r Region) { l.add([]Region{r}, nil, l.From(from)) }

// Reduce stores message + region: the message is the left operand.
func (l *Lane) Reduce(from int, r Region) {
	l.add([]Region{r}, nil, l.From(from), l.Local(r))
}

// Accumulate stores region + message: the message is the right operand.
func (l *Lane) Accumulate(from int, r Region) {
	l.add([]Region{r}, nil, l.Local(r), l.From(from))
}

// ReduceRanked stores region and message combined in rank order. The message is the left operand if
// the sender's number is lower, on every rank of a group.
func (l *Lane) ReduceRanked(from int, r Region) {
	switch lower := int(mod(int32(from), int32(l.Ranks))) < l.Rank; {
	case l.turn != nil && l.turn.place != nil:
		l.misuse("ranks that are counted in places have no order")
	case l.schedule.Group != nil:
		l.flushPending()
		s := l.step([]Region{r}, []Source{l.Local(r), l.From(from)})
		s.Ranked = true
		l.append(s)
	case lower:
		l.Reduce(from, r)
	default:
		l.Accumulate(from, r)
	}
}

// ReduceSend sends message + region and stores nothing.
func (l *Lane) ReduceSend(from, to int, r Region) {
	l.add(nil, []int{to}, l.From(from), l.Local(r))
}

// ReduceCopySend stores message + region and sends it.
func (l *Lane) ReduceCopySend(from, to int, r Region) {
	l.add([]Region{r}, []int{to}, l.From(from), l.Local(r))
}

// CopySend stores a message and passes it on.
func (l *Lane) CopySend(from, to int, r Region) {
	l.add([]Region{r}, []int{to}, l.From(from))
}

// Tensor returns block i of the named tensor.
func (l *Lane) Tensor(name string, i int) Region {
	b, ok := l.schedule.bufferOf(name)
	if !ok {
		l.misuse("there is no tensor %q", name)
		b = Input
	}
	return l.region(b, i)
}

// Compute stores the result of an operation on regions, one for each operand. An opaque operation
// has neither result nor operands.
func (l *Lane) Compute(op kernel.Op, into Region, operands ...Region) {
	s := Step{Kernel: &op}
	if op.HasResult() {
		s.To = []Region{into}
	}
	for _, r := range operands {
		s.From = append(s.From, l.Local(r))
	}
	l.append(s)
}

// Launch makes the next step begin a bracket.
func (l *Lane) Launch(with Launch) {
	l.flushPending()
	l.launch = &with
}

// Keep copies a region of the input to the output. In place, it adds no step.
func (l *Lane) Keep(r Region) {
	if l.keeps(r) {
		l.add([]Region{r}, nil, l.Local(r))
	}
}

// KeepSend does Keep and Send in one step.
func (l *Lane) KeepSend(to int, r Region) {
	if l.keeps(r) {
		l.add([]Region{r}, []int{to}, l.Local(r))
		return
	}
	l.Send(to, r)
}

// keeps reports whether the working copy's region must be copied to the output.
func (l *Lane) keeps(r Region) bool {
	if l.schedule.Spec.InPlace {
		l.write(r)
		return false
	}
	return l.resolve(r, false).Buffer == Input
}

// Copy copies a region to another.
func (l *Lane) Copy(to, from Region) { l.add([]Region{to}, nil, l.Local(from)) }

// Combine adds a step in full: it combines the sources left to right, stores the value in the
// regions and sends it to the ranks.
func (l *Lane) Combine(into []Region, to []int, sources ...Source) { l.add(into, to, sources...) }

// Local returns a region of this rank as a source.
func (l *Lane) Local(r Region) Source { return Source{Kind: Local, Region: r} }

// From returns the next message of a rank as a source.
func (l *Lane) From(rank int) Source { return Source{Kind: Message, Peer: l.peer(rank, FIFO)} }

// Get returns a region of another rank as a source, read one-sided.
func (l *Lane) Get(owner int, r Region) Source {
	return Source{Kind: Get, Peer: l.peer(owner, FIFO), Region: r}
}

// Put sends a region into a region of a peer, whose receive is WaitPut.
func (l *Lane) Put(to int, at, r Region) { l.put(to, at, r, false) }

// Store stores a region into one of a peer, silently. The lane's next signal to that peer says that
// it has landed.
func (l *Lane) Store(to int, at, r Region) { l.put(to, at, r, true) }

// put adds the step of a put.
func (l *Lane) put(to int, at, r Region, isSilent bool) {
	from := l.Local(l.resolve(r, false))
	from.Scale = from.Region.Buffer == Input && l.schedule.Spec.ScalesBefore()
	l.append(Step{From: []Source{from},
		Send: []Dest{{Peer: l.peer(to, Puts), Put: true, Silent: isSilent, Region: at}}})
}

// WaitPut awaits the next put of a rank.
func (l *Lane) WaitPut(from int) {
	l.append(Step{From: []Source{{Kind: Message, Peer: l.peer(from, Puts)}}})
}

// Flush completes the puts of this lane.
func (l *Lane) Flush() { l.append(Step{Flush: true}) }

// Facing makes the next step's messages come from and go to that lane of the peers, instead of
// the lane of the same index.
func (l *Lane) Facing(lane int) {
	l.flushPending()
	l.facing = lane
}

// Frame sets the framing of later messages: the flags that are sent with their data.
func (l *Lane) Frame(f Framing) {
	l.flushPending()
	l.pending.known = 0
	l.framing = f
}

// After makes the next step await that many posts of another lane of this rank and channel.
func (l *Lane) After(lane, posts int) {
	l.flushPending()
	if lane < 0 || lane >= l.Lanes || lane == l.Index {
		l.misuse("awaits lane %d; lanes are 0…%d, and its own is %d", lane, l.Lanes-1, l.Index)
	}
	l.awaits = append(l.awaits, Event{int32(l.Channel*l.Lanes + lane), int32(posts)})
}

// Post makes the last step post.
func (l *Lane) Post() {
	l.flushPending()
	l.pending.known = 0
	if l.last == nil {
		l.misuse("posts before its first step")
		return
	}
	l.last.Post = true
}

// Completes marks the next step as the last addition of its sums. An operator that scales after the
// last addition scales there.
func (l *Lane) Completes() {
	l.flushPending()
	l.completes = true
}

// Round gives the next step a round number. Later steps count on from there: a step begins the next
// round if it sends data and the round has had a send, or receives and the round has had a receive.
func (l *Lane) Round(n int) { l.asked, l.asks = int32(n), true }

// misuse records the first misuse, with the step's number.
func (l *Lane) misuse(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf("step %d: "+format, append([]any{l.steps}, args...)...)
	}
}
