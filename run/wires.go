package run

import "collsim/algos"

// sharedLinks says that messages meet that have neither sender nor receiver in common: no published
// cost holds there.
const sharedLinks = algos.PerRank + 1

// maxWirePairs bounds the routes that meets examines. Beyond it, a network whose routes are not
// known to be disjoint counts as one that shares links.
const maxWirePairs = 1 << 20

// meets finds out, once, of the routes inside all teams.
func (n *network) meets() algos.Wires {
	if n.wires == algos.PerConnection {
		n.wires = n.findWires()
	}
	return n.wires
}

// ends are the only sender and the only receiver of the messages over a link; −1 are several.
type ends struct{ from, to int }

func (n *network) findWires() algos.Wires {
	switch {
	case n.links[1] <= 1: // a link belongs to the pair of ranks that it joins
		return algos.PerPair
	case n.graph.IsStar():
		return algos.PerRank
	case n.pairs() > maxWirePairs:
		return sharedLinks
	}
	users, found := map[int32]ends{}, algos.PerPair
	for _, team := range n.allTeams() {
		for _, src := range team {
			for _, dst := range team {
				if src == dst {
					continue
				}
				n.route = n.graph.Route(src, dst, n.route[:0])
				for _, link := range n.route {
					found = max(found, use(users, link, ends{src, dst}))
				}
				if found == sharedLinks {
					return found
				}
			}
		}
	}
	return found
}

// use adds a message to those over a link, and says how it meets them there.
func use(users map[int32]ends, link int32, e ends) algos.Wires {
	known, ok := users[link]
	switch {
	case !ok:
		users[link] = e
		return algos.PerPair
	case known.from != e.from && known.to != e.to:
		return sharedLinks
	}
	if known.from != e.from {
		known.from = -1
	}
	if known.to != e.to {
		known.to = -1
	}
	users[link] = known
	return algos.PerRank
}
