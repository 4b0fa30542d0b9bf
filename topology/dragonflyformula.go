package topology

import "strconv"

// routerGroups is the formula of a dragonfly. Its links are in blocks: from all ranks to their
// routers; back; for each distance inside a group, one from every router; for each channel, one
// from every group.
type routerGroups struct {
	ranks, a, p, h int32
	like           Link
}

func (g *routerGroups) count() int32 { return g.a*g.h + 1 }

func (g *routerGroups) routers() int32 { return g.count() * g.a }

// local returns the first local link, and global the first global one.
func (g *routerGroups) local() int32 { return 2 * g.ranks }

func (g *routerGroups) global() int32 { return g.local() + g.routers()*(g.a-1) }

func (g *routerGroups) size() (nodes, links int) {
	return int(g.ranks + g.routers()), int(g.global() + g.count()*g.a*g.h)
}

func (g *routerGroups) node(v int32) Node {
	if v < g.ranks {
		return Node{Name: rankName(int(v))}
	}
	v -= g.ranks
	return Node{Name: "group" + strconv.Itoa(int(v/g.a)) + "/router" + strconv.Itoa(int(v%g.a)),
		Switch: true}
}

func (g *routerGroups) link(i int32) Link {
	l := g.like
	switch {
	case i < g.ranks:
		l.From, l.To, l.Port = i, g.ranks+i/g.p, i%g.p
	case i < g.local():
		i -= g.ranks
		l.From, l.To = g.ranks+i/g.p, i
	case i < g.global():
		d, router := (i-g.local())/g.routers()+1, (i-g.local())%g.routers()
		to := router - router%g.a + (router+d)%g.a
		l.From, l.To, l.Port = g.ranks+router, g.ranks+to, g.attached(to)+d-1
	default:
		c, group := (i-g.global())/g.count(), (i-g.global())%g.count()
		back := g.a*g.h - 1 - c
		to := (group+c+1)%g.count()*g.a + back/g.h
		l.From, l.To = g.ranks+group*g.a+c/g.h, g.ranks+to
		l.Port = g.attached(to) + g.a - 1 + g.h - 1 - back%g.h
		l.extra = aGlobal
	}
	return l
}

// attached returns the number of ranks on a router.
func (g *routerGroups) attached(router int32) int32 { return max(0, min(g.p, g.ranks-router*g.p)) }

// route appends the only shortest route: over the link that connects the two groups.
func (g *routerGroups) route(src, dst int32, buf []int32) []int32 {
	from, to := src/g.p, dst/g.p
	buf = append(buf, src)
	if here, there := from/g.a, to/g.a; here != there {
		c := (there-here+g.count())%g.count() - 1
		buf = g.within(from, here*g.a+c/g.h, buf)
		buf = append(buf, g.global()+c*g.count()+here)
		from = there*g.a + (g.a*g.h-1-c)/g.h
	}
	return append(g.within(from, to, buf), g.ranks+dst)
}

// within appends the link between two routers of a group, unless they are the same.
func (g *routerGroups) within(from, to int32, buf []int32) []int32 {
	if from == to {
		return buf
	}
	d := (to - from + g.a) % g.a
	return append(buf, g.local()+(d-1)*g.routers()+from)
}

func (g *routerGroups) spread(src, dst int32, _ uint64, buf []int32) []int32 {
	return g.route(src, dst, buf)
}

func (g *routerGroups) apart() (from, to int32, ok bool) { return 0, 0, false }

// anchor returns the first rank of the group that a link leaves, or the rank of a rank's own link.
func (g *routerGroups) anchor(i int32) Anchor {
	router, kind := int32(0), int32(0)
	switch {
	case i < g.local():
		return Anchor{Kind: i / g.ranks, Rank: i % g.ranks, To: -1}
	case i < g.global():
		i -= g.local()
		router = i % g.routers()
		kind = 2 + i/g.routers()*g.a + router%g.a
	default:
		i -= g.global()
		router = i % g.count() * g.a
		kind = 2 + (g.a-1)*g.a + i/g.count()
	}
	return Anchor{Kind: kind, Rank: router / g.a * g.a * g.p, To: -1}
}

// series returns all links as one: they have equal bandwidth and latency, whatever their lengths.
func (g *routerGroups) series() []series { return one(g) }

func (g *routerGroups) isAlike() bool { return false }

// moves accepts rotations by whole groups, if all places are taken.
func (g *routerGroups) moves(t Translation) bool {
	size := int64(g.a * g.p)
	return g.ranks == g.count()*g.a*g.p && int64(t.Size)*int64(t.Weight) == int64(g.ranks) &&
		int64(t.Step)*int64(t.Weight)%size == 0
}
