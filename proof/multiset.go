package proof

// A sum in a deep program has a term for each layer that added to it. Written out, all sums would
// take space quadratic in the depth. So common parts are stored once (hash consing).

// multiset identifies a multiset of sources by its number in multisets. 0 is empty; equal multisets
// have equal numbers.
type multiset int32

// multisets holds multisets as binary tries over the numbers in them (Patricia tries: Okasaki and
// Gill, Fast Mergeable Integer Maps, 1998). Equal subtries are stored once.
type multisets struct {
	nodes  []trie // by number
	byNode map[trie]multiset
}

// A trie is a node: the part of a multiset that falls into the 2^bits numbers from first on. If
// times > 0, each of these numbers occurs so many times. If times is 0, left and right hold the
// halves, and neither is empty.
type trie struct {
	first       int32
	bits        uint8
	times       int32
	left, right multiset
}

// newMultisets returns a table that has the empty multiset only.
func newMultisets() multisets {
	return multisets{nodes: make([]trie, 1), byNode: map[trie]multiset{}}
}

// of returns the multiset that has only the number n, once.
func (b *multisets) of(n int32) multiset { return b.intern(trie{first: n, times: 1}) }

// isOne reports whether a multiset has one number once.
func (b *multisets) isOne(x multiset) bool { return b.nodes[x].bits == 0 && b.nodes[x].times == 1 }

// intern returns the multiset of a node and adds the node if it is new.
func (b *multisets) intern(t trie) multiset {
	x, known := b.byNode[t]
	if !known {
		x = multiset(len(b.nodes))
		b.nodes = append(b.nodes, t)
		b.byNode[t] = x
	}
	return x
}

// has reports whether a number is in the trie's range.
func (t *trie) has(n int32) bool { return n>>t.bits == t.first>>t.bits }

// half returns the half of the range that has a number: 0 or 1.
func (t *trie) half(n int32) int { return int(n>>(t.bits-1)) & 1 }

// halves returns the multisets of both halves of a trie's range. REQUIRES: bits > 0.
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

// joined returns the multiset of two halves. REQUIRES: neither is empty.
func (b *multisets) joined(first int32, bits uint8, h [2]multiset) multiset {
	l, r := &b.nodes[h[0]], &b.nodes[h[1]]
	if l.times == r.times && l.times > 0 && l.bits == bits-1 && r.bits == bits-1 {
		return b.intern(trie{first: first, bits: bits, times: l.times})
	}
	return b.intern(trie{first: first, bits: bits, left: h[0], right: h[1]})
}

// union returns the sum of two multisets: multiplicities add, up to often.
func (b *multisets) union(x, y multiset) multiset {
	if x == 0 || y == 0 {
		return x + y
	}
	t, u := b.nodes[x], b.nodes[y]
	if t.bits < u.bits {
		x, t, u, y = y, u, t, x
	}
	switch {
	case !t.has(u.first): // disjoint ranges: children of the smallest range that has both
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

// each visits the numbers of a multiset in ascending order, with their multiplicities. It stops and
// returns false when visit does.
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
