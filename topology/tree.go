package topology

import "strconv"

// tree returns ranks as the leaves of a tree of switches with K children each, filled from the
// left: rank r is on switch "level1.⌊r/K⌋", that on "level2.⌊r/K²⌋", up to the one switch at the
// root. All links are equal, so the root is narrow. With r ranks and s switches there are 2·(r+s-1)
// links. In a full tree of even K half of the ranks reach the others over K/2 links. A tree that is
// wide at the root is a fat-tree.
func tree(p Params) (*Graph, error) {
	if p.K < 2 || p.K > MaxRanks {
		return nil, badParam("k", p.K, "2 to %d children of a switch are expected", MaxRanks)
	}
	like := Link{Bandwidth: p.Bandwidth, Latency: p.Latency}
	if err := wanted("tree", p.Ranks, 4*int64(p.Ranks), MaxLinks, like); err != nil { // or fewer
		return nil, err
	}
	levels := []level{{fan: int32(p.K), ups: 1}}
	for n := p.Ranks; n > 1 || len(levels) == 1; {
		name := "level" + strconv.Itoa(len(levels)) + "."
		levels = append(levels, level{fan: int32(p.K), ups: 1, name: name})
		n = (n + p.K - 1) / p.K
	}
	levels[len(levels)-1].ups = 0
	return newTiers("tree", p.Ranks, like, levels...), nil
}

// leafSpine returns K ranks on each leaf switch and every leaf linked to every spine switch: a Clos
// network folded at the spines (Clos, "A Study of Non-Blocking Switching Networks", Bell System
// Technical Journal 1953). Rank r is on "leaf⌊r/K⌋". There are K spines, or K divided by the
// oversubscription: each leaf has so many links up. Without K there are two leaves: two racks.
// Between leaves, "shortest" takes spine0 for all ranks; "ecmp" uses all.
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
	leaves := (int64(p.Ranks) + int64(p.K) - 1) / int64(p.K)
	like := Link{Bandwidth: p.Bandwidth, Latency: p.Latency}
	links := 2 * (int64(p.Ranks) + leaves*int64(spines))
	if err := wanted("leaf-spine", p.Ranks, links, MaxLinks, like); err != nil {
		return nil, err
	}
	return newTiers("leaf-spine", p.Ranks, like,
		level{fan: int32(p.K), ups: 1},
		level{fan: int32(leaves), ups: int32(spines), name: "leaf"},
		level{name: "spine"}), nil
}

// rails returns K switches: rank r is on "rail⌊r mod K⌋". In a cluster ranks are NICs, and NIC i of
// every node is on rail i. Rails are not connected, so traffic that changes rails goes through a
// GPU of the sending node (PXN: NVIDIA, "Doubling all2all Performance with NVIDIA Collective
// Communication Library 2.12", 2022). With an oversubscription every rail is linked to every spine
// switch, as the leaves of leafSpine are: a rail-optimized network.
func rails(p Params) (*Graph, error) {
	if p.K < 1 || p.K > MaxRanks {
		return nil, badParam("k", p.K, "1 to %d rails are expected", MaxRanks)
	}
	like := Link{Bandwidth: p.Bandwidth, Latency: p.Latency}
	if p.Oversubscription != 0 {
		return joinedRails(p, like)
	}
	if err := wanted("rails", p.Ranks, 2*int64(p.Ranks), MaxNumbered, like); err != nil {
		return nil, err
	}
	return newNumbered("rails", p.Ranks, &star{ranks: int32(p.Ranks), hubs: int32(p.K), hub: "rail",
		isNumbered: true, like: like}), nil
}

// joinedRails returns rails below spines.
func joinedRails(p Params, like Link) (*Graph, error) {
	spines, err := upLinks((p.Ranks+p.K-1)/p.K, p.Oversubscription)
	if err != nil {
		return nil, err
	}
	g, err := newGraph("rails", p.Ranks, 2*(int64(p.Ranks)+int64(p.K)*int64(spines)), like)
	if err != nil {
		return nil, err
	}
	for i := range p.K {
		g.addNode("rail"+strconv.Itoa(i), true)
	}
	for i := range spines {
		g.addNode("spine"+strconv.Itoa(i), true)
	}
	ranks, k, n := int32(p.Ranks), int32(p.K), int32(spines)
	both := func(count int32, ends func(i int32) (below, above int32)) {
		for _, isUp := range []bool{true, false} {
			for i := range count {
				from, to := ends(i)
				if !isUp {
					from, to = to, from
				}
				g.addLink(from, to, p.Bandwidth, p.Latency)
			}
		}
	}
	both(ranks, func(i int32) (int32, int32) { return i, ranks + i%k })
	both(k*n, func(i int32) (int32, int32) { return ranks + i/n, ranks + k + i%n })
	return g.numbered(), nil
}
