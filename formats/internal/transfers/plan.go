package transfers

import (
	"fmt"

	"collsim/collective"
	"collsim/schedule"
)

// Blocks is a run of blocks of a buffer; Run is 0 where there is none.
type Blocks struct {
	Buffer schedule.Buffer
	Block  int32
	Run    int32
}

// At returns a run of one block.
func At(b schedule.Buffer, block int) Blocks { return Blocks{b, int32(block), 1} }

// Move carries a chunk from one rank to another, or copies it within a rank. A message is read as
// the stage begins, a copy at its turn among the stage's writes.
type Move struct {
	Stage    int32
	From, To int32
	Source   Blocks // of From
	Target   Blocks // of To
	// Add is the operand of To that the message is added to on its arrival. AddFirst makes it the
	// left operand. Completes says that the sum then has all its operands.
	Add                 Blocks
	AddFirst, Completes bool
	// Conn separates moves between the same two ranks into lanes of their own. They then share the
	// links equally and do not wait for one another.
	Conn int32
	Item int32 // the caller's own number
}

// Plan is the input of Lower.
type Plan struct {
	Name   string
	Spec   collective.Spec
	Cuts   [3]schedule.Cut // into blocks
	Memory int64           // elements of every rank's scratch buffer
	Tiles  int32           // successive parts of every block, at least 1
	Moves  []Move          // by stage; in a stage, writes to one place in their order
}

// MaxSteps is the most steps of a plan, over all lanes and tiles.
const MaxSteps = 1 << 26

// Lower makes the schedule of a plan. Stages out of order and places that do not exist are errors.
func Lower(p Plan) (*Lowered, error) {
	p.Tiles = max(p.Tiles, 1)
	for i := range p.Moves {
		m := &p.Moves[i]
		switch {
		case i > 0 && m.Stage < p.Moves[i-1].Stage || m.Stage < 0 || m.Stage > 1<<28:
			return nil, fmt.Errorf("move %d is of stage %d, after one of a later stage", i,
				m.Stage)
		case m.From < 0 || int(m.From) >= p.Spec.Ranks || m.To < 0 || int(m.To) >= p.Spec.Ranks:
			return nil, fmt.Errorf("move %d goes from rank %d to rank %d of %d", i, m.From,
				m.To, p.Spec.Ranks)
		}
	}
	if int64(len(p.Moves))*2*int64(p.Tiles) > MaxSteps {
		return nil, fmt.Errorf("%d moves of %d tiles are more than %d steps", len(p.Moves),
			p.Tiles, MaxSteps)
	}
	head := schedule.Schedule{Name: p.Name, Spec: p.Spec, Cuts: p.Cuts, Memory: p.Memory, Slices: 1}
	if p.Tiles > 1 {
		tiles := schedule.Level{Axis: schedule.Tile, Split: schedule.Even, N: int64(p.Tiles)}
		for b := range head.Cuts {
			head.Cuts[b] = append(append(schedule.Cut{}, head.Cuts[b]...), tiles)
		}
	}
	l := &Lowered{plan: p}
	if p.Spec.Empty() {
		l.plan.Moves = nil
	}
	l.divide()
	if err := l.order(head); err != nil {
		return nil, err
	}
	counts := make([]int, p.Spec.Ranks)
	for rank := range counts {
		counts[rank] = len(l.ranks[rank])
	}
	s, err := schedule.Assemble(head, counts, l.write)
	if err != nil {
		return nil, err
	}
	l.Schedule = s
	return l, nil
}

// Lowered is a plan with its schedule.
type Lowered struct {
	Schedule *schedule.Schedule

	plan  Plan
	ranks [][]lane // of each rank
	ends  []end    // 2i is the sending end of move i, 2i+1 the receiving one; copies have only 2i+1
}

// end is one of the two steps of a move: the send or the receive.
type end struct {
	lane, at int32   // its lane, and its index there
	awaits   []int32 // ends of other lanes of the rank, at most one a lane
	posts    bool
}

// lane holds the sends of a rank to a peer, or its receives from one, or its copies.
type lane struct {
	ends   []int32 // in order
	stages []int32 // of those
	posts  counter // of those ends that post
	all    counter
	place  []int32 // for each end: the number of posting ends before it
}
