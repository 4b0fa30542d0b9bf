package synth

import (
	"fmt"
	"slices"

	"collsim/algos"
	"collsim/collective"
)

// ways lists the trees that the collective may take. Trees that sum are those of the reversed
// network, upwards.
func (m maker) ways() (list []way, err error) {
	switch m.spec.Kind {
	case collective.AllReduce:
		return m.bothWays()
	case collective.ReduceScatter, collective.Reduce:
		up, err := m.forests(true, 1, m.trees)
		for _, f := range up {
			list = append(list, way{up: f, trees: fmt.Sprint(f.Units), pace: m.paceOf(f)})
		}
		return list, err
	}
	down, err := m.forests(false, 1, m.trees)
	for _, f := range down {
		list = append(list, way{down: f, trees: fmt.Sprint(f.Units), pace: m.paceOf(f)})
	}
	return list, err
}

// bothWays lists the trees of an all_reduce: those of an all_gather, at half the rate, and those of
// the best shares where these are notably faster.
func (m maker) bothWays() (list []way, err error) {
	down, err := m.forests(false, 1, m.trees)
	if err != nil {
		return nil, err
	}
	for _, f := range down {
		up, err := m.forests(true, f.Units, f.Units)
		if err != nil {
			return nil, err
		}
		w := m.pairOf(up[0], f)
		w.pace.rate /= 2 // both ways go over the same links
		list = append(list, w)
	}
	last := list[len(list)-1]
	uneven, err := m.uneven(choice{last.down.Total, scale{units: 1, each: last.pace.rate}})
	for _, f := range uneven {
		list = append(list, m.pairOf(f[0], f[1]))
	}
	return list, err
}

// pairOf returns the way up some trees and down others, which do not have a link in common.
func (m maker) pairOf(up, down *Forest) way {
	w := way{up: up, down: down, trees: fmt.Sprint(down.Units), pace: m.paceOf(down)}
	if least := slices.Min(down.Of); least < down.Units {
		w.trees = fmt.Sprintf("%d to %d", least, down.Units)
	}
	p := m.paceOf(up)
	w.pace.depth += p.depth
	w.pace.steps += p.steps
	w.pace.rate = min(w.pace.rate, p.rate)
	return w
}

// paceOf returns how the collective goes down the trees of a forest, or up.
func (m maker) paceOf(f *Forest) pace {
	edges := int(f.Total) * (m.spec.Ranks - 1)
	return pace{bytes: int64(m.spec.Bytes()) / f.Total, depth: f.Depth(), steps: edges, rate: f.Each,
		overhead: m.options.Network.Step, latency: f.Latency}
}

// forests returns trees of the collective's roots, least to most of each, of the network or the
// reversed one. A network remembers them.
func (m maker) forests(reversed bool, least, most int64) ([]*Forest, error) {
	root := -1
	if m.spec.Kind == collective.Broadcast || m.spec.Kind == collective.Reduce {
		root = m.spec.Root
	}
	network := m.options.Network
	return algos.Once(network, fmt.Sprintln(root, least, most, reversed), func() ([]*Forest, error) {
		n := newNetwork(network.Graph)
		if reversed {
			n = n.reversed()
		}
		return n.forests(func(k int64) demand {
			if root < 0 {
				return everywhere(n.ranks, k)
			}
			return from(n.ranks, root, k)
		}, least, most)
	})
}

// uneven returns trees up and down by the best shares of ranks and links, each notably faster than
// the ones with fewer trees, and than a choice. A network remembers them.
func (m maker) uneven(than choice) (list [][2]*Forest, err error) {
	network := m.options.Network
	return algos.Once(network, fmt.Sprintln("uneven", m.trees), func() ([][2]*Forest, error) {
		s, err := newNetwork(network.Graph).shares()
		if s == nil || err != nil {
			return nil, err
		}
		return s.forests(than, m.trees*int64(m.spec.Ranks))
	})
}
