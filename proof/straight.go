package proof

import (
	"slices"

	"collsim/collective"
	"collsim/schedule"
)

// Channels may have orders of the ranks of their own, as NCCL's rings have. The schedule is then
// another one, in which they all have the same order (schedule.Straight), with ranks and elements
// renamed: elements alike on all ranks, ranks by channel. Suppose that nothing that a channel does
// depends on another channel, which is checked. Then the ranks of a channel do what those of the
// straight schedule do, whatever they do in other channels. What a collective must do to an element
// is the same with ranks renamed, if it adds up all inputs, or takes each block to or from its
// rank. So a proof of the straight schedule is one of both, and one of its ranks stands for all.
//
// Sums are not in rank order: of the two operands that all inputs are in, the left one would have
// to be those of the first ranks, on every rank, and those of each rank are others.

// Where pieces of a vector are shorter than the blocks that they are in the straight schedule, the
// proof is that of blocks that differ in size (evened.go).

// straightOf returns the straight schedule that is proven in place of one, its folding, and the
// lengths of strips if they are shorter in the schedule itself; nil where there is none.
func straightOf(s *schedule.Schedule, o Options) (*schedule.Schedule, *folding, []int64) {
	kind := s.Spec.Kind
	if o.Traffic || o.Causal != nil || o.Iterations > 1 || kind != collective.AllReduce &&
		kind != collective.AllGather && kind != collective.ReduceScatter {
		return nil, nil, nil
	}
	straight, strips := schedule.Straight(s)
	if straight == nil {
		return nil, nil, nil
	}
	f, _ := foldingOf(straight, o)
	if f == nil || strips != nil && (f.copies || len(f.strips) != len(strips)) {
		return nil, nil, nil
	}
	return straight, f, strips
}

// verifyStraight proves a schedule by its straight one; nil where that does not prove it.
func verifyStraight(s *schedule.Schedule, o Options) *Proof {
	straight, f, strips := straightOf(s, o)
	if f == nil || !areApart(straight) {
		return nil
	}
	p := proveEvened(straight, f, strips, o)
	if p != nil {
		p.KeepsRankOrder = p.KeepsRankOrder && !s.Spec.Kind.Reduces()
	}
	return p
}

// areApart reports whether channels have tiles of their own, await nothing of each other and send
// each other nothing. REQUIRES: a group; messages and local work only.
func areApart(s *schedule.Schedule) bool {
	p := s.Program(0)
	owner := map[int32]int{} // of a tile, whatever the buffer: in place, input and output are one
	var step schedule.Step
	for lane := range p.Lanes() {
		channel, is := p.Channel(lane), true
		touches := func(r *schedule.Region) {
			of, known := owner[r.Tile]
			if is = is && (!known || of == channel); !known {
				owner[r.Tile] = channel
			}
		}
		meets := func(peer *schedule.Peer) {
			is = is && p.Channel(int(peer.Lane)) == channel
		}
		for c := p.Walk(lane); !c.Done(); c.Next(1) {
			p.Load(&c, &step)
			for i := range step.From {
				if f := &step.From[i]; f.Kind == schedule.Local {
					touches(&f.Region)
				} else {
					meets(&f.Peer)
				}
			}
			for i := range step.To {
				touches(&step.To[i])
			}
			for i := range step.Send {
				meets(&step.Send[i].Peer)
			}
			is = is && !slices.ContainsFunc(step.Await, func(e schedule.Event) bool {
				return p.Channel(int(e.Lane)) != channel
			})
			if !is {
				return false
			}
		}
	}
	return true
}
