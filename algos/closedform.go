package algos

import (
	"fmt"
	"math"

	"collsim/collective"
	"collsim/schedule"
	"collsim/unit"
)

// Model is what closed forms need to know of a machine.
type Model struct {
	Alpha  unit.Time // α: the latency of every message
	Rate   unit.Rate // 1/β: bytes a second on every wire; 0 is unlimited
	Reduce unit.Rate // 1/γ: bytes a second of each operand that is added; 0 is unlimited
	Wires  Wires
}

// Wires says what messages have a wire of their own.
type Wires int

// Wires of a Model.
const (
	PerConnection Wires = iota // those from one lane to one other: nothing ever waits
	PerPair                    // those from one rank to one other, as on a full mesh
	PerRank                    // those of one rank, and those to one rank, as on a switch
)

// ClosedForm is the published cost in picoseconds, with the size of the largest block. Transfers
// and additions are rounded up one by one, slices too, as in the time model. A run with one channel
// and slots enough, on wires that it shares with nobody, never takes longer; package algostest
// holds every algorithm to that, and to equality where the formula is exact. Channels share the
// wires: what they transfer together counts. An error says that no cost is published: of the
// algorithm, or for the model's wires.
func (a Algorithm) ClosedForm(spec collective.Spec, o Options, m Model) (unit.Time, error) {
	a, plan, err := a.plan(spec, o)
	if err != nil || a.Cost != nil && idle(spec) {
		return 0, err
	}
	if a.Cost == nil {
		return 0, a.noCost()
	}
	if plan.PerNode > 0 || plan.Nodes != nil {
		return 0, fmt.Errorf("algos: %s: no cost is published for channels of different orders", a.Name)
	}
	pieces, tiles := pieces(&plan)
	cost := a.Cost(spec.Ranks, tiles)
	if cost.PerConnection && m.Wires != PerConnection {
		return 0, fmt.Errorf("algos: %s: no cost is published for wires that lanes share", a.Name)
	}
	total := times(cost.Alpha, m.Alpha)
	for _, r := range cost.Rounds {
		total = min(total+times(r.Times, m.round(r, pieces)), unit.Forever)
	}
	return total, nil
}

// CostOf is the published cost of a collective, for as many tiles as the options make of its
// largest block; no rounds for one rank, or for no data.
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

func (a Algorithm) noCost() error { return fmt.Errorf("algos: %s: no cost is published", a.Name) }

// idle reports whether there is nothing to be sent.
func idle(spec collective.Spec) bool { return spec.Ranks == 1 || spec.Empty() }

// round is the time of one transfer of a round: each piece is so many bytes of the largest block.
func (m Model) round(r Round, pieces []unit.Bytes) unit.Time {
	total := unit.Time(0)
	for _, piece := range pieces {
		bytes, messages := unit.Bytes(r.Blocks)*piece, 1
		if m.Wires == PerRank {
			messages = max(r.Fan, 1)
		}
		total += over(bytes, messages, m.Rate) + over(bytes, r.Sums, m.Reduce)
		total = min(total, unit.Forever)
	}
	return total
}

// pieces is what the largest block, or its largest tile, is transferred in: one for each slice of
// each channel. tiles is the number of tiles of the largest block.
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

// largestBlock is the number of elements that a channel has of the largest block: a vector is cut
// into channels first and then into chunks; blocks that belong to ranks are cut into channels. A
// rank's block for itself is never sent and does not count.
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
	n = evenPart(n, int64(p.Channels), channel)
	largest := evenPart(n, int64(p.Chunks), 0)
	if p.Align > 0 { // the largest is the first, of which there may be fewer
		largest = min((largest+p.Align-1)/p.Align*p.Align, n)
	}
	return largest
}

// evenPart is the i-th of k parts of n, of which the first n mod k have one more.
func evenPart(n, k, i int64) int64 {
	if i < n%k {
		return n/k + 1
	}
	return n / k
}

// over is the time of n transfers of so many bytes as one; no rate is no limit.
func over(b unit.Bytes, n int, r unit.Rate) unit.Time {
	switch {
	case r == 0 || n == 0:
		return 0
	case b > math.MaxInt64/unit.Bytes(n):
		return unit.Forever
	}
	return (b * unit.Bytes(n)).Over(r)
}

// times is n of a time, at most Forever.
func times(n int, t unit.Time) unit.Time {
	if n > 0 && t > unit.Forever/unit.Time(n) {
		return unit.Forever
	}
	return unit.Time(n) * t
}
