package topology

// aGlobal is the extra length of a dragonfly's global link. With length 3, a path over one global
// link and a local link at either end (5) is shorter than any over two (6). So routes are the
// paper's minimal ones, although two global links may be fewer.
const aGlobal = 2

// dragonfly returns a·h+1 groups of A routers, with P ranks and H global links on each router. The
// routers of a group are fully connected, and one global link connects each two groups. (Kim,
// Dally, Scott, Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008, section
// 3.) With g = a·h+1 there are a·g routers and 2·ranks + g·a·(a-1) + g·a·h links; the diameter is
// 5. Without A, P and H they are the smallest balanced ones (a = 2p = 2h) that hold the ranks. The
// last places may be empty, but all routers exist.
//
// The paper leaves open which router a global link is on. Here channel c of group i, on router
// ⌊c/h⌋, leads to group i+c+1 (modulo g). This is the relative arrangement (Hastings et al.,
// "Comparing Global Link Arrangements for Dragonfly Networks", CLUSTER 2015), in which all groups
// look alike.
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
	like := Link{Bandwidth: p.Bandwidth, Latency: p.Latency}
	if err := wanted("dragonfly", p.Ranks, links, MaxLinks, like); err != nil {
		return nil, err
	}
	return newNumbered("dragonfly", p.Ranks, &routerGroups{ranks: int32(p.Ranks), a: int32(p.A),
		p: int32(p.P), h: int32(p.H), like: like}), nil
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
