package event

import (
	"fmt"
	"slices"

	"collsim/schedule"
	"collsim/sim/internal/flat"
	"collsim/sim/model"
)

// content sums up the steps of a bracket.
type content struct {
	kernels, grids, others bool    // grids are kernels that are not opaque
	channels               []int32 // of its lanes
}

func (c *content) add(s *schedule.Step, at *schedule.Cursor) {
	switch {
	case s.Kernel != nil:
		c.kernels, c.grids = true, c.grids || s.OpaqueTime() == 0
	case at.Edge() || model.IsFree(s, false):
	default:
		c.others = true
	}
}

// newGPUs prepares the GPUs: their brackets are known beforehand. The first error of a bracket goes
// to the engine.
func newGPUs(e *engine) *gpus {
	device := &e.rules.Device.GPU
	g := &gpus{e: e, ranks: make([]gpu, len(e.programs)), lanes: make([]laneGPU, e.lanes.len()),
		claims: flat.NewPool[claim](0), waves: flat.NewPool[wave](0), isLaunched: e.rules.Launches()}
	computes := e.rules.Schedule.AnyStep(func(s *schedule.Step) bool { return s.Kernel != nil })
	for rank := range g.ranks {
		r := &g.ranks[rank]
		r.smPlaces, r.engines = newPlaces(device.SMs), make([]bool, device.CopyEngines)
		from := len(g.brackets)
		parts := map[int32]int32{} // the bracket of a part's lanes
		for i := e.first[rank]; i < e.first[rank+1]; i++ {
			at := int32(len(g.ofLanes))
			g.lanes[i] = laneGPU{first: at, end: at, next: at, open: -1, claim: -1,
				stream: int32(e.programs[rank].Stream(int(i - e.first[rank])))}
			if g.isLaunched {
				g.findBrackets(i, parts)
			} else {
				g.unmarked(i, parts, computes)
			}
		}
		if err := g.settleBrackets(int32(rank), g.brackets[from:]); err != nil && e.err == nil {
			e.err = err
		}
	}
	return g
}

// findBrackets finds what a lane launches, by the marks of its steps.
func (g *gpus) findBrackets(i int32, parts map[int32]int32) {
	e := g.e
	l, now := e.lanes.at(i), int32(-1)
	for c := l.cursor; !c.Done(); c.Next(1) {
		e.programs[l.rank].Load(&c, &e.step)
		if m := e.step.Launch; m != nil {
			shared, known := parts[l.part]
			switch {
			case !m.Whole:
				now = g.newBracket(i, m, e.step.Round)
			case known && m.Engine == schedule.SMs:
				now = g.joinBracket(i, shared)
			default:
				now = g.newBracket(i, m, e.step.Round)
				g.brackets[now].Call, parts[l.part] = model.CallOf(l.part, m), now
			}
		}
		if now >= 0 {
			g.brackets[now].add(&e.step, &c)
		}
	}
}

// unmarked has a lane be in the bracket of its part, where nothing is marked. A lane that computes
// is a stream of kernels, and in none.
func (g *gpus) unmarked(i int32, parts map[int32]int32, computes bool) {
	e := g.e
	l := e.lanes.at(i)
	var all content
	for c := l.cursor; computes && !c.Done(); c.Next(1) {
		e.programs[l.rank].Load(&c, &e.step)
		all.add(&e.step, &c)
	}
	if all.kernels || isEmpty(l.cursor) {
		return
	}
	b, known := parts[l.part]
	if known {
		g.joinBracket(i, b)
		return
	}
	b = g.newBracket(i, &schedule.Launch{Whole: true}, 0)
	g.brackets[b].others, parts[l.part] = true, b
}

// newBracket adds a bracket that a lane begins in a round.
func (g *gpus) newBracket(i int32, mark *schedule.Launch, round int32) int32 {
	e := g.e
	l := e.lanes.at(i)
	x := &g.lanes[i]
	b := int32(len(g.brackets))
	g.brackets = append(g.brackets, bracket{mark: mark, rank: l.rank, lane: i, stream: x.stream,
		perSM: e.rules.PerSM(mark), engine: -1, Launched: model.Launched{Part: l.part,
			Round: round, Lane: i - e.first[l.rank], Number: x.end - x.first, Call: -1,
			Graph: mark.Graph}})
	return g.joinBracket(i, b)
}

// joinBracket adds a lane to a bracket.
func (g *gpus) joinBracket(i, b int32) int32 {
	g.ofLanes = append(g.ofLanes, b)
	g.lanes[i].end++
	g.brackets[b].lanes++
	g.brackets[b].channels = append(g.brackets[b].channels, g.e.lanes.at(i).channel)
	return b
}

// settleBrackets says when those of a rank are issued, and what each needs.
func (g *gpus) settleBrackets(rank int32, list []bracket) error {
	e := g.e
	launched := make([]*model.Launched, len(list))
	for i := range list {
		b := &list[i]
		launched[i] = &b.Launched
		b.Issued = e.rules.Begin(rank, true).T
		slices.Sort(b.channels)
		channels := int64(len(slices.Compact(b.channels)))
		if b.channels = nil; !b.mark.Whole {
			channels = 1
		}
		b.resident = b.others && !b.kernels ||
			b.kernels && b.mark.Blocks > 0 && (b.grids || b.others)
		b.places = channels * int64(max(b.mark.Blocks, 1))
		if err := g.possible(b); err != nil {
			return fmt.Errorf("rank %d lane %d: bracket %d of the lane: %w", rank, b.Lane,
				b.Number, err)
		}
	}
	if g.isLaunched {
		g.ranks[rank].host = e.rules.Launch(rank, launched)
	}
	return nil
}

// possible says what of a bracket no device of the kind can do.
func (g *gpus) possible(b *bracket) error {
	switch {
	case b.mark.Engine != schedule.SMs && b.grids:
		return fmt.Errorf("only SMs compute, not an engine %v", b.mark.Engine)
	case b.mark.Engine == schedule.CopyEngine && g.e.rules.Device.GPU.CopyEngines == 0:
		return fmt.Errorf("copy_engines = 0: it needs one")
	case b.mark.Engine == schedule.SMs && b.resident:
		return g.e.rules.Fits(b.places, b.perSM)
	}
	return nil
}
