package synth

import (
	"fmt"
	"slices"

	"collsim/unit"
)

// A Forest is spanning trees that use the network together: each carries a part of its root's block.
type Forest struct {
	Trees []Tree
	Roots int   // ranks that have trees
	Units int64 // trees of a root, equal ones counted
	// Each is the bytes a second of a unit, while all trees are in use.
	Each unit.Rate
	// Latency is the largest of a hop of the network.
	Latency unit.Time
}

// Depth returns the most hops from a root to a rank.
func (f *Forest) Depth() (most int) {
	for i := range f.Trees {
		most = max(most, int(slices.Max(f.Trees[i].Depth)))
	}
	return most
}

// nearlyAsFast is what the fastest choice may reach, in percent of one with fewer trees, that this is
// preferred: every further tree divides blocks into smaller parts.
const nearlyAsFast = 102

// slower are the scales that are tried one after the other where routes do not allow what the links
// would, in percent of the units of the best scale.
var slower = [...]int64{100, 103, 106, 112, 125, 150, 200, 300, 400}

// forest returns trees for the fastest of the demands of least to most trees a root for which there
// are some on the routes of the network.
func (n *network) forest(demands func(k int64) demand, least, most int64) (*Forest, error) {
	list, err := n.choices(demands, least, most)
	if err != nil {
		return nil, err
	}
	slices.Reverse(list)
	for i := len(list) - 1; i > 0; i-- { // the one with the fewest trees that is nearly as fast
		if !list[0].faster(list[i], nearlyAsFast) {
			list[0], list[i] = list[i], list[0]
			break
		}
	}
	for _, percent := range slower {
		for _, c := range list {
			d, s := demands(c.trees), c.scale
			s.units = (s.units*percent + 99) / 100
			if hops, ok := n.logical(d, n.capacities(s, d.total())); ok {
				return n.grown(d, hops, s)
			}
		}
	}
	return nil, fmt.Errorf("routes of the network hold no trees at a quarter of the rate of its links")
}

// grown returns the forest of a demand, in hops that hold it.
func (n *network) grown(d demand, hops []int64, s scale) (*Forest, error) {
	trees, err := n.pack(d, hops)
	if err != nil {
		return nil, err
	}
	f := &Forest{Trees: trees, Units: slices.Max(d), Each: s.each / unit.Rate(s.units)}
	for _, k := range d {
		if k > 0 {
			f.Roots++
		}
	}
	return f, nil
}
