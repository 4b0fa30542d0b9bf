package reference

import (
	"math"

	"collsim/collective"
	"collsim/schedule"
)

// heights tracks how often the contents of memories and messages have been rounded since they were
// input: the height of the tree of additions. For blocks that one step takes together the largest
// height counts. So it is an upper bound, exact where all blocks are alike.
type heights struct {
	needed bool // sums of floats are added up
	most   uint16
	value  uint16
	aside  uint16
	sent   []uint16      // by handle of a message
	parts  [3][][]uint16 // by memory, rank and number of the part; omitted ends are 0
}

// newHeights returns heights of 0.
func newHeights(s *schedule.Schedule) heights {
	h := heights{needed: rounds(&s.Spec) && s.Spec.Op != collective.Prod}
	if h.needed {
		for b := range h.parts {
			h.parts[b] = make([][]uint16, s.Spec.Ranks)
		}
	}
	return h
}

// rounds reports whether a collective's operator rounds.
func rounds(spec *collective.Spec) bool {
	return spec.Op != 0 && spec.Op != collective.Min && spec.Op != collective.Max &&
		spec.Type.IsFloat() // which and, or and xor have not
}

// settle drops all but the result.
func (h *heights) settle() { *h = heights{needed: h.needed, most: h.most} }

// follow applies a move.
func (h *heights) follow(m *move, c *compiler, widens bool) {
	if !h.needed {
		return
	}
	switch m.kind {
	case take:
		h.value = h.sent[m.handle]
	case load:
		h.value = h.of(m, c)
	case foldIn:
		h.over(h.sent[m.handle], !widens)
	case fold:
		h.over(h.of(m, c), !widens)
	case setAside:
		h.aside = h.value
	case foldAside:
		h.over(h.aside, !widens)
	case narrow:
		h.over(0, true)
	case store:
		h.store(m, c)
	case give, giveAway:
		for int(m.handle) >= len(h.sent) {
			h.sent = append(h.sent, 0)
		}
		h.sent[m.handle] = h.value
	}
}

// over combines the value with an operand, and rounds it.
func (h *heights) over(operand uint16, rounds bool) {
	h.value = max(h.value, operand)
	if rounds && h.value < math.MaxUint16 {
		h.value++
	}
	h.most = max(h.most, h.value)
}

// of returns the height of a region.
func (h *heights) of(m *move, c *compiler) uint16 {
	if !c.stored && m.memory == schedule.Input {
		return 0
	}
	most, list := uint16(0), h.parts[m.memory][m.rank]
	for _, p := range c.list[m.from:m.to] {
		if p.at < int64(len(list)) {
			most = max(most, list[p.at])
		}
	}
	return most
}

// store sets the height of a region.
func (h *heights) store(m *move, c *compiler) {
	list := h.parts[m.memory][m.rank]
	for _, p := range c.list[m.from:m.to] {
		for p.at >= int64(len(list)) {
			list = append(list, 0)
		}
		list[p.at] = h.value
	}
	h.parts[m.memory][m.rank] = list
}
