package synth

import (
	"errors"
	"slices"

	"collsim/unit"
)

// A Forest is spanning trees that use the network together: each carries a part of its root's
// block.
type Forest struct {
	Trees []Tree
	Of    []int64 // by rank: the trees of it, equal ones counted
	Roots int     // ranks that have trees
	Units int64   // most trees of a root
	Total int64   // trees of all roots
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

// notably bounds from below what more trees must reach to be looked at, in percent of fewer.
const notably = 103

// forests returns trees for demands of least to most trees a root, each notably faster than the
// ones with fewer trees.
func (n *network) forests(demands func(k int64) demand, least, most int64) (list []*Forest,
	err error) {
	choices, err := n.choices(demands, least, most)
	if err != nil {
		return nil, err
	}
	var kept choice
	for i, c := range choices {
		if i > 0 && !c.faster(kept, notably) {
			continue
		}
		kept = c
		f, err := n.forest(demands(c.trees), c.scale)
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

// errNoTrees says that routes over the links that there are reach no tree's ranks at any rate.
var errNoTrees = errors.New("the routes of the network hold no trees")

// forest returns the trees of a demand at the given scale, or the next slower one at which there
// are some on the routes of the network. Where no rank can hand on what another one needs, each of
// a tree's hops may cross the same link.
func (n *network) forest(d demand, s scale) (*Forest, error) {
	most := d.total() * int64(n.ranks-1)
	for slower := int64(0); ; slower = max(3, 2*slower) { // by so many percent
		t := scale{s.units + (s.units*slower+99)/100, s.each}
		if t.units > maxUnits {
			return nil, errNoTrees
		}
		if hops, ok := n.logical(d, n.capacities(t, most)); ok {
			return n.grown(d, hops, t)
		}
	}
}

// grown returns the forest of a demand, in hops that hold it.
func (n *network) grown(d demand, hops []int64, s scale) (*Forest, error) {
	trees, err := n.pack(d, hops)
	if err != nil {
		return nil, err
	}
	f := &Forest{Trees: trees, Of: d, Units: slices.Max(d), Total: d.total(),
		Each:    s.each / unit.Rate(s.units),
		Latency: n.latency()}
	for _, k := range d {
		if k > 0 {
			f.Roots++
		}
	}
	return f, nil
}
