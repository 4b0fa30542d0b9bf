package topology

import "fmt"

// aGlobal is what a global link of a dragonfly counts more than another link. With 3 in all, a path
// over one of them and a local link at either end (5) is shorter than any over two (6): routes are
// the paper's minimal ones, although two global links may be fewer.
const aGlobal = 2

// dragonfly returns a·h+1 groups of A routers, on each of which there are P ranks and H global
// links; the routers of a group are linked each to each, and one global link joins each two groups
// (Kim, Dally, Scott, Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008,
// section 3). With g = a·h+1 there are a·g routers and 2·ranks + g·a·(a-1) + g·a·h links; the
// diameter is 5. Without A, P and H they are the smallest balanced ones (a = 2p = 2h) that hold the
// ranks; places at the end may be empty, routers are always all there.
//
// The paper leaves open which router a global link is on. Here channel c of group i, on router
// ⌊c/h⌋, leads to group i+c+1 (modulo g): the relative arrangement (Hastings et al., "Comparing
// Global Link Arrangements for Dragonfly Networks", CLUSTER 2015), in which all groups look alike.
//
// Routes are minimal (section 4.1): to the router with the link to the other group, over it, to the
// router of the destination; never over two global links.
func dragonfly(p Params) (*Graph, error) {
	if err := p.balance(); err != nil {
		return nil, err
	}
	a, h := int64(p.A), int64(p.H)
	groups := a*h + 1
	most := a * int64(p.P) * groups
	switch {
	case p.Ranks == 0 && most > MaxRanks:
		return nil, badParam("p", p.P, "a = %d, p = %d, h = %d have %d places; "+
			"a number of ranks up to %d is expected", p.A, p.P, p.H, most, MaxRanks)
	case p.Ranks == 0:
		p.Ranks = int(most)
	case int64(p.Ranks) > most:
		return nil, badParam("p", p.P, "a = %d, p = %d, h = %d have %d places; "+
			"ranks = %d are expected", p.A, p.P, p.H, most, p.Ranks)
	}
	links := 2*int64(p.Ranks) + groups*a*(a-1+h)
	if links > MaxLinks {
		return nil, badParam("a", p.A, "a = %d, h = %d make %d links; the limit is %d",
			p.A, p.H, links, MaxLinks)
	}
	g, err := newGraph("dragonfly", p.Ranks, links,
		Link{Bandwidth: p.Bandwidth, Latency: p.Latency})
	if err != nil {
		return nil, err
	}
	first := int32(len(g.nodes))
	for group := range groups {
		g.addSwitches(fmt.Sprintf("group%d/router", group), int32(a))
	}
	router := func(group, channel int64) int32 { return first + int32(group%groups*a+channel/h) }
	g.join(int32(p.Ranks), p, func(i int32) (int32, int32) { return i, first + i/int32(p.P) })
	for d := int64(1); d < a; d++ { // as in FullMesh: all routers see the same ports
		for i := range groups * a {
			g.addLink(first+int32(i), first+int32(i-i%a+(i+d)%a), p.Bandwidth, p.Latency)
		}
	}
	for c := range a * h {
		for group := range groups { // the way back is channel a·h-1-c of the other group
			g.addLink(router(group, c), router(group+c+1, a*h-1-c), p.Bandwidth, p.Latency)
			g.links[len(g.links)-1].extra = aGlobal
		}
	}
	return g.numbered(), nil
}

// balance checks A, P and H, or chooses them: a = 2p = 2h balances the load of the channels under
// uniform traffic (section 3.1).
func (p *Params) balance() error {
	if p.A == 0 && p.P == 0 && p.H == 0 {
		if p.Ranks < 1 || p.Ranks > MaxRanks {
			return badParam("ranks", p.Ranks, "1 to %d, or a, p and h, are expected", MaxRanks)
		}
		h := 1
		for 2*h*h*(2*h*h+1) < p.Ranks {
			h++
		}
		p.A, p.P, p.H = 2*h, h, h
	}
	const most = 1 << 12
	for _, v := range []struct {
		key, what string
		value     int
	}{{"a", "routers in a group", p.A}, {"p", "ranks on a router", p.P},
		{"h", "global links of a router", p.H}} {
		if v.value < 1 || v.value > most {
			return badParam(v.key, v.value, "1 to %d %s are expected", most, v.what)
		}
	}
	return nil
}
