package topology

import (
	"cmp"
	"slices"

	"collsim/unit"
)

// changed holds the new bandwidth and latency of a link.
type changed struct {
	link      int32
	bandwidth unit.Rate
	latency   unit.Time
}

// Up to so many links, and up to this part of all, are kept as changes of an unlisted network. Each
// access to a link searches the changes.
const (
	fewChanges  = 64
	partChanged = 16
)

// set changes links. REQUIRES: each appears once.
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

// Altered holds the links that differ from their formula.
type Altered []changed

// Altered returns the changes; nil if there are none, or if links are listed.
func (g *Graph) Altered() Altered { return slices.Clone(g.changed) }

// Alter applies the changes that Altered returned for a network built with the same parameters.
func (g *Graph) Alter(a Altered) { g.set(a) }

// find returns the index of a link among the changes, or where it would be inserted.
func (g *Graph) find(link int32) (at int, isChanged bool) {
	return slices.BinarySearchFunc(g.changed, link,
		func(c changed, link int32) int { return cmp.Compare(c.link, link) })
}

// isPlain reports whether the network is known to equal its formula.
func (g *Graph) isPlain() bool { return g.formula != nil && !g.isListed && len(g.changed) == 0 }

// Changes returns the links, by index, whose bandwidth or latency differ from those of Base; none
// if the original network is not known.
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
