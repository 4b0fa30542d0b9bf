package msccl

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/schedule"
)

// writer converts a schedule to a program.
type writer struct {
	s     *schedule.Schedule
	whole int64    // elements of the vector that the chunks divide
	grain int64    // elements of a chunk
	lanes [][]lane // of each rank
	links map[connectionKey]int
	wires []wire // connections of the schedule
	// groups is a union-find of messages that must be cut alike; roots hold the cuts.
	groups []group
	taken  []int64 // by rank: elements of scratch in use
	apart  parted  // messages that are split
}

// parted counts messages that the file sends in several steps, and those steps.
type parted struct{ messages, sends int }

// lane holds the sub-steps of a lane of the schedule.
type lane struct{ acts []act }

// act is one sub-step with the places of all that it names.
type act struct {
	step    schedule.Step
	size    int64
	from    []area // of local sources; empty for messages
	to      []area
	in, out []int // wires of the sources (−1 for none) and of the sends
	class   int   // of its messages, −1 for none
	cuts    []int64
}

// area locates the elements of a value in a rank's memory: spans of a buffer, in order.
type area struct {
	buffer schedule.Buffer
	spans  []schedule.Span
}

// connectionKey identifies a connection of the schedule.
type connectionKey struct {
	from, fromLane, to, toLane, tag int32
}

// wire is a connection of the schedule, with its messages by number and its place in the file.
type wire struct {
	key            connectionKey
	sent, received []int // groups of the messages
	pairedOut      int   // at the receiver, the wire to which fused steps forward; −1 for none
	pairedIn       int   // at the sender, the wire from which fused steps forward; −1 for none
	channel        int32
}

type group struct {
	parent int
	cuts   []int64
}

// gather walks all lanes and records the areas of each step.
func gather(s *schedule.Schedule) (*writer, error) {
	x := &writer{s: s, links: map[connectionKey]int{}, whole: wholeOf(&s.Spec), taken: make([]int64,
		s.Spec.Ranks)}
	if err := x.even(); err != nil {
		return nil, err
	}
	for rank := range s.Spec.Ranks {
		p := s.Program(rank)
		lanes := make([]lane, p.Lanes())
		var step schedule.Step
		for i := range lanes {
			for c := p.Walk(i); !c.Done(); c.Next(int32(s.Slices)) {
				p.Load(&c, &step)
				at := schedule.Spot{Rank: rank, Channel: p.Channel(i), Slice: int(c.Slice())}
				last := c.Last(int32(s.Slices))
				a, err := x.act(at, i, &step, c.Slice() == 0, last)
				if err != nil {
					return nil, fmt.Errorf("rank %d lane %d step %d: %w", rank, i, c.Step, err)
				}
				lanes[i].acts = append(lanes[i].acts, a)
			}
		}
		x.lanes = append(x.lanes, lanes)
	}
	return x, x.cut()
}

// wholeOf returns the elements of nccl-tests' vector; for Custom, of the largest buffer.
func wholeOf(spec *collective.Spec) int64 {
	switch {
	case spec.Kind == collective.Custom:
		most := int64(0)
		for r := range spec.Ranks {
			most = max(most, spec.In(r), spec.Out(r))
		}
		return most
	case inBlocks(spec.Kind, 0):
		return spec.Count * int64(spec.Ranks)
	}
	return spec.Count
}

// act records one sub-step. The waits of a step belong to its first sub-step, the post to its last.
func (x *writer) act(
	at schedule.Spot, lane int, step *schedule.Step, first, last bool,
) (act, error) {
	a := act{step: clone(step), class: -1}
	if !first {
		a.step.Await = nil
	}
	a.step.Post = step.Post && last
	if err := refuse(step); err != nil {
		return a, err
	}
	here := [2]int32{int32(at.Rank), int32(lane)}
	for i := range step.From {
		f := &step.From[i]
		if f.Kind == schedule.Message {
			key := connectionKey{f.Peer.Rank, f.Peer.Lane, here[0], here[1], f.Peer.Tag}
			x.join(&a, key, false)
			a.from = append(a.from, area{})
			continue
		}
		a.in = append(a.in, -1)
		a.from = append(a.from, x.area(at, &f.Region))
	}
	for i := range step.To {
		a.to = append(a.to, x.area(at, &step.To[i]))
	}
	for i := range step.Send {
		d := &step.Send[i]
		x.join(&a, connectionKey{here[0], here[1], d.Peer.Rank, d.Peer.Lane, d.Peer.Tag}, true)
	}
	var known bool
	if a.size, known = x.s.Size(at, step); !known {
		a.size = -1
	}
	return a, nil
}

func clone(s *schedule.Step) schedule.Step {
	c := *s
	c.From, c.To = slices.Clone(s.From), slices.Clone(s.To)
	c.Send, c.Await = slices.Clone(s.Send), slices.Clone(s.Await)
	return c
}

// refuse returns an error if a step has no counterpart in a file.
func refuse(s *schedule.Step) error {
	if s.Flush || s.Kernel != nil || s.Scale {
		return fmt.Errorf("%s: a file has no such step", s.Name())
	}
	for i := range s.From {
		f := &s.From[i]
		if f.Kind != schedule.Local && f.Kind != schedule.Message || f.Put() || f.Scale ||
			f.Kind == schedule.Message && f.Peer.Class != schedule.FIFO {
			return fmt.Errorf("%s: a file has sends and receives only: no gets, puts, waits for "+
				"signals, multimem, scaled operands", s.Name())
		}
	}
	for i := range s.Send {
		d := &s.Send[i]
		if d.Put || d.Team != nil || d.Silent || d.Relaxed ||
			d.Peer.Class != schedule.FIFO {
			return fmt.Errorf("%s: a file has sends and receives only: no puts, signals, multimem",
				s.Name())
		}
	}
	switch {
	case !s.Moves() && (len(s.From) > 0 || len(s.Send) > 0):
		return fmt.Errorf("%s: a file has no empty messages", s.Name())
	case len(s.To) == 0 && len(s.Send) == 0 && len(s.From) > 0:
		return fmt.Errorf("%s: a value that is neither stored nor sent", s.Name())
	}
	return nil
}

func (x *writer) area(at schedule.Spot, r *schedule.Region) area {
	return area{r.Buffer, x.s.Spans(nil, at, r)}
}

// join records the next message of a connection, at its sending or its receiving end.
func (x *writer) join(a *act, key connectionKey, sends bool) {
	w, ok := x.links[key]
	if !ok {
		w = len(x.wires)
		x.links[key] = w
		x.wires = append(x.wires, wire{key: key, pairedOut: -1, pairedIn: -1})
	}
	mine, other := &x.wires[w].received, &x.wires[w].sent
	if sends {
		mine, other = other, mine
		a.out = append(a.out, w)
	} else {
		a.in = append(a.in, w)
	}
	var g int
	if n := len(*mine); n < len(*other) {
		g = (*other)[n]
	} else {
		g = len(x.groups)
		x.groups = append(x.groups, group{parent: g})
	}
	*mine = append(*mine, g)
	if a.class < 0 {
		a.class = g
		return
	}
	x.groups[x.root(g)].parent = x.root(a.class)
}

func (x *writer) root(g int) int {
	for x.groups[g].parent != g {
		x.groups[g].parent = x.groups[x.groups[g].parent].parent
		g = x.groups[g].parent
	}
	return g
}
