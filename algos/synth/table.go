package synth

import (
	"fmt"
	"strconv"

	"collsim/algos"
	"collsim/collective"
	"collsim/schedule"
	"collsim/unit"
)

// Name names all algorithms of the package.
const Name = "synth"

// Table lists the algorithms. They are used by name alone.
func Table() []algos.Algorithm {
	return []algos.Algorithm{
		onTrees(collective.AllReduce, "up spanning trees of this very network and down others"),
		onTrees(collective.AllGather, "down spanning trees of this very network, for each rank"),
		onTrees(collective.ReduceScatter, "up spanning trees of this very network, for each rank"),
		onTrees(collective.Broadcast, "down spanning trees of this very network"),
		onTrees(collective.Reduce, "up spanning trees of this very network"),
		{
			Name:  Name,
			Kinds: []collective.Kind{collective.AllToAll},
			About: "every part of a block by the path that is least loaded, over ranks if need be",
			When:  "long blocks on a network where not all ranks are equally far, or links unequal",
			Source: "Aspnes et al. 1997, on-line routing by exponential costs; Shahrokhi and Matula " +
				"1990, maximum concurrent flow",
			Params: []algos.Param{{Name: "parts", Value: "4", About: "parts of a block, 1 to " +
				strconv.Itoa(mostParts) + ", each of which takes a path of its own"}},
			Make: makeExchange,
		},
	}
}

// onTrees returns the algorithm of a kind that goes over trees.
func onTrees(kind collective.Kind, about string) algos.Algorithm {
	return algos.Algorithm{
		Name: Name, Kinds: []collective.Kind{kind}, About: about + ", tile after tile",
		When:   "long vectors on a network that no other algorithm fits: unequal or slow links",
		Source: "Zhao et al. 2024, ForestColl (arXiv:2402.06787); Edmonds 1973; Bérczi and Frank 2010",
		Params: []algos.Param{
			{Name: "trees", Value: strconv.Itoa(mostTrees),
				About: "most trees of a root, among which its block is divided"},
			{Name: "tiles", Value: asNeeded, About: "pieces of what a tree carries, which follow one " +
				"another; auto weighs latency against bandwidth"}},
		Make: makeTrees,
	}
}

// mostTrees bounds, and is the default of, the parameter trees.
const mostTrees = 16

// asNeeded is the default of the parameter tiles.
const asNeeded = "auto"

// mostRanks bounds the ranks: the time to find trees grows with more than their cube, and is a
// minute for so many.
const mostRanks = 128

// fits returns an error if there are too many ranks.
func fits(spec collective.Spec) error {
	if spec.Ranks > mostRanks {
		return fmt.Errorf("%d ranks: at most %d are expected", spec.Ranks, mostRanks)
	}
	return nil
}

// whole reads a whole number from 1 to most.
func whole(name, text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%s = %.40q: a whole number from 1 to %d is expected", name, text, most)
	}
	return n, nil
}

// makeTrees makes a collective that goes down trees, or up, or both.
func makeTrees(spec collective.Spec, o algos.Options, param func(string) string) (
	*schedule.Schedule, algos.Pick, error) {
	trees, err := whole("trees", param("trees"), mostTrees)
	tiles := 0
	if text := param("tiles"); err == nil && text != asNeeded {
		if tiles, err = whole("tiles", text, mostTiles); err != nil {
			err = fmt.Errorf("%w, or %s", err, asNeeded)
		}
	}
	if err == nil {
		err = fits(spec)
	}
	if err != nil {
		return nil, algos.Pick{}, err
	}
	if spec.Ranks == 1 || spec.Empty() {
		return withoutData(spec)
	}
	m := maker{spec: spec, options: o, trees: int64(trees), tiles: tiles}
	return m.make()
}

// withoutData returns the schedule of a collective of one rank, or of no elements.
func withoutData(spec collective.Spec) (*schedule.Schedule, algos.Pick, error) {
	s, err := schedule.Build(schedule.Plan{Name: Name, Spec: spec})
	return s, algos.Pick{}, err
}

// A maker makes the schedule of a collective.
type maker struct {
	spec    collective.Spec
	options algos.Options
	trees   int64 // most of a root
	tiles   int   // 0: as needed
}

// make makes the schedule for the kind, on the trees that take the least time by the closed form.
func (m maker) make() (*schedule.Schedule, algos.Pick, error) {
	list, err := m.ways()
	if err != nil {
		return nil, algos.Pick{}, err
	}
	var best way
	for i, w := range list {
		if w.tiles = m.tiles; w.tiles == 0 {
			w.tiles = w.pace.tiles()
		}
		if i == 0 || w.pace.time(w.tiles) < best.pace.time(best.tiles) {
			best = w
		}
	}
	y := layout{spec: m.spec, channels: m.options.Channels, tiles: best.tiles}
	if y.channels == 0 {
		y.channels = best.channels(m.options.Network.LaneRate)
	}
	var plan schedule.Plan
	switch {
	case best.up == nil:
		plan = y.spread(best.down)
	case best.down == nil:
		plan = y.collect(best.up)
	default:
		plan = y.collectAndSpread(best.up, best.down)
	}
	s, err := schedule.Build(plan)
	return s, algos.Pick{What: fmt.Sprintf("trees: %s a root, %d deep, %d tiles", best.trees,
		best.pace.depth, best.tiles)}, err
}

// A way is the trees that a collective may take: up to the root, down from it, or both.
type way struct {
	up, down *Forest
	trees    string // of a root
	pace     pace
	tiles    int
}

// mostChannels bounds the channels that are taken where nobody asks for a number.
const mostChannels = 16

// channels returns how many lanes of such a rate side by side send all that a strand sends from one
// rank to its children.
func (w way) channels(lane unit.Rate) int {
	children, rate := 0, unit.Rate(0)
	for _, f := range []*Forest{w.up, w.down} {
		if f == nil {
			continue
		}
		rate = max(rate, f.Each)
		for _, s := range f.strands() {
			for _, list := range s.children {
				children = max(children, len(list))
			}
		}
	}
	return lanesFor(rate, children, lane)
}

// lanesFor returns how many lanes of such a rate side by side send so many times another rate.
func lanesFor(rate unit.Rate, times int, lane unit.Rate) int {
	if lane <= 0 || lane >= unit.Unlimited/2 {
		return 1
	}
	return int(min(mostChannels, (rate*unit.Rate(times)+lane-1)/lane))
}
