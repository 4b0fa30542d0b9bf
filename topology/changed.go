package topology

import (
	"cmp"
	"slices"

	"collsim/unit"
)

// changed is what has become of a link.
type changed struct {
	link      int32
	bandwidth unit.Rate
	latency   unit.Time
}

// So many links, and so large a part of all, may be changed before they are listed: each is looked
// for wherever a link is asked for.
const (
	fewChanges  = 64
	partChanged = 16
)

// set changes links, each named once.
func (g *Graph) set(list []changed) {
	if g.IsListed() {
		for _, c := range list {
			g.links[c.link].Bandwidth, g.links[c.link].Latency = c.bandwidth, c.latency
		}
		return
	}
	all := slices.Concat(list, g.changed)
	slices.SortStableFunc(all, func(a, b changed) int { return cmp.Compare(a.link, b.link) })
	all = slices.CompactFunc(all, func(a, b changed) bool { return a.link == b.link })
	g.changed = slices.DeleteFunc(all, func(c changed) bool {
		was := g.formula.link(c.link)
		return c.bandwidth == was.Bandwidth && c.latency == was.Latency
	})
	if len(g.changed) > max(fewChanges, g.NumLinks()/partChanged) {
		g.list()
	}
}

// Altered is what links have become that are not as their formula has them.
type Altered []changed

// Altered tells what was changed; it is nil where nothing was, or where links are listed.
func (g *Graph) Altered() Altered { return slices.Clone(g.changed) }

// Alter makes the changes that Altered has told of a network which was made in the same way.
func (g *Graph) Alter(a Altered) { g.set(a) }

// find is where a link is among those that were changed, or would be.
func (g *Graph) find(link int32) (at int, isChanged bool) {
	return slices.BinarySearchFunc(g.changed, link,
		func(c changed, link int32) int { return cmp.Compare(c.link, link) })
}

// isPlain reports whether it is known that the network is as its formula says.
func (g *Graph) isPlain() bool { return g.formula != nil && !g.isListed && len(g.changed) == 0 }

// Changes are the links, by index, of which bandwidth or latency are not those of Base; none where
// nothing is known of how the network was.
func (g *Graph) Changes() (links []int32) {
	if g.isListed && g.formula != nil {
		for i := range g.links {
			was := g.formula.link(int32(i))
			if g.links[i].Bandwidth != was.Bandwidth || g.links[i].Latency != was.Latency {
				links = append(links, int32(i))
			}
		}
	}
	for i := range g.changed {
		links = append(links, g.changed[i].link)
	}
	return links
}
