package mscclpp

import (
	"fmt"
	"slices"

	"collsim/schedule"
	"collsim/unit"
)

// exporter converts a schedule to a plan.
type exporter struct {
	s        *schedule.Schedule
	grain    int64     // elements of a chunk
	lanes    [][][]act // by rank and lane
	links    map[link]*traffic
	messages []message
	scratch  []int64 // by rank: elements in use
	blocks   [][]written
	channels [][]channelEnds // by rank: those that it is an end of, in the order of its plan
	sems     []map[blockPair]int
	wanted   []map[schedule.Event]bool // by rank: the posts that another lane awaits
}

// act is a step of a lane, with the places of all that it names.
type act struct {
	awaits  []schedule.Event
	posted  int32 // the number of its post, 0 for none
	size    int64 // elements; −1 while it is not known
	sources []source
	to      []area
	out     []int // messages
	moves   bool
	block   int // index among the rank's blocks
	acquire int // index among the block's items of what awaits and posts, −1 if there is none
	release int
}

// source is an operand of an act: elements of its own rank, or a message.
type source struct {
	local   area
	message int // −1 for none
}

// area is elements of a buffer of a rank, in order.
type area struct {
	buffer schedule.Buffer
	spans  []schedule.Span
}

// link is a connection of the schedule.
type link struct{ from, fromLane, to, toLane, tag int32 }

// traffic lists the messages of a link, as far as its ends have been seen.
type traffic struct{ sent, received []int }

// message has a place of its own in the scratch buffer of the rank that receives it, so that no put
// waits for one before it to be read.
type message struct {
	size           int64 // −1 while it is not known
	at             int64 // where it stands in scratch
	from, to       int   // ranks
	sends, reads   int   // blocks
	isSent, isRead bool
}

// gather walks all lanes and records what each step names.
func gather(s *schedule.Schedule) (*exporter, error) {
	x := &exporter{s: s, links: map[link]*traffic{}}
	for rank := range s.Spec.Ranks {
		x.scratch = append(x.scratch, s.Memory)
		p := s.Program(rank)
		lanes := make([][]act, p.Lanes())
		var step schedule.Step
		for i := range lanes {
			posted := int32(0)
			for c := p.Walk(i); !c.Done(); c.Next(int32(s.Slices)) {
				p.Load(&c, &step)
				at := schedule.Spot{Rank: rank, Channel: p.Channel(i), Slice: int(c.Slice())}
				a, err := x.act(at, i, &step)
				if err != nil {
					return nil, fmt.Errorf("rank %d lane %d step %d: %w", rank, i, c.Step, err)
				}
				if c.Slice() > 0 {
					a.awaits = nil
				}
				if step.Post && c.Last(int32(s.Slices)) {
					posted++
					a.posted = posted
				}
				lanes[i] = append(lanes[i], a)
			}
		}
		x.lanes = append(x.lanes, lanes)
	}
	return x, x.settle()
}

// act records a step.
func (x *exporter) act(at schedule.Spot, lane int, step *schedule.Step) (act, error) {
	a := act{awaits: slices.Clone(step.Await), moves: step.Moves()}
	if err := refuse(step); err != nil {
		return a, err
	}
	rank := int32(at.Rank)
	for i := range step.From {
		f := &step.From[i]
		if f.Kind != schedule.Message {
			a.sources = append(a.sources, source{x.area(at, &f.Region), -1})
			continue
		}
		m := x.join(link{f.Peer.Rank, f.Peer.Lane, rank, int32(lane), f.Peer.Tag}, false)
		a.sources = append(a.sources, source{message: m})
	}
	for i := range step.To {
		a.to = append(a.to, x.area(at, &step.To[i]))
	}
	for i := range step.Send {
		d := &step.Send[i]
		a.out = append(a.out, x.join(link{rank, int32(lane), d.Peer.Rank, d.Peer.Lane, d.Peer.Tag}, true))
	}
	var known bool
	if a.size, known = x.s.Size(at, step); !known {
		a.size = -1
	}
	return a, nil
}

func (x *exporter) area(at schedule.Spot, r *schedule.Region) area {
	return area{r.Buffer, x.s.Spans(nil, at, r)}
}

// join returns the next message of a link, at its sending or its receiving end: the n-th that is
// sent is the n-th that is received.
func (x *exporter) join(key link, sends bool) int {
	t := x.links[key]
	if t == nil {
		t = &traffic{}
		x.links[key] = t
	}
	mine, other := &t.received, &t.sent
	if sends {
		mine, other = other, mine
	}
	m := len(x.messages)
	if n := len(*mine); n < len(*other) {
		m = (*other)[n]
	} else {
		x.messages = append(x.messages, message{size: -1, from: int(key.from), to: int(key.to)})
	}
	*mine = append(*mine, m)
	if sends {
		x.messages[m].isSent = true
	} else {
		x.messages[m].isRead = true
	}
	return m
}

// refuse returns an error if a step has no counterpart in the plans that are written.
func refuse(s *schedule.Step) error {
	only := func(what string) error {
		return fmt.Errorf("%s: %s; messages, copies and sums alone are written as plans", s.Name(), what)
	}
	if s.Flush || s.Kernel != nil || s.Scale {
		return only("it flushes, computes or scales")
	}
	for i := range s.From {
		f := &s.From[i]
		if f.Kind != schedule.Local && f.Kind != schedule.Message || f.Put() || f.Scale ||
			f.Kind == schedule.Message && f.Peer.Class != schedule.FIFO {
			return only("it gets, observes a put or a signal, scales, or reads several ranks at once")
		}
	}
	for i := range s.Send {
		d := &s.Send[i]
		if d.Put || d.Team != nil || d.Silent || d.Relaxed || d.Peer.Class != schedule.FIFO {
			return only("it puts, signals, or writes to several ranks at once")
		}
	}
	switch {
	case !s.Moves() && (len(s.From) > 0 || len(s.Send) > 0):
		return only("a message is empty")
	case len(s.To) == 0 && len(s.Send) == 0 && len(s.From) > 0:
		return only("its value is neither stored nor sent")
	}
	return nil
}

// settle finds the sizes of all messages, from the ends that know them, and gives each its place.
func (x *exporter) settle() error {
	for changed := true; changed; {
		changed = false
		x.each(func(_ int, a *act) {
			list := slices.Clone(a.out)
			for _, f := range a.sources {
				if f.message >= 0 {
					list = append(list, f.message)
				}
			}
			for _, m := range list {
				if size := &x.messages[m].size; *size < 0 && a.size >= 0 {
					*size, changed = a.size, true
				} else if *size >= 0 && a.size < 0 {
					a.size, changed = *size, true
				}
			}
		})
	}
	for i := range x.messages {
		m := &x.messages[i]
		switch {
		case !m.isSent:
			return fmt.Errorf("rank %d awaits a message of rank %d that it does not send", m.to, m.from)
		case !m.isRead:
			return fmt.Errorf("rank %d sends a message to rank %d, which does not await it", m.from, m.to)
		case m.size <= 0:
			return fmt.Errorf("a message of rank %d to %d is empty; a plan has none", m.from, m.to)
		}
		m.at = x.scratch[m.to]
		x.scratch[m.to] += m.size
	}
	x.measure()
	return nil
}

// each calls f with every act, by rank and lane.
func (x *exporter) each(f func(rank int, a *act)) {
	for rank := range x.lanes {
		for _, acts := range x.lanes[rank] {
			for i := range acts {
				f(rank, &acts[i])
			}
		}
	}
}

// measure finds the largest chunk that divides all places and sizes.
func (x *exporter) measure() {
	add := func(n int64) {
		x.grain = unit.GCD(x.grain, n)
	}
	spans := func(a *area) {
		for _, s := range a.spans {
			add(s.Off)
			add(s.Len)
		}
	}
	add(x.s.Memory)
	for rank := range x.s.Spec.Ranks {
		add(x.s.Spec.In(rank))
		add(x.s.Spec.Out(rank))
	}
	x.each(func(_ int, a *act) {
		for i := range a.sources {
			spans(&a.sources[i].local)
		}
		for i := range a.to {
			spans(&a.to[i])
		}
	})
}
