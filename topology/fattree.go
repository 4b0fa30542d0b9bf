package topology

// maxPorts is the largest k of a fat-tree: it holds MaxRanks.
const maxPorts = 162

// fatTree returns the three-level fat-tree of switches with K ports: K pods of K/2 edge and K/2
// aggregation switches, (K/2)² core switches, K³/4 hosts. (Al-Fares, Loukissas, Vahdat, "A
// Scalable, Commodity Data Center Network Architecture", SIGCOMM 2008, section 2.2.)
//
//	core0 … core(u·K/2-1)          core ⌊j·K/2⌋ … is on agg j of every pod
//	pod0/agg0 … pod0/agg(u-1)      every agg of a pod is linked to every edge of it
//	pod0/edge0 … pod0/edge(K/2-1)  with u = K/2 divided by the oversubscription
//	gpu0 …                         K/2 on each edge; the last places may be empty
//
// Oversubscription leaves out aggregation switches, and the cores above them: an edge switch has u
// links up. Without K it is the smallest that holds the ranks and allows the oversubscription.
// There are K²/2 + K·u + u·K/2 switches and 2·(ranks + K²·u) links; full, the bisection is u·K²/4
// links in each direction. "shortest" takes agg0 of a pod and its first core for all ranks, and
// leaves the others idle; "ecmp" spreads.
func fatTree(p Params) (*Graph, error) {
	up, err := p.ports()
	if err != nil {
		return nil, err
	}
	most := p.K * p.K * p.K / 4
	if p.Ranks == 0 {
		p.Ranks = most
	}
	if p.Ranks > most {
		return nil, badParam("k", p.K, "it has %d places; ranks = %d are expected", most, p.Ranks)
	}
	like := Link{Bandwidth: p.Bandwidth, Latency: p.Latency}
	links := 2 * int64(p.Ranks+p.K*p.K*up)
	if err := wanted("fat-tree", p.Ranks, links, MaxLinks, like); err != nil {
		return nil, err
	}
	n, k, u := int32(p.Ranks), int32(p.K), int32(up)
	half := k / 2
	pod := half + u // edge switches of a pod, then its aggregation switches
	return newTiers("fat-tree", p.Ranks, like,
		level{fan: half, ups: 1},
		level{fan: half, ups: u, name: "edge", pods: true, trees: k * half,
			base: n, of: half, apart: pod},
		level{fan: k, ups: half, name: "agg", pods: true, base: n + half, of: u, apart: pod},
		level{name: "core", base: n + k*pod, of: u * half, apart: u * half}), nil
}

// ports checks K, or chooses it, and returns the number of links up from an edge switch.
func (p *Params) ports() (int, error) {
	if p.K == 0 {
		if p.Ranks < 1 || p.Ranks > MaxRanks {
			return 0, badRanks(p.Ranks)
		}
		for p.K = 2; p.K < maxPorts; p.K += 2 {
			up, err := upLinks(p.K/2, p.Oversubscription)
			if err == nil && p.K*p.K*p.K/4 >= p.Ranks {
				return up, nil
			}
		}
	}
	if p.K < 2 || p.K > maxPorts || p.K%2 != 0 {
		return 0, badParam("k", p.K, "an even number of ports from 2 to %d is expected", maxPorts)
	}
	return upLinks(p.K/2, p.Oversubscription)
}
