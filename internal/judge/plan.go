package judge

import "slices"

// A Plan is an unrolled schedule: every lane of every rank is a list of steps, with that rank's
// numbers.
type Plan struct {
	Name    string
	Problem Problem
	Slots   int // of a connection; 0 leaves it open
	Slices  int // number of sub-steps of a step that moves data
	Scratch int // elements
	Cuts    [3]Cut
	Ranks   [][]Lane
}

// A Lane is a list of steps in a channel.
type Lane struct {
	Channel int
	Steps   []Step
}

// A Buffer names one of a rank's buffers.
type Buffer int

// The buffers.
const (
	Input Buffer = iota
	Output
	Scratch
)

// A Region is blocks of a tile of a buffer, in order.
type Region struct {
	Buffer Buffer
	Tile   int
	Blocks []int
}

// A Class determines how many messages a connection buffers.
type Class int

// The classes.
const (
	FIFO Class = iota // the schedule's slots
	Pad               // one
	Free              // any number
	Puts              // any number, of puts only
)

// A Peer is the other end of a connection.
type Peer struct {
	Rank, Lane int
	Class      Class
	Tag        int
}

// A Kind is the kind of a source.
type Kind int

// The kinds of source.
const (
	Local    Kind = iota // a region of this rank
	Message              // the next message of a peer
	Get                  // a region of a peer, read one-sided
	Multimem             // a region of every rank of a team, summed by the switch
)

// A Source is an operand of a step.
type Source struct {
	Kind   Kind
	Peer   Peer
	Region Region
	Team   []int
	Scaled bool
}

// A Target is a destination of a step. With At, the value is stored in the peer's Region, or in
// that of every rank of the Team.
type Target struct {
	Peer                                 Peer
	At                                   bool
	Region                               Region
	Relaxed, Silent, Packet, Line, Fused bool
	Team                                 []int
}

// Put reports whether the source is the message of a put.
func (f *Source) Put() bool { return f.Kind == Message && f.Peer.Class == Puts }

// An Event is a number of posts of a lane of the same rank.
type Event struct{ Lane, Posts int }

// A Step is one instruction.
type Step struct {
	From                []Source
	Into                []Region
	To                  []Target
	After               []Event
	Scaled, Post, Flush bool
	Compute             string // duration of a kernel, such as 5000ps
	Round               int
}

// Moves reports whether a step reads or writes a region. Such a step is cut into slices.
func (s *Step) Moves() bool {
	if len(s.Into) > 0 || len(s.From) > 1 || len(s.From) == 1 && len(s.To) > 0 {
		return true
	}
	return len(s.From) == 1 && (s.From[0].Kind != Message || s.From[0].Put())
}

// waits reports whether a step only awaits a message.
func (s *Step) waits() bool {
	return len(s.From) == 1 && s.From[0].Kind == Message && len(s.Into) == 0 && len(s.To) == 0
}

// Message reports whether the target receives a message.
func (t *Target) Message() bool { return !t.Silent && t.Team == nil }

// lasts reports whether the step's origin is read after its end, until a flush. That is a put
// through the port, which another engine executes.
func (s *Step) lasts() bool {
	return slices.ContainsFunc(s.To, func(t Target) bool {
		return t.At && t.Message() && !t.Packet
	})
}

// Regions lists all regions of a step.
func (s *Step) Regions() (list []*Region) {
	for i := range s.From {
		if s.From[i].Kind != Message {
			list = append(list, &s.From[i].Region)
		}
	}
	for i := range s.Into {
		list = append(list, &s.Into[i])
	}
	for i := range s.To {
		if s.To[i].At {
			list = append(list, &s.To[i].Region)
		}
	}
	return list
}

// Clone returns a deep copy of the plan.
func (p *Plan) Clone() *Plan {
	c := *p
	c.Problem.Splits = nil
	for _, row := range p.Problem.Splits {
		c.Problem.Splits = append(c.Problem.Splits, slices.Clone(row))
	}
	for b := range c.Cuts {
		c.Cuts[b] = slices.Clone(p.Cuts[b])
	}
	c.Ranks = make([][]Lane, len(p.Ranks))
	for r, lanes := range p.Ranks {
		for _, l := range lanes {
			steps := make([]Step, len(l.Steps))
			for i := range l.Steps {
				steps[i] = l.Steps[i].Clone()
			}
			c.Ranks[r] = append(c.Ranks[r], Lane{l.Channel, steps})
		}
	}
	return &c
}

// Clone returns a deep copy of the step.
func (s *Step) Clone() Step {
	c := *s
	c.From, c.Into, c.To = slices.Clone(s.From), slices.Clone(s.Into), slices.Clone(s.To)
	c.After = slices.Clone(s.After)
	for i := range c.From {
		c.From[i].Region.Blocks = slices.Clone(c.From[i].Region.Blocks)
		c.From[i].Team = slices.Clone(c.From[i].Team)
	}
	for i := range c.Into {
		c.Into[i].Blocks = slices.Clone(c.Into[i].Blocks)
	}
	for i := range c.To {
		c.To[i].Region.Blocks = slices.Clone(c.To[i].Region.Blocks)
		c.To[i].Team = slices.Clone(c.To[i].Team)
	}
	return c
}

// Size returns the number of elements of all buffers, and of sub-steps of all lanes.
func (p *Plan) Size() (elements, steps int) {
	for r, lanes := range p.Ranks {
		for b := Input; b <= Scratch; b++ {
			elements += p.size(b, r)
		}
		for _, l := range lanes {
			steps += len(l.Steps) * p.Slices
		}
	}
	return elements, steps
}
