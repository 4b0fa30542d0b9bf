package schedule

import "collsim/kernel"

// A Step is one instruction of a lane, concrete for one rank. It takes an ordered list of sources
// and combines them left to right. It stores the value in zero or more local regions and sends it
// to zero or more peers. A step with one message and nothing else awaits it (a signal, a put).
type Step struct {
	From  []Source
	To    []Region
	Send  []Dest
	Await []Event // at the step's start, all of them
	Post  bool    // adds 1 to the lane's progress counter at the step's end
	Flush bool    // completes the puts of this lane: their origins may be written again
	// Kernel, unless nil, is what the step computes: its sources are the operands, and To is the
	// result. An opaque kernel has neither.
	Kernel *kernel.Op
	Launch *Launch // unless nil, the step begins a bracket
	Scale  bool    // the combined value is scaled (avg after the last addition)
	// Ranked orders the two operands, a region of this rank and a message, by the ranks that they
	// come from, on every rank of a group. A translation may exchange them. Load returns them in
	// this order.
	Ranked bool
	Round  int32 // the number that the algorithm's author gives the step
}

// A SourceKind is where a source comes from.
type SourceKind uint8

// The kinds of source.
const (
	Local    SourceKind = iota // a region of this rank
	Message                    // the next message of the connection from Peer
	Get                        // a region of Peer, read one-sided, without a lane of the owner
	Multimem                   // a region of every rank of Team, added up by the switch
)

// A Source is one operand of a step.
type Source struct {
	Kind   SourceKind
	Peer   Peer   // of Message and Get
	Region Region // of Local (of this rank), Get (of Peer) and Multimem (of every rank of Team)
	Team   []int32
	Scale  bool // the operand is scaled when read (premulsum, NCCL's avg of floats)
}

// Put reports whether the source is the message of a put: its bytes have landed already, and the
// step is the wait that observes them.
func (f *Source) Put() bool { return f.Kind == Message && f.Peer.Class == Puts }

// A Dest is one destination of a step: a peer, or several that the switch writes to.
type Dest struct {
	Peer    Peer
	Put     bool   // one-sided: the bytes land in Region of Peer, which awaits them
	Region  Region // of Put
	Relaxed bool   // orders nothing (a relaxed signal)
	// Silent puts have no message of their own: the lane's next signal says that they have landed.
	Silent bool
	// Packet messages and puts carry a flag with every word: twice the bytes on the wire, and such a
	// put needs no signal. (NCCL's protocol LL.)
	Packet bool
	// Line messages carry a flag of 8 bytes in every 128 on the wire. (NCCL's protocol LL128.)
	Line bool
	// Team, if not nil, lists the ranks whose Regions the switch writes (multimem store): a silent
	// put.
	Team []int32
	// Fused multicasts go from the switches that have added up the step's one source straight to the
	// team that it is from, not by this rank (SHARP). The step ends when all have the sum.
	Fused bool
}

// A Framing is how flags are added to the data on the wire.
type Framing uint8

// The framings: nothing, a flag of 4 bytes behind every 4, and one of 8 behind every 120.
const (
	Bare Framing = iota
	Packets
	Lines
)

// Framing returns the framing of the data sent.
func (d *Dest) Framing() Framing {
	switch {
	case d.Packet:
		return Packets
	case d.Line:
		return Lines
	}
	return Bare
}

// Wire returns how many bytes go over the wire for n bytes of data; a line is sent whole.
func (f Framing) Wire(n int64) int64 {
	switch f {
	case Packets:
		return 2 * n
	case Lines:
		return (n + 119) / 120 * 128
	}
	return n
}

// A Peer is the other end of a message: a rank, one of its lanes, the class of the connection and a
// tag.
type Peer struct {
	Rank, Lane int32
	Class      Class
	Tag        int32
}

// A Class determines how many messages a connection holds. Connections of different classes or tags
// between the same two lanes are different connections, each in order.
type Class uint8

const (
	// FIFO holds Schedule.Slots messages, or as many as the environment has.
	FIFO Class = iota
	// Pad is a signal pad: one message.
	Pad
	// Free holds any number: semaphores.
	Free
	// Puts holds any number of the messages of puts, and no others. So a wait for a put takes no
	// other message, and no other wait takes that of a put.
	Puts
)

var classNames = [...]string{"fifo", "pad", "free", "put"}

// An Event is the progress of a lane of the same rank: Value posts in this iteration of the
// program. Value ≤ 0 counts back from the end of the iteration before, and is free in the first.
type Event struct{ Lane, Value int32 }

// A Region names elements of a buffer: blocks of one tile, in the channel of the lane and the slice
// of the sub-step. Source and destination of a step correspond element by element.
type Region struct {
	Buffer Buffer
	Tile   int32
	// The blocks are First, First+1, … First+Run−1; and, Times times in all, the same shifted by
	// Period (which may be negative). All are taken modulo the number of blocks.
	First, Run, Period, Times int32
	// List, if not nil, names the blocks one by one instead.
	List []int32
}

// count returns the number of blocks.
func (r *Region) count() int32 {
	if r.List != nil {
		return int32(len(r.List))
	}
	return r.Run * r.Times
}

// block returns the i-th block, not yet reduced modulo their number.
func (r *Region) block(i int32) int32 {
	if r.List != nil {
		return r.List[i]
	}
	return r.First + i/r.Run*r.Period + i%r.Run
}

// equal reports whether two regions name the same blocks of the same buffer, n in number.
func (r *Region) equal(o *Region, n int32) bool {
	if r.Buffer != o.Buffer || r.Tile != o.Tile || r.count() != o.count() {
		return false
	}
	for i := range r.count() {
		if mod(r.block(i), n) != mod(o.block(i), n) {
			return false
		}
	}
	return true
}

// A Verb spells what a step does.
type Verb uint8

// The four bits of a verb.
const (
	Recv Verb = 1 << iota
	Reduces
	Copies
	Sends
)

// Lands reports whether the bytes are stored in Region of the other side: a put or a multimem
// store.
func (d *Dest) Lands() bool { return d.Put || d.Team != nil }

// Message reports whether there is a message, on the connection to Peer, that is received there.
func (d *Dest) Message() bool { return !d.Silent && d.Team == nil }

// Verb returns the step's verb, from its sources and destinations. A receive that is only stored is
// "recv". A reduction stored where its local operand came from is not called a copy.
func (s *Step) Verb() Verb {
	var v Verb
	for i := range s.From {
		switch s.From[i].Kind {
		case Message:
			v |= Recv
		case Multimem:
			v |= Reduces
		}
	}
	if len(s.From) > 1 {
		v |= Reduces
	}
	if len(s.Send) > 0 {
		v |= Sends
	}
	if len(s.To) > 0 && (v == 0 || v&Sends != 0 || v&Reduces != 0 && !s.inOwnPlace()) {
		v |= Copies
	}
	return v
}

// inOwnPlace reports whether the only store goes to where a local operand is.
func (s *Step) inOwnPlace() bool {
	if len(s.To) != 1 {
		return false
	}
	for i := range s.From {
		f := &s.From[i]
		if f.Kind == Local && f.Region.same(&s.To[0]) {
			return true
		}
	}
	return false
}

// Name returns the verb as NCCL's primitives spell it: send, recvReduceCopySend, …. Steps that move
// nothing into or out of a region are put, signal, wait, flush and nop.
func (s *Step) Name() string {
	switch {
	case s.Flush:
		return "flush"
	case s.Kernel != nil:
		return "compute"
	case !s.Moves() && len(s.From) == 0 && len(s.Send) == 0:
		return "nop"
	case !s.Moves() && len(s.From) == 0:
		return "signal"
	case len(s.From) == 1 && s.From[0].Kind == Message && len(s.To) == 0 && len(s.Send) == 0:
		return "wait"
	case len(s.Send) > 0 && s.Send[0].Lands() && len(s.To) == 0 && len(s.From) == 1 &&
		s.From[0].Kind != Multimem:
		return "put"
	}
	return s.Verb().String()
}

// String joins the words of the bits that are set, in the order of the data: recvReduceCopySend. A
// reduction without messages is reduce, whether it copies or not. No bit set is nop.
func (v Verb) String() string {
	if v == Reduces || v == Reduces|Copies {
		return "reduce"
	}
	name := ""
	for i, word := range [...]string{"Recv", "Reduce", "Copy", "Send"} {
		if v&(1<<i) != 0 {
			name += word
		}
	}
	if name == "" {
		return "nop"
	}
	return string(name[0]+'a'-'A') + name[1:]
}

// Moves reports whether the step reads or writes a region: such a step is cut into slices.
func (s *Step) Moves() bool {
	if len(s.To) > 0 || len(s.From) > 1 {
		return true
	}
	for i := range s.From {
		if s.From[i].Kind != Message || s.From[i].Put() {
			return true
		}
	}
	return len(s.From) == 1 && len(s.Send) > 0
}

// mod returns the remainder that is never negative.
func mod(a, n int32) int32 {
	if uint32(a) < uint32(n) { // nearly always
		return a
	}
	if a %= n; a < 0 {
		a += n
	}
	return a
}

// Fused reports whether the switches add up and multicast at once (Dest.Fused).
func (s *Step) Fused() bool { return len(s.Send) == 1 && s.Send[0].Fused }

// Puts reports whether the step puts and continues before the bytes have landed. lasting says that
// it continues even before they have left. Packets and silent puts do not: they are stores of the
// lane's own threads.
func (s *Step) Puts() (puts, lasting bool) {
	for i := range s.Send {
		if d := &s.Send[i]; d.Put && d.Message() {
			puts, lasting = true, lasting || !d.Packet
		}
	}
	return puts, lasting
}
