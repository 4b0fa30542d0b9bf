package plots

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"collsim/topology"
)

// The number of things up to which all of a kind are shown, and the number shown if there are more.
const (
	ranksAll, ranksFew   = 16, 8
	nodesAll, nodesFew   = 8, 5
	portsAll, portsFew   = 8, 6
	hubsAll, hubsFew     = 8, 6
	groupsFew, groupHubs = 3, 3
	levelsMost           = 5
	nodeLeast            = 44      // pt, least width of a node of a cluster
	scanMost             = 1 << 24 // links; with more, only routes between shown ranks are searched
	// links; with more, switches are chosen without looking at the shown ends
	lookTwice = 1 << 22
)

// reader chooses the part of a network that is shown. The network's nodes are in this order: ranks,
// by cluster node; switches in nodes, likewise; NICs, likewise; all other switches.
type reader struct {
	g         *topology.Graph
	changed   []int32 // sorted
	touched   []int32 // ends of the first changed links, sorted
	ranks     int32   // the ends of the four ranges of nodes
	inside    int32
	nics      int32
	end       int32
	isCluster bool
}

func newReader(g *topology.Graph, changed []int32) *reader {
	r := &reader{g: g, changed: slices.Clone(changed), ranks: int32(len(g.Ranks)),
		end: int32(g.NumNodes())}
	slices.Sort(r.changed)
	for _, link := range r.changed[:min(len(r.changed), 64)] {
		l := g.Link(link)
		r.touched = append(r.touched, l.From, l.To)
	}
	slices.Sort(r.touched)
	r.touched = slices.Compact(r.touched)
	r.isCluster = r.nodeOf(0) >= 0
	r.inside, r.nics = r.ranks, r.ranks
	if !r.isCluster {
		return r
	}
	class := func(v int32) int {
		switch node, _, stem := splitName(g.Node(v).Name); {
		case node < 0:
			return 2
		case stem == "nic":
			return 1
		}
		return 0
	}
	r.inside = r.search(r.ranks, r.end, func(v int32) bool { return class(v) >= 1 })
	r.nics = r.search(r.inside, r.end, func(v int32) bool { return class(v) == 2 })
	return r
}

// search returns the first node of a range with a property that all later ones have, too.
func (r *reader) search(from, to int32, is func(int32) bool) int32 {
	return from + int32(sort.Search(int(to-from), func(i int) bool { return is(from + int32(i)) }))
}

// nodeOf returns the cluster node of a network node, −1 for none.
func (r *reader) nodeOf(v int32) int {
	node, _, _ := splitName(r.g.Node(v).Name)
	return node
}

// in returns the subrange of a range of nodes that is in a node of the cluster.
func (r *reader) in(node int, from, to int32) (first, end int32) {
	return r.search(from, to, func(v int32) bool { return r.nodeOf(v) >= node }),
		r.search(from, to, func(v int32) bool { return r.nodeOf(v) > node })
}

// parts makes the parts of a picture of a width.
func (r *reader) parts(width length) []*part {
	if r.isCluster {
		parts := []*part{r.insideNode()}
		if r.nics > r.inside {
			parts = append(parts, r.between(width))
		}
		return parts
	}
	if r.end == r.ranks {
		return []*part{r.ranksAlone()}
	}
	for v := r.ranks; v < min(r.end, r.ranks+lookTwice); v++ {
		_, _, stem := splitName(r.g.Node(v).Name)
		if kindOf(stem) != aSwitch || stem == "nvswitch" {
			return []*part{r.machine("", [3][2]int32{{0, r.ranks}, {r.ranks, r.end}})}
		}
	}
	return []*part{r.underSwitches()}
}

// shown holds the sites of a part by the network nodes that they stand for.
type shown struct {
	sites []*site
	of    []int32 // by node: the index of its site plus 1, 0 for none
}

func (r *reader) nothing() *shown { return &shown{of: make([]int32, r.end)} }

func (s *shown) add(v int32, as *site) *site {
	if at := slices.Index(s.sites, as); at >= 0 {
		s.of[v] = int32(at) + 1
		return as
	}
	s.sites = append(s.sites, as)
	s.of[v] = int32(len(s.sites))
	return as
}

// addSome adds consecutive nodes: all, or if there are more than that, a few of them.
func (r *reader) addSome(s *shown, first, end int32, all, few int) (sites []*site) {
	var must []int
	for _, v := range r.touched {
		must = append(must, int(v-first))
	}
	n := int(end - first)
	if n <= all {
		few = n
	}
	for _, i := range some(n, few, within(must, n)) {
		v := first + int32(i)
		sites = append(sites, s.add(v, newSite(r.g.Node(v).Name, i)))
	}
	markGaps(sites)
	return sites
}

// within returns the numbers that are below n.
func within(numbers []int, n int) (list []int) {
	for _, i := range numbers {
		if 0 <= i && i < n {
			list = append(list, i)
		}
	}
	return list
}

// both holds the links between two nodes, in both directions; the first node has the lower number.
type both struct {
	ends [2]int32
	class
}

// wires returns the links between sites.
func (r *reader) wires(s *shown) []wire {
	var list []both
	at := map[[2]int32]int{}
	take := func(link int32) {
		l := r.g.Link(link)
		if s.of[l.From] == 0 || s.of[l.To] == 0 || s.of[l.From] == s.of[l.To] {
			return
		}
		ends := [2]int32{min(l.From, l.To), max(l.From, l.To)}
		i, ok := at[ends]
		if !ok {
			i = len(list)
			at[ends] = i
			list = append(list, both{ends: ends})
		}
		if _, isChanged := slices.BinarySearch(r.changed, link); isChanged {
			list[i].isChanged, list[i].latency = true, max(list[i].latency, l.Latency)
		}
		if l.From == ends[0] {
			list[i].there = l.Bandwidth
		} else {
			list[i].back = l.Bandwidth
		}
	}
	r.walk(s, take)
	var wires []wire
	seen := map[wire]bool{}
	for _, b := range list {
		w := wire{s.sites[s.of[b.ends[0]]-1], s.sites[s.of[b.ends[1]]-1], b.class}
		if !seen[w] {
			seen[w] = true
			wires = append(wires, w)
		}
	}
	return wires
}

// walk calls take for all links between sites, and possibly for others.
func (r *reader) walk(s *shown, take func(link int32)) {
	if r.g.NumLinks() <= scanMost && (r.end > r.ranks || r.g.NumLinks() <= lookTwice) {
		for i := range int32(r.g.NumLinks()) {
			take(i)
		}
		return
	}
	var ranks []int // if not nil, only their routes are searched
	for rank, v := range r.g.Ranks {
		if s.of[v] != 0 {
			ranks = append(ranks, rank)
		}
	}
	var route []int32
	for _, src := range ranks {
		for _, dst := range ranks {
			if src != dst {
				route = r.g.Route(src, dst, route[:0])
				for _, link := range route {
					take(link)
				}
			}
		}
	}
}

// hubs holds the switches with a common name: "leaf", or "edge" of all pods.
type hubs struct {
	stem   string
	all    []int32
	groups [][]int // by pod: the indices in all of "pod0/edge1" and its like
}

// hubs groups the switches from a node on by name.
func (r *reader) hubs(from int32) (list []*hubs) {
	at, last := map[string]*hubs{}, map[string]string{}
	for v := from; v < r.end; v++ {
		_, _, stem := splitName(r.g.Node(v).Name)
		group := ""
		if slash := strings.LastIndexByte(stem, '/'); slash >= 0 {
			group, stem = stem[:slash], stem[slash+1:]
		}
		h := at[stem]
		if h == nil {
			h = &hubs{stem: stem}
			at[stem], list = h, append(list, h)
		}
		if len(h.groups) == 0 || last[stem] != group {
			h.groups = append(h.groups, nil)
		}
		last[stem] = group
		group0 := &h.groups[len(h.groups)-1]
		*group0 = append(*group0, len(h.all))
		h.all = append(h.all, v)
	}
	return list
}

// choose returns the switches that are shown: with groups, some of some groups.
func (h *hubs) choose(must []int32) []int {
	n := len(h.all)
	if n <= hubsAll {
		return some(n, n, nil)
	}
	isMust := func(i int) bool {
		_, ok := slices.BinarySearch(must, h.all[i])
		return ok
	}
	if len(h.groups) == 1 {
		var list []int
		for i := range h.all {
			if isMust(i) {
				list = append(list, i)
			}
		}
		return some(n, hubsFew, list)
	}
	var groups, list []int
	for n, g := range h.groups {
		if slices.ContainsFunc(g, isMust) {
			groups = append(groups, n)
		}
	}
	for _, n := range some(len(h.groups), groupsFew, groups) {
		g := h.groups[n]
		var inside []int
		for i, hub := range g {
			if isMust(hub) {
				inside = append(inside, i)
			}
		}
		for _, i := range some(len(g), groupHubs, inside) {
			list = append(list, g[i])
		}
	}
	return list
}

// addHubs adds switches of some names. Those in must are among them.
func (r *reader) addHubs(s *shown, list []*hubs, must []int32) (sites [][]*site) {
	must = slices.Sorted(slices.Values(slices.Concat(must, r.touched)))
	for _, h := range list {
		var row []*site
		for _, i := range h.choose(must) {
			v := h.all[i]
			row = append(row, s.add(v, newSite(r.g.Node(v).Name, i)))
		}
		markGaps(row)
		sites = append(sites, row)
	}
	return sites
}

// byLevel sorts rows of switches by their distance from some ends, the highest first, and keeps as
// many as are shown.
func byLevel(rows [][]*site, list []*hubs, wires []wire, ends []*site) []siteRow {
	level := map[*site]int{}
	row := map[*site]int{}
	for n, sites := range rows {
		for _, s := range sites {
			row[s] = n
		}
	}
	heights := make([]int, len(rows))
	for _, s := range ends {
		level[s] = 1
	}
	for more := true; more; {
		more = false
		for _, w := range wires {
			for _, pair := range [2][2]*site{{w.a, w.b}, {w.b, w.a}} {
				n, isHub := row[pair[1]]
				if !isHub || heights[n] > 0 {
					continue
				}
				below := level[pair[0]]
				if from, ok := row[pair[0]]; ok {
					below = heights[from]
				}
				if below > 0 {
					heights[n], more = below+1, true
				}
			}
		}
	}
	order := make([]int, len(rows))
	for n := range order {
		order[n] = n
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(heights[b], heights[a]) })
	var result []siteRow
	for _, n := range some(len(order), levelsMost, nil) {
		h := list[order[n]]
		result = append(result, siteRow{rows[order[n]], []string{count(len(h.all), h.stem)}})
	}
	return result
}
