package topology

import "strconv"

// tiers is the formula of ranks below levels of switches: a tree, a leaf-spine network, a fat-tree.
// All are extended generalized fat trees (Öhring, Ibel, Das, Kumar, "On Generalized Fat Trees",
// IPPS 1995), filled from the left. A level has so many subtrees, with equally many nodes at the
// top of each. fan subtrees join below a subtree of the next level, where each node has links to
// ups nodes of its own: node i of a subtree to those from i·ups on. So there is no choice on the
// way down. On the way up any link will do, up to the first level whose subtree has the
// destination.
//
// Links come level by level: first those up, in the order of the nodes that they leave, then those
// down, in the same order.
type tiers struct {
	levels []level // from the ranks to the top
	like   Link
}

// level holds the nodes of a level and their links to the next one; the last level has none.
type level struct {
	trees, wide int32 // number of subtrees, and of nodes at the top of each
	size        int32 // ranks of a full subtree, or all
	fan, ups    int32
	link        int32 // first link up

	// Nodes are numbered from base on, in runs of of nodes that are apart apart. Their names are
	// name and their number; with pods, "pod2/" comes first and numbers are those in the pod.
	base, of, apart int32
	name            string
	pods            bool
}

// newTiers returns the network of levels, bottom up. fan, ups and name must be set; trees, if there
// are more than the ranks need; and base, of and apart, unless nodes follow those of the level
// below in a row.
func newTiers(preset string, ranks int, like Link, levels ...level) *Graph {
	t := &tiers{levels: levels, like: like}
	below := level{trees: int32(ranks), wide: 1, size: 1}
	for i := range levels {
		l := &levels[i]
		l.trees, l.wide = max(l.trees, below.trees), below.wide
		l.size, l.link = below.size, below.link
		if l.of == 0 {
			l.base, l.of = below.base, l.nodes()
			l.apart = l.of
		}
		below.trees = (l.trees + max(l.fan, 1) - 1) / max(l.fan, 1)
		below.wide, below.link = l.wide*l.ups, l.link+2*l.nodes()*l.ups
		below.size = int32(min(int64(l.size)*int64(l.fan), MaxRanks))
		below.base = l.base + l.nodes()
	}
	return newNumbered(preset, ranks, t)
}

func (l *level) nodes() int32 { return l.trees * l.wide }

// at returns the node with a number in its level.
func (l *level) at(i int32) int32 { return l.base + i/l.of*l.apart + i%l.of }

func (t *tiers) size() (nodes, links int) {
	for i := range t.levels {
		l := &t.levels[i]
		nodes += int(l.nodes())
		links += 2 * int(l.nodes()) * int(l.ups)
	}
	return nodes, links
}

func (t *tiers) node(v int32) Node {
	if v < t.levels[0].nodes() {
		return Node{Name: rankName(int(v))}
	}
	for i := range t.levels[1:] {
		l := &t.levels[1+i]
		x := v - l.base
		if x < 0 || x%l.apart >= l.of || x/l.apart*l.of+x%l.of >= l.nodes() {
			continue
		}
		if l.pods {
			return Node{Name: "pod" + strconv.Itoa(int(x/l.apart)) + "/" + l.name +
				strconv.Itoa(int(x%l.apart)), Switch: true}
		}
		return Node{Name: l.name + strconv.Itoa(int(x)), Switch: true}
	}
	panic("topology: no such node")
}

// of returns the level that a link leads up from, or down to, its node there, and the node above,
// by numbers in their levels.
func (t *tiers) of(i int32) (at int, low, high int32, isUp bool) {
	for at+2 < len(t.levels) && t.levels[at+1].link <= i {
		at++
	}
	l := &t.levels[at]
	n := l.nodes() * l.ups
	i -= l.link
	if isUp = i < n; !isUp {
		i -= n
	}
	low = i / l.ups
	return at, low, (low/l.wide/l.fan*l.wide+low%l.wide)*l.ups + i%l.ups, isUp
}

func (t *tiers) link(i int32) Link {
	at, low, high, isUp := t.of(i)
	l, x := &t.levels[at], t.like
	x.From, x.To, x.Port = l.at(low), t.levels[at+1].at(high), low/l.wide%l.fan
	if !isUp {
		x.From, x.To, x.Port = x.To, x.From, t.below(at, low/l.wide)+high%l.ups
	}
	return x
}

// below returns the number of subtrees below a subtree of a level.
func (t *tiers) below(at int, tree int32) int32 {
	if at == 0 {
		return 0
	}
	l := &t.levels[at-1]
	return max(0, min(l.fan, l.trees-tree*l.fan))
}

func (t *tiers) route(src, dst int32, buf []int32) []int32 {
	return t.path(src, dst, func(first, _ int32) int32 { return first }, buf)
}

func (t *tiers) spread(src, dst int32, seed uint64, buf []int32) []int32 {
	return t.path(src, dst, func(first, n int32) int32 {
		p := pick{seed: seed, best: -1}
		for l := first; l < first+n; l++ {
			p.try(l)
		}
		return p.best
	}, buf)
}

// path appends a route. On the way up, choose picks one of n links from first on.
func (t *tiers) path(src, dst int32, choose func(first, n int32) int32, buf []int32) []int32 {
	at, tree, in := 0, src, int32(0)
	for ; tree != dst/t.levels[at].size; at++ {
		l := &t.levels[at]
		first := l.link + (tree*l.wide+in)*l.ups
		link := choose(first, l.ups)
		buf = append(buf, link)
		tree, in = tree/l.fan, in*l.ups+link-first
	}
	for at--; at >= 0; at-- {
		l := &t.levels[at]
		node := dst/l.size*l.wide + in/l.ups
		buf = append(buf, l.link+(l.nodes()+node)*l.ups+in%l.ups)
		in /= l.ups
	}
	return buf
}

func (t *tiers) apart() (from, to int32, ok bool) { return 0, 0, false }

// part returns the level below the top, whose subtrees are the parts.
func (t *tiers) part() *level { return &t.levels[len(t.levels)-2] }

// anchor returns the first rank of the part of a link; parts are numbered like their ranks.
func (t *tiers) anchor(i int32) Anchor {
	at, low, _, isUp := t.of(i)
	l, part := &t.levels[at], t.part()
	each := part.size / l.size * l.wide // nodes of the level in a part
	tree := low / each
	first := l.link + low%each*l.ups + (i-l.link)%l.ups
	if !isUp {
		first += l.nodes() * l.ups
	}
	if tree*part.size >= t.levels[0].trees {
		return Anchor{Kind: i, To: -1} // of a part without ranks: no route uses it
	}
	return Anchor{Kind: first, Rank: tree * part.size, To: -1}
}

func (t *tiers) series() []series { return one(t) }

func (t *tiers) isAlike() bool { return false }

// moves accepts translations by whole parts, if each is full or empty.
func (t *tiers) moves(x Translation) bool {
	size, ranks := int64(t.part().size), t.levels[0].trees
	return int64(ranks)%size == 0 && int64(x.Step)*int64(x.Weight)%size == 0 &&
		int64(x.Size)*int64(x.Weight)%size == 0
}
