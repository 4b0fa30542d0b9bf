package synth

import (
	"math/big"

	"collsim/unit"
)

// Bounds of the number of tiles: of each strand, of all steps of a schedule, for each hop on the
// way down, which leaves a fiftieth of the time to the filling of the pipeline, and of those that
// are under way at once, of the 8 that NCCL and most devices have room for.
const (
	mostTiles = 1 << 9
	mostSteps = 1 << 19
	perHop    = 50
	underWay  = 4
)

// A pace is how the strands of a collective follow their trees: so many bytes of each, over so many
// hops, at the rate of the forest; a step takes overhead, and a hop latency, besides.
type pace struct {
	bytes             int64
	depth, steps      int // steps: of all ranks, for each tile
	rate              unit.Rate
	overhead, latency unit.Time
}

// tiles returns how many tiles each strand is cut into. In m tiles, a strand of n bytes takes
//
//	d·(α + o + n/m/B) + (m − 1)·(o + n/m/B)
//
// for d hops at the rate B, each of the overhead o and the latency α. This is least at m =
// √((d−1)·n/(o·B)). Less than n/m/B·underWay of latency needs no more room on the way than there
// is, so that m is at most underWay·n/(α·B).
func (p pace) tiles() int {
	most := min(mostTiles, max(4, mostSteps/p.steps), (p.depth-1)*perHop,
		int(min(p.bytes/8, mostTiles)))
	if p.overhead > 0 {
		most = min(most, int(new(big.Int).Sqrt(p.lasting(int64(p.depth-1), p.overhead)).Int64()))
	}
	if p.latency > 0 {
		most = min(most, int(min(mostTiles, p.lasting(underWay, p.latency).Int64())))
	}
	return max(1, most)
}

// lasting returns how often the time of a strand's bytes, taken so many times, holds another, at
// most 2^40.
func (p pace) lasting(times int64, t unit.Time) *big.Int {
	n := new(big.Int).Mul(big.NewInt(times), big.NewInt(p.bytes))
	n.Mul(n, big.NewInt(int64(unit.Second)))
	n.Div(n, new(big.Int).Mul(big.NewInt(int64(t)), big.NewInt(max(1, int64(p.rate)))))
	if limit := big.NewInt(1 << 40); n.Cmp(limit) > 0 {
		return limit
	}
	return n
}

// time returns how long the strands take in so many tiles.
func (p pace) time(tiles int) unit.Time {
	bytes := (p.bytes + int64(tiles) - 1) / int64(tiles)
	each := p.overhead + unit.Bytes(bytes).Over(max(1, p.rate))
	return unit.Time(p.depth)*(p.latency+each) + unit.Time(tiles-1)*each
}
