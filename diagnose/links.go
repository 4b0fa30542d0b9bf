package diagnose

import (
	"regexp"
	"strings"

	"collsim/topology"
	"collsim/unit"
)

// class holds links whose names differ in numbers alone: "node*/gpu* <-> node*/switch".
type class struct {
	name  string
	links []string // "node0/gpu0 <-> node0/switch"; both directions are one
	first topology.Link
}

// kind names the ends of the links of a class: "gpu–switch".
func (c *class) kind() string {
	return strings.NewReplacer("node*/", "", "*", "", " <-> ", "–").Replace(c.name)
}

// between reports whether the links of a class lead from NICs to the network between nodes.
func (c *class) between() bool {
	from, to, _ := strings.Cut(c.name, " <-> ")
	return strings.HasSuffix(from, "/nic*") && !strings.HasPrefix(to, "node*/")
}

// ofGPUs reports whether a link of the class ends at a GPU.
func (c *class) ofGPUs() bool { return strings.Contains(c.name, "gpu*") }

var digits = regexp.MustCompile(`\d+`)

// classes lists the links of a graph by class, in their order, without those of unlimited rate.
func classes(g *topology.Graph) (list []*class) {
	const fastest unit.Rate = 8e12 // 8 TB/s, the most that a scenario gives a link
	seen := map[string]bool{}
	place := map[string]*class{}
	for i := range g.NumLinks() {
		l := g.Link(int32(i))
		from, to := g.Node(l.From).Name, g.Node(l.To).Name
		if l.Bandwidth > fastest || seen[to+" <-> "+from] {
			continue
		}
		link := from + " <-> " + to
		seen[link] = true
		name := digits.ReplaceAllString(link, "*")
		c := place[name]
		if c == nil {
			c = &class{name: name, first: l}
			place[name] = c
			list = append(list, c)
		}
		c.links = append(c.links, link)
	}
	return list
}

// nics lists the NICs of a graph: "node0/nic0".
func nics(g *topology.Graph) (names []string) {
	for i := range g.NumNodes() {
		if n := g.Node(int32(i)); n.Switch && isNIC.MatchString(n.Name) {
			names = append(names, n.Name)
		}
	}
	return names
}

var isNIC = regexp.MustCompile(`^node\d+/nic\d+$`)

// spread returns at most n entries of a list, evenly spread, with the first and the last.
func spread[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	some := make([]T, n)
	for i := range some {
		some[i] = list[i*(len(list)-1)/(n-1)]
	}
	return some
}

// Sizes returns at most n of ascending sizes, evenly spread, with the first and the last.
func Sizes(all []unit.Bytes, n int) []unit.Bytes { return spread(all, n) }
