package judge

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Limits bound an exploration.
type Limits struct {
	Calls  int
	Slots  int // of connections of class FIFO; 0 is any number
	States int // the most that are looked at
}

// Exploration is what has been seen of all interleavings.
type Exploration struct {
	Wrong  string // what one of them leads to; "" if nothing is wrong
	States int
	Whole  bool // all states have been seen
}

// Explore tries every interleaving of the steps of all lanes, of the landings of puts and of the
// callers, and says whether one of them gives another result, or none. It knows of no order but
// that which the steps themselves wait for. Rendezvous is not explored.
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

// explorer is what all states have in common.
type explorer struct {
	*model
	limits  Limits
	terms   *terms
	conns   map[connection]int
	ways    map[road]int
	wrong   string
	outcome string // what the callers have read in the first interleaving, of a custom collective
	scratch []byte
}

// road is what puts of a lane to a rank take; on one of them they land in order. A lane's own
// stores, which a relaxed signal may overtake, take the road to nowhere.
type road struct {
	lane int
	rank int
	way  way
}

// state is one moment of an interleaving. A slice of slices is shared by many states: what is in it
// is replaced, not changed (replace).
type state struct {
	numbers     []int // all of the following, one after another
	memory      []int // cell → term
	at          []int // lane → works ended in this call
	posts, base []int // lane → in all, and when this call began
	call        []int // rank → calls ended
	running     []int // rank → 1 if its caller has written the inputs of the present call
	landed      []int // road → how many puts have landed

	value  [][]int // lane → what its work has read, if it has started
	queue  [][]letter
	flying [][]flight // road → puts on their way
	told   [][]int    // rank → the outputs that its caller has read, of a custom collective
}

// letter is a message; that of a put can be received when the put has landed.
type letter struct {
	value     []int
	road, nth int
	ofPut     bool
}

// flight is a put on its way. Its origin is read at some moment of it.
type flight struct {
	origin, target []int
	value          []int // nil: not read yet
}

func newExplorer(m *model, limits Limits) *explorer {
	x := &explorer{model: m, limits: limits, terms: newTerms(&m.plan.Problem),
		conns: map[connection]int{}, ways: map[road]int{}}
	for lane := range m.lanes {
		x.way(road{lane: lane})
		for _, w := range m.lanes[lane].works {
			for i := range w.step.To {
				if t := &w.step.To[i]; t.Message() {
					x.conn(m.to(lane, &t.Peer))
					x.way(roadOf(w, i))
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

// conn and way number connections and roads.
func (x *explorer) conn(c connection) int {
	n, known := x.conns[c]
	if !known {
		n = len(x.conns)
		x.conns[c] = n
	}
	return n
}

func (x *explorer) way(r road) int {
	n, known := x.ways[r]
	if !known {
		n = len(x.ways)
		x.ways[r] = n
	}
	return n
}

// roadOf is the road of a put.
func roadOf(w *work, target int) road {
	t := &w.step.To[target]
	r := road{lane: w.lane, rank: t.Peer.Rank, way: port}
	if t.Packet {
		r.way = packet
	}
	return r
}

func (x *explorer) beginning() *state {
	lanes, ranks, roads := len(x.lanes), x.plan.Problem.Ranks, len(x.ways)
	s := &state{numbers: make([]int, x.cells+3*lanes+2*ranks+roads), value: make([][]int, lanes),
		queue: make([][]letter, len(x.conns)), flying: make([][]flight, roads),
		told: make([][]int, ranks)}
	s.divide(x.cells, lanes, ranks, roads)
	return s
}

// divide gives each its part of the numbers.
func (s *state) divide(cells, lanes, ranks, roads int) {
	rest := s.numbers
	for _, part := range []struct {
		into *[]int
		n    int
	}{{&s.memory, cells}, {&s.at, lanes}, {&s.posts, lanes}, {&s.base, lanes}, {&s.call, ranks},
		{&s.running, ranks}, {&s.landed, roads}} {
		*part.into, rest = rest[:part.n:part.n], rest[part.n:]
	}
}

func (s *state) clone() *state {
	c := *s
	c.numbers = slices.Clone(s.numbers)
	c.divide(len(s.memory), len(s.at), len(s.call), len(s.landed))
	return &c
}

// replace is a list with another i-th element.
func replace[T any](list [][]T, i int, with []T) [][]T {
	list = slices.Clone(list)
	list[i] = with
	return list
}

// encode is equal for equal states.
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
	for _, flights := range s.flying {
		number(len(flights))
		for _, f := range flights {
			if b = append(b, 0); f.value != nil {
				b[len(b)-1] = 1
				list(f.value)
			}
		}
	}
	for _, told := range s.told {
		list(told)
	}
	x.scratch = b
	return b
}

// fail notes the first thing that is wrong.
func (x *explorer) fail(format string, args ...any) {
	if x.wrong == "" {
		x.wrong = fmt.Sprintf(format, args...)
	}
}

// final looks at a state after which nothing happens.
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
	if outcome := fmt.Sprint(s.told); x.outcome == "" {
		x.outcome = outcome
	} else if outcome != x.outcome {
		x.fail("callers read %s or %s", x.outcome, outcome)
	}
}
