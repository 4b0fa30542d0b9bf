package judge

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Limits bound an exploration.
type Limits struct {
	Calls  int
	Slots  int // of FIFO connections; 0 is any number
	States int // bound of the states visited
}

// An Exploration is the result of trying all interleavings.
type Exploration struct {
	Wrong  string // wrong result of an interleaving; "" if none
	States int
	Whole  bool // all states have been visited
}

// Explore tries every interleaving of the steps of all lanes, of the landings of puts, and of the
// callers. It reports an interleaving with another result, or with none. The only order it assumes
// is what the steps themselves wait for. It does not explore rendezvous.
func Explore(p *Plan, limits Limits) Exploration {
	m, err := newModel(p)
	if err != nil {
		return Exploration{Wrong: err.Error(), Whole: true}
	}
	x := newExplorer(m, limits)
	seen := map[string]bool{}
	open := []*state{x.beginning()}
	for len(open) > 0 && x.wrong == "" {
		s := open[len(open)-1]
		open = open[:len(open)-1]
		next := x.moves(s)
		if len(next) == 0 {
			x.final(s)
		}
		for _, t := range next {
			key := string(x.encode(t))
			if seen[key] {
				continue
			}
			if seen[key] = true; len(seen) > limits.States {
				return Exploration{States: len(seen)}
			}
			open = append(open, t)
		}
	}
	return Exploration{Wrong: x.wrong, States: len(seen), Whole: true}
}

// An explorer holds what all states share.
type explorer struct {
	*model
	limits  Limits
	terms   *terms
	conns   map[connection]int
	streams map[stream]int
	wrong   string
	outcome string // outputs of a custom collective in the first interleaving
	scratch []byte
}

// A stream is a sequence of puts of a lane to a rank, which land in order. A lane's own stores,
// which a relaxed signal may overtake, form a stream to no rank.
type stream struct {
	lane int
	rank int
	kind putKind
}

// A state is one moment of an interleaving. States share their slices of slices: replace copies
// them, nothing changes them in place.
type state struct {
	numbers     []int // backing array of the following slices
	memory      []int // cell → term
	at          []int // lane → works ended in this call
	posts, base []int // lane → posts in all, and at the start of this call
	call        []int // rank → calls ended
	running     []int // rank → 1 if its caller has written the inputs of this call
	landed      []int // stream → number of puts landed

	value    [][]int // lane → what its current work has read
	queue    [][]letter
	inFlight [][]flight // stream → puts in flight
	outputs  [][]int    // rank → outputs that its caller has read, of a custom collective
}

// A letter is a message. A put's message can be received once the put has landed.
type letter struct {
	value       []int
	stream, nth int
	ofPut       bool
}

// A flight is a put in flight. Its origin is read at some moment before it lands.
type flight struct {
	origin, target []int
	value          []int // nil: not read yet
}

// newExplorer numbers the connections and streams of a model.
func newExplorer(m *model, limits Limits) *explorer {
	x := &explorer{model: m, limits: limits, terms: newTerms(&m.plan.Problem),
		conns: map[connection]int{}, streams: map[stream]int{}}
	for lane := range m.lanes {
		x.stream(stream{lane: lane})
		for _, w := range m.lanes[lane].works {
			for i := range w.step.To {
				if t := &w.step.To[i]; t.Message() {
					x.conn(m.to(lane, &t.Peer))
					x.stream(streamOf(w, i))
				}
			}
			for i := range w.step.From {
				if f := &w.step.From[i]; f.Kind == Message {
					x.conn(m.from(lane, &f.Peer))
				}
			}
		}
	}
	return x
}

// conn returns the number of a connection.
func (x *explorer) conn(c connection) int {
	n, known := x.conns[c]
	if !known {
		n = len(x.conns)
		x.conns[c] = n
	}
	return n
}

// stream returns the number of a stream.
func (x *explorer) stream(r stream) int {
	n, known := x.streams[r]
	if !known {
		n = len(x.streams)
		x.streams[r] = n
	}
	return n
}

// streamOf returns the stream of a put.
func streamOf(w *work, target int) stream {
	t := &w.step.To[target]
	r := stream{lane: w.lane, rank: t.Peer.Rank, kind: port}
	if t.Packet {
		r.kind = packet
	}
	return r
}

// beginning returns the initial state.
func (x *explorer) beginning() *state {
	lanes, ranks, streams := len(x.lanes), x.plan.Problem.Ranks, len(x.streams)
	s := &state{numbers: make([]int, x.cells+3*lanes+2*ranks+streams), value: make([][]int, lanes),
		queue: make([][]letter, len(x.conns)), inFlight: make([][]flight, streams),
		outputs: make([][]int, ranks)}
	s.divide(x.cells, lanes, ranks, streams)
	return s
}

// divide makes the integer lists of a state successive slices of s.numbers. So clone copies them
// all at once, and encode writes them all at once. The arguments are their lengths.
func (s *state) divide(cells, lanes, ranks, streams int) {
	rest := s.numbers
	for _, part := range []struct {
		into *[]int
		n    int
	}{{&s.memory, cells}, {&s.at, lanes}, {&s.posts, lanes}, {&s.base, lanes}, {&s.call, ranks},
		{&s.running, ranks}, {&s.landed, streams}} {
		*part.into, rest = rest[:part.n:part.n], rest[part.n:]
	}
}

// clone copies a state.
func (s *state) clone() *state {
	c := *s
	c.numbers = slices.Clone(s.numbers)
	c.divide(len(s.memory), len(s.at), len(s.call), len(s.landed))
	return &c
}

// replace returns a copy of a list with another i-th element.
func replace[T any](list [][]T, i int, with []T) [][]T {
	list = slices.Clone(list)
	list[i] = with
	return list
}

// encode returns a key that is equal for equal states.
func (x *explorer) encode(s *state) []byte {
	b := x.scratch[:0]
	number := func(n int) { b = binary.AppendUvarint(b, uint64(n)) }
	list := func(values []int) {
		number(len(values))
		for _, v := range values {
			number(v)
		}
	}
	list(s.numbers)
	for lane := range s.value {
		if b = append(b, 0); s.value[lane] != nil {
			b[len(b)-1] = 1
			list(s.value[lane])
		}
	}
	for _, letters := range s.queue {
		number(len(letters))
		for _, l := range letters {
			list(l.value)
		}
	}
	for _, flights := range s.inFlight {
		number(len(flights))
		for _, f := range flights {
			if b = append(b, 0); f.value != nil {
				b[len(b)-1] = 1
				list(f.value)
			}
		}
	}
	for _, outputs := range s.outputs {
		list(outputs)
	}
	x.scratch = b
	return b
}

// fail records the first error.
func (x *explorer) fail(format string, args ...any) {
	if x.wrong == "" {
		x.wrong = fmt.Sprintf(format, args...)
	}
}

// final checks a state without successors.
func (x *explorer) final(s *state) {
	for rank, call := range s.call {
		if call < x.limits.Calls {
			x.fail("deadlock: rank %d does not end call %d", rank, call)
		}
	}
	for _, letters := range s.queue {
		if len(letters) > 0 {
			x.fail("a message is never received")
		}
	}
	if outcome := fmt.Sprint(s.outputs); x.outcome == "" {
		x.outcome = outcome
	} else if outcome != x.outcome {
		x.fail("callers read %s or %s", x.outcome, outcome)
	}
}
