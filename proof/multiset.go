package proof

// A sum of a deep program has as many terms as layers that added to it: written out, all sums would
// be as long as the square of the depth. So what they have in common is stored once.

// bag is a multiset of sources, by its number; 0 is empty. Equal ones have one number.
type multiset int32

// bags are multisets as tries over the binary digits of the numbers in them (Okasaki and Gill, Fast
// Mergeable Integer Maps, 1998), in which equal subtries are one.
type multisets struct {
	nodes  []trie // by number
	byNode map[trie]multiset
}

// trie is what a bag has of the 2^bits numbers from first on: each of them so many times, or, if
// times is 0, what its halves have, of which neither is empty.
type trie struct {
	first       int32
	bits        uint8
	times       int32
	left, right multiset
}

func newMultisets() multisets {
	return multisets{nodes: make([]trie, 1), byNode: map[trie]multiset{}}
}

// of is the bag of one number.
func (b *multisets) of(n int32) multiset { return b.intern(trie{first: n, times: 1}) }

// isOne reports whether a bag has one number once.
func (b *multisets) isOne(x multiset) bool { return b.nodes[x].bits == 0 && b.nodes[x].times == 1 }

func (b *multisets) intern(t trie) multiset {
	x, known := b.byNode[t]
	if !known {
		x = multiset(len(b.nodes))
		b.nodes = append(b.nodes, t)
		b.byNode[t] = x
	}
	return x
}

// has reports whether a number is among those of a trie.
func (t *trie) has(n int32) bool { return n>>t.bits == t.first>>t.bits }

// half is which half a number is in: 0 or 1.
func (t *trie) half(n int32) int { return int(n>>(t.bits-1)) & 1 }

// halves are the bags of both. REQUIRES: it has more than one number.
func (b *multisets) halves(t trie) (h [2]multiset) {
	if t.times == 0 {
		return [2]multiset{t.left, t.right}
	}
	for i := range h {
		first := t.first + int32(i)<<(t.bits-1)
		h[i] = b.intern(trie{first: first, bits: t.bits - 1, times: t.times})
	}
	return h
}

// joined is the bag of two halves, of which neither is empty.
func (b *multisets) joined(first int32, bits uint8, h [2]multiset) multiset {
	l, r := &b.nodes[h[0]], &b.nodes[h[1]]
	if l.times == r.times && l.times > 0 && l.bits == bits-1 && r.bits == bits-1 {
		return b.intern(trie{first: first, bits: bits, times: l.times})
	}
	return b.intern(trie{first: first, bits: bits, left: h[0], right: h[1]})
}

// union is the sum of two multisets.
func (b *multisets) union(x, y multiset) multiset {
	if x == 0 || y == 0 {
		return x + y
	}
	t, u := b.nodes[x], b.nodes[y]
	if t.bits < u.bits {
		x, t, u, y = y, u, t, x
	}
	switch {
	case !t.has(u.first): // as children of the smallest that has both
		whole := trie{first: t.first, bits: t.bits}
		for !whole.has(u.first) {
			whole.bits++
		}
		h := [2]multiset{x, y}
		if whole.half(t.first) == 1 {
			h = [2]multiset{y, x}
		}
		return b.joined(t.first>>whole.bits<<whole.bits, whole.bits, h)
	case t.bits > u.bits:
		h := b.halves(t)
		at := t.half(u.first)
		h[at] = b.union(h[at], y)
		return b.joined(t.first, t.bits, h)
	case t.times > 0 && u.times > 0:
		t.times += min(u.times, often-t.times)
		return b.intern(t)
	}
	h, g := b.halves(t), b.halves(u)
	return b.joined(t.first, t.bits, [2]multiset{b.union(h[0], g[0]), b.union(h[1], g[1])})
}

// each visits the numbers in a bag in their order, and how often they are in it, until visit
// returns false, which it then returns too.
func (b *multisets) each(x multiset, visit func(n, times int32) bool) bool {
	t := b.nodes[x]
	if x == 0 {
		return true
	}
	if t.times == 0 {
		return b.each(t.left, visit) && b.each(t.right, visit)
	}
	for i := range int32(1) << t.bits {
		if !visit(t.first+i, t.times) {
			return false
		}
	}
	return true
}
