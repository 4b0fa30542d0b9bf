package topology

import "fmt"

// tree returns ranks as the leaves of a tree of switches with K children each, filled from the
// left: rank r is on switch "level1.⌊r/K⌋", that on "level2.⌊r/K²⌋", up to the one switch at the
// root. All links are alike, so the root is narrow: with r ranks and s switches there are
// 2·(r+s-1) links, and in a full tree of even K half of the ranks reach the others over K/2 links.
// What is wide at the root is a fat-tree.
func tree(p Params) (*Graph, error) {
	if p.K < 2 || p.K > MaxRanks {
		return nil, badParam("k", p.K, "2 to %d children of a switch are expected", MaxRanks)
	}
	g, err := newGraph("tree", p.Ranks, 4*int64(p.Ranks), // or fewer
		Link{Bandwidth: p.Bandwidth, Latency: p.Latency})
	if err != nil {
		return nil, err
	}
	first, n := int32(0), int32(p.Ranks) // of the level below
	for level := 1; ; level++ {
		parents := (n + int32(p.K) - 1) / int32(p.K)
		base := int32(len(g.nodes))
		for i := range parents {
			g.addNode(fmt.Sprintf("level%d.%d", level, i), true)
		}
		g.join(n, p, func(i int32) (int32, int32) { return first + i, base + i/int32(p.K) })
		if parents == 1 {
			return g.numbered(), nil
		}
		first, n = base, parents
	}
}

// leafSpine returns K ranks on each leaf switch and every leaf linked to every spine switch: a Clos
// network folded at the spines (Clos, "A Study of Non-Blocking Switching Networks", Bell System
// Technical Journal 1953). Rank r is on "leaf⌊r/K⌋". There are K spines, or K divided by the
// oversubscription: each leaf has so many links up. Without K there are two leaves: two racks.
// Between leaves, "shortest" takes spine0 whatever the ranks; "ecmp" uses all.
func leafSpine(p Params) (*Graph, error) {
	if p.Ranks < 1 || p.Ranks > MaxRanks {
		return nil, badRanks(p.Ranks)
	}
	if p.K == 0 {
		p.K = (p.Ranks + 1) / 2
	}
	if p.K < 0 || p.K > MaxRanks {
		return nil, badParam("k", p.K, "1 to %d ranks on a leaf are expected", MaxRanks)
	}
	spines, err := upLinks(p.K, p.Oversubscription)
	if err != nil {
		return nil, err
	}
	n, k, s := int32(p.Ranks), int32(p.K), int32(spines)
	leaves := (int64(p.Ranks) + int64(k) - 1) / int64(k)
	g, err := newGraph("leaf-spine", p.Ranks, 2*(int64(p.Ranks)+leaves*int64(s)),
		Link{Bandwidth: p.Bandwidth, Latency: p.Latency})
	if err != nil {
		return nil, err
	}
	leaf := g.addSwitches("leaf", int32(leaves))
	spine := g.addSwitches("spine", s)
	g.join(n, p, func(i int32) (int32, int32) { return i, leaf + i/k })
	g.join(int32(leaves)*s, p, func(i int32) (int32, int32) { return leaf + i/s, spine + i%s })
	return g.numbered(), nil
}

// rails returns K switches that are not linked: rank r is on "rail⌊r mod K⌋". In a cluster ranks
// are NICs, and NIC i of every node is on rail i; what changes rails goes through a GPU of the
// sending node (NVIDIA, "Doubling all2all Performance with NVIDIA Collective Communication Library
// 2.12", 2022, calls that PXN).
func rails(p Params) (*Graph, error) {
	if p.K < 1 || p.K > MaxRanks {
		return nil, badParam("k", p.K, "1 to %d rails are expected", MaxRanks)
	}
	like := Link{Bandwidth: p.Bandwidth, Latency: p.Latency}
	if err := wanted("rails", p.Ranks, 2*int64(p.Ranks), MaxNumbered, like); err != nil {
		return nil, err
	}
	return newNumbered("rails", &star{ranks: int32(p.Ranks), hubs: int32(p.K), hub: "rail",
		isNumbered: true, like: like}), nil
}

// addSwitches appends n switches called name0, name1, … and returns the first.
func (g *Graph) addSwitches(name string, n int32) int32 {
	first := int32(len(g.nodes))
	for i := range n {
		g.addNode(fmt.Sprint(name, i), true)
	}
	return first
}

// join appends n links between the ends that pair names, all in the direction up, then all down.
func (g *Graph) join(n int32, p Params, pair func(int32) (low, high int32)) {
	for i := range n {
		low, high := pair(i)
		g.addLink(low, high, p.Bandwidth, p.Latency)
	}
	for i := range n {
		low, high := pair(i)
		g.addLink(high, low, p.Bandwidth, p.Latency)
	}
}
