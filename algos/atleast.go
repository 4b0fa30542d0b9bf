package algos

import (
	"collsim/collective"
	"collsim/unit"
)

// A Machine bounds from below what messages take on a network, whatever shares it.
type Machine struct {
	Launch  unit.Time // passes before the first step
	Latency unit.Time // the least of a message, from rank to rank
	Step    unit.Time // the least that a step takes before it sends
	Rate    unit.Rate // the most that a message moves at; 0 is unlimited
}

// AtLeast returns a time in which no run of the algorithm ends, found without a schedule; 0 where
// none is known. A published cost that is no bound is the longest chain of messages that wait for
// one another, where each has a wire for itself and blocks are equal (package algostest holds both
// equal). No network makes a chain shorter whose messages are no faster there. It is taken of one
// channel, with all blocks as small as the smallest, and of whole segments.
func (a Algorithm) AtLeast(spec collective.Spec, o Options, m Machine) unit.Time {
	if a.Chooses != nil || a.Make != nil || spec.Kind.Splits() || o.Nodes != nil || idle(spec) {
		return 0
	}
	spec.Count /= int64(max(o.Channels, 1))
	o.Channels, o.Slices, o.Rings, o.PerNode = 1, 1, nil, 0
	bound, plan, err := a.plan(spec, o)
	if err != nil || bound.Cost == nil || plan.Align > 0 {
		return 0
	}
	block, tiles := spec.Count/int64(max(plan.Chunks, 1)), 1
	if plan.Segment > 0 && block > plan.Segment {
		block, tiles = plan.Segment, int(block/plan.Segment)
	}
	cost := bound.Cost(spec.Ranks, tiles)
	if cost.AtMost {
		return 0
	}
	blocks, largest := 0, 1
	for _, r := range cost.Rounds {
		blocks += r.Times * r.Blocks * max(r.Burst, 1)
		largest = max(largest, r.Blocks)
	}
	steps := max(cost.Alpha, (blocks+largest-1)/largest)
	bytes := unit.Bytes(block) * unit.Bytes(spec.Type.Width())
	return min(m.Launch+times(cost.Alpha, m.Latency)+times(steps, m.Step)+
		over(bytes, blocks, m.Rate), unit.Forever)
}
