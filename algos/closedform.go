package algos

import (
	"fmt"
	"math"

	"collsim/collective"
	"collsim/schedule"
	"collsim/unit"
)

// A Model has the parameters of a machine that closed forms need.
type Model struct {
	Alpha  unit.Time // α: the latency of every message
	Rate   unit.Rate // 1/β: bytes a second on every wire; 0 is unlimited
	Reduce unit.Rate // 1/γ: bytes a second of each operand that is added; 0 is unlimited
	Wires  Wires
}

// Wires says which messages share a wire.
type Wires int

// Wires of a Model.
const (
	PerConnection Wires = iota // one for each pair of lanes: nothing ever waits
	PerPair                    // one for each pair of ranks, as on a full mesh
	PerRank                    // one out of each rank and one into it, as on a switch
)

// ClosedForm returns the published cost in picoseconds, with the size of the largest block.
// Transfers and additions are rounded up one by one, slices too, as in the time model. Consider a
// run with one channel and enough slots, on wires that it shares with no other traffic. It never
// takes longer. Package algostest checks that for every algorithm, and equality where the formula
// is exact. Channels share the wires, so their transfers add up. An error says that no cost is
// published: for the algorithm, or for the model's wires.
func (a Algorithm) ClosedForm(spec collective.Spec, o Options, m Model) (unit.Time, error) {
	a, plan, err := a.plan(spec, o)
	if err != nil || a.Cost != nil && idle(spec) {
		return 0, err
	}
	if a.Cost == nil {
		return 0, a.noCost()
	}
	if plan.PerNode > 0 || plan.Nodes != nil {
		return 0, fmt.Errorf("%s: no cost is published for channels of different orders", a.Name)
	}
	pieces, tiles := pieces(&plan)
	cost := a.Cost(spec.Ranks, tiles)
	if cost.PerConnection && m.Wires != PerConnection {
		return 0, fmt.Errorf("%s: no cost is published for wires that lanes share", a.Name)
	}
	total := times(cost.Alpha, m.Alpha)
	for _, r := range cost.Rounds {
		total = min(total+times(r.Times, m.round(r, pieces)), unit.Forever)
	}
	return total, nil
}

// CostOf returns the published cost of a collective, for the number of tiles that the options make
// of its largest block. It has no rounds for one rank, or for no data.
func (a Algorithm) CostOf(spec collective.Spec, o Options) (Cost, error) {
	a, plan, err := a.plan(spec, o)
	if err != nil || a.Cost != nil && idle(spec) {
		return Cost{}, err
	}
	if a.Cost == nil {
		return Cost{}, a.noCost()
	}
	_, tiles := pieces(&plan)
	return a.Cost(spec.Ranks, tiles), nil
}

// noCost returns the error that no cost is published.
func (a Algorithm) noCost() error { return fmt.Errorf("%s: no cost is published", a.Name) }

// idle reports whether there is nothing to send.
func idle(spec collective.Spec) bool { return spec.Ranks == 1 || spec.Empty() }

// round returns the time of one transfer of a round: each piece is so many bytes of the largest
// block.
func (m Model) round(r Round, pieces []unit.Bytes) unit.Time {
	total := unit.Time(0)
	for _, piece := range pieces {
		bytes, messages := unit.Bytes(r.Blocks)*piece, 1
		if m.Wires == PerRank {
			messages = max(r.Fan, 1)
		}
		total += times(max(r.Burst, 1), over(bytes, messages, m.Rate)) + over(bytes, r.Sums, m.Reduce)
		total = min(total, unit.Forever)
	}
	return total
}

// pieces returns the sizes of the transfers of the largest block, or its largest tile: one for each
// slice of each channel. tiles is the number of tiles of the largest block.
func pieces(p *schedule.Plan) (sizes []unit.Bytes, tiles int) {
	width := unit.Bytes(p.Spec.Type.Width())
	tiles = 1
	for channel := range int64(p.Channels) {
		n := largestBlock(p, channel)
		if p.Segment > 0 {
			tiles = max(tiles, int((n+p.Segment-1)/p.Segment))
			n = min(n, p.Segment)
		}
		for slice := range int64(p.Slices) {
			sizes = append(sizes, width*unit.Bytes(evenPart(n, int64(p.Slices), slice)))
		}
	}
	return sizes, tiles
}

// largestBlock returns the number of elements of the largest block in a channel. A vector is cut
// into channels first and then into chunks; blocks of ranks are cut into channels. A rank's block
// for itself is never sent and does not count.
func largestBlock(p *schedule.Plan, channel int64) int64 {
	spec := &p.Spec
	n := spec.Count
	for from, row := range spec.Splits {
		for to, size := range row {
			if from != to || spec.Kind != collective.AllToAllV {
				n = max(n, size)
			}
		}
	}
	channels, unit := int64(p.Channels), int64(p.Chunks)*max(p.Align, 1)
	if n%unit == 0 { // schedule.Plan keeps so many together
		n = evenPart(n/unit, channels, channel) * unit
	} else {
		n = evenPart(n, channels, channel)
	}
	largest := evenPart(n, int64(p.Chunks), 0)
	if p.Align > 0 { // the first is the largest, or all there is
		largest = min((largest+p.Align-1)/p.Align*p.Align, n)
	}
	return largest
}

// evenPart returns the size of the i-th of k parts of n, where the first n mod k have one more.
func evenPart(n, k, i int64) int64 {
	if i < n%k {
		return n/k + 1
	}
	return n / k
}

// over returns the time of n·b bytes at a rate, rounded up once; rate 0 is unlimited.
func over(b unit.Bytes, n int, r unit.Rate) unit.Time {
	switch {
	case r == 0 || n == 0:
		return 0
	case b > math.MaxInt64/unit.Bytes(n):
		return unit.Forever
	}
	return (b * unit.Bytes(n)).Over(r)
}

// times returns n times a time, at most Forever.
func times(n int, t unit.Time) unit.Time {
	if n > 0 && t > unit.Forever/unit.Time(n) {
		return unit.Forever
	}
	return unit.Time(n) * t
}
