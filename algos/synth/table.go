package synth

import (
	"fmt"
	"strconv"

	"collsim/algos"
	"collsim/collective"
	"collsim/schedule"
)

// Name is that of all algorithms of the package.
const Name = "synth"

// Table lists the algorithms. They are used by name alone.
func Table() []algos.Algorithm {
	return []algos.Algorithm{
		{
			Name: Name,
			Kinds: []collective.Kind{collective.AllReduce, collective.AllGather,
				collective.ReduceScatter, collective.Broadcast, collective.Reduce},
			About: "spanning trees of this very network, down which tiles follow one another",
			When:  "long vectors on a network that no other algorithm fits: unequal or slow links",
			Source: "Zhao et al. 2024, ForestColl (arXiv:2402.06787); Edmonds 1973; Bérczi and Frank " +
				"2010",
			Params: []algos.Param{
				{Name: "trees", Value: strconv.Itoa(mostTrees), About: "most trees of a root, among " +
					"which its block is divided"},
				tilesParam},
			Make: makeTrees,
		},
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

// mostTrees is the default of the parameter trees.
const mostTrees = 16

// asNeeded is the default of the parameter tiles.
const asNeeded = "auto"

var tilesParam = algos.Param{Name: "tiles", Value: asNeeded, About: "pieces of what a tree carries, " +
	"which follow one another; auto weighs latency against bandwidth"}

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
	if err != nil {
		return nil, algos.Pick{}, err
	}
	if spec.Ranks == 1 || spec.Empty() {
		s, err := schedule.Build(schedule.Plan{Name: Name, Spec: spec})
		return s, algos.Pick{}, err
	}
	m := maker{spec: spec, options: o, trees: int64(trees), tiles: tiles}
	return m.make()
}

// A maker makes the schedule of a collective.
type maker struct {
	spec    collective.Spec
	options algos.Options
	trees   int64 // most of a root
	tiles   int   // 0: as needed
}

// make makes the schedule for the kind. Trees that sum are those of the reversed network, upwards.
func (m maker) make() (*schedule.Schedule, algos.Pick, error) {
	goesUp, goesDown := true, true
	switch m.spec.Kind {
	case collective.AllGather, collective.Broadcast:
		goesUp = false
	case collective.ReduceScatter, collective.Reduce:
		goesDown = false
	}
	var up, down, any *Forest
	var err error
	least, most, depth := int64(1), m.trees, 0
	if goesDown {
		if down, err = m.forest(false, least, most); err == nil {
			any, depth, least, most = down, down.Depth(), down.Units, down.Units
		}
	}
	if err == nil && goesUp {
		if up, err = m.forest(true, least, most); err == nil {
			any, depth = up, depth+up.Depth()
		}
	}
	if err != nil {
		return nil, algos.Pick{}, err
	}
	y := layout{spec: m.spec, channels: max(1, m.options.Channels), tiles: m.tilesOf(any, depth)}
	var plan schedule.Plan
	switch {
	case up == nil:
		plan = y.spread(down)
	case down == nil:
		plan = y.collect(up)
	default:
		plan = y.collectAndSpread(up, down)
	}
	s, err := schedule.Build(plan)
	return s, algos.Pick{What: fmt.Sprintf("trees: %d a root, %d deep, %d tiles", any.Units, depth,
		y.tiles)}, err
}

// forest returns the trees of the collective's roots, least to most of each, of the network or the
// reversed one. A network remembers them.
func (m maker) forest(reversed bool, least, most int64) (*Forest, error) {
	root := -1
	if m.spec.Kind == collective.Broadcast || m.spec.Kind == collective.Reduce {
		root = m.spec.Root
	}
	network := m.options.Network
	return algos.Once(network, fmt.Sprintln(root, least, most, reversed),
		func() (*Forest, error) {
			n := newNetwork(network.Graph)
			if reversed {
				n = n.reversed()
			}
			f, err := n.forest(func(k int64) demand {
				if root < 0 {
					return everywhere(n.ranks, k)
				}
				return from(n.ranks, root, k)
			}, least, most)
			if err == nil {
				f.Latency = n.latency()
			}
			return f, err
		})
}

// tilesOf returns the number of tiles: the parameter's, or what the bytes of a unit ask for.
func (m maker) tilesOf(f *Forest, depth int) int {
	if m.tiles > 0 {
		return m.tiles
	}
	bytes := int64(m.spec.Bytes()) / (int64(f.Roots) * f.Units)
	return tilesFor(f, depth, bytes, f.Latency+m.options.Network.Step)
}
