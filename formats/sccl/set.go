package sccl

import (
	"math/bits"
	"slices"
)

// set is a set of chunks of one address, by their number there.
type set []uint64

func (s set) holds(o set) bool {
	for i := range o {
		if i >= len(s) && o[i] != 0 || i < len(s) && o[i]&^s[i] != 0 {
			return false
		}
	}
	return true
}

func (s set) meets(o set) bool {
	for i := range min(len(s), len(o)) {
		if s[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

func (s set) with(o set) set {
	if len(s) < len(o) {
		s, o = o, s
	}
	all := slices.Clone(s)
	for i := range o {
		all[i] |= o[i]
	}
	return all
}

func (s set) add(i int) set {
	for len(s) <= i/64 {
		s = append(s, 0)
	}
	s[i/64] |= 1 << (i % 64)
	return s
}

func (s set) count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// first returns the lowest member; of an empty set a number above all.
func (s set) first() int {
	for i, w := range s {
		if w != 0 {
			return 64*i + bits.TrailingZeros64(w)
		}
	}
	return 1 << 30
}

func (s set) without(o set) set {
	rest := slices.Clone(s)
	for i := range min(len(s), len(o)) {
		rest[i] &^= o[i]
	}
	return rest
}
