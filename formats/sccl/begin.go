package sccl

import (
	"fmt"

	"collsim/formats/internal/transfers"
	"collsim/schedule"
)

// begin places every chunk at its initial ranks, and assigns places in the output.
func (m *mover) begin() error {
	for i, c := range m.a.coll.chunks {
		m.at[c.addr] = append(m.at[c.addr], i)
	}
	if !m.known() {
		// msccl-tools writes the collective before it is divided into the instance's chunks, TACCL
		// after.
		if m.divisor = int(m.a.divisor); !m.known() {
			return m.wrong(0, "the maps have addresses that no chunk of the collective has")
		}
	}
	if err := m.place(); err != nil {
		return err
	}
	begins := map[spot]bool{}
	err := m.spread("input_map", func(c *chunk) []int { return c.pre },
		func(at spot, number int) bool {
			h := m.holds[at]
			if h == nil {
				return false
			}
			m.words -= len(h.chunks)
			h.chunks = h.chunks.add(number)
			m.words += len(h.chunks)
			begins[at] = true
			return m.words <= maxWords
		})
	if err != nil {
		return err
	}
	ends := map[spot]bool{}
	err = m.spread("output_map", func(c *chunk) []int { return c.post },
		func(at spot, _ int) bool {
			_, ok := m.homes[at]
			ends[at] = true
			return ok
		})
	if err != nil {
		return err
	}
	if err := m.mapped("input_map", m.a.inputs, begins, "begins"); err != nil {
		return err
	}
	return m.mapped("output_map", m.a.outputs, ends, "ends")
}

// mapped checks that a map has only addresses at which a chunk begins, or ends.
func (m *mover) mapped(name string, lists map[int][]int, spots map[spot]bool, what string) error {
	for rank := range m.a.coll.nodes {
		for _, addr := range lists[rank] {
			if !spots[spot{rank, addr}] {
				return m.wrong(0, "%s gives rank %d address %d, where no chunk %s", name, rank, addr, what)
			}
		}
	}
	return nil
}

// place assigns a block of the input or output buffer to each address in the file's input_map and
// output_map.
func (m *mover) place() error {
	for rank := range m.a.coll.nodes {
		for i, addr := range m.a.inputs[rank] {
			if err := m.classify(addr, i); err != nil {
				return err
			}
			m.hold(spot{rank, addr}).at = transfers.At(schedule.Input, i)
		}
		for i, addr := range m.a.outputs[rank] {
			if err := m.classify(addr, i); err != nil {
				return err
			}
			m.homes[spot{rank, addr}] = transfers.At(schedule.Output, i)
		}
	}
	return nil
}

// known reports whether the maps have only addresses of chunks.
func (m *mover) known() bool {
	for rank := range m.a.coll.nodes {
		for _, list := range [][]int{m.a.inputs[rank], m.a.outputs[rank]} {
			for _, addr := range list {
				if m.at[addr/m.divisor] == nil {
					return false
				}
			}
		}
	}
	return true
}

// classify records the index of an address in its block: chunks of one block may differ in size.
func (m *mover) classify(addr, i int) error {
	class := i % m.l.parts
	if known, ok := m.class[addr]; ok && known != class && m.l.count%int64(m.l.parts) != 0 {
		return m.wrong(0, "address %d is chunk %d of a block here and chunk %d there: a block of %d "+
			"elements would have to divide by %d", addr, known, class, m.l.count, m.l.parts)
	}
	m.class[addr] = class
	return nil
}

// spread calls f for every rank of every chunk, at all its addresses, with the number of the chunk
// among those of the address. It stops when f returns false.
func (m *mover) spread(
	name string, ranks func(*chunk) []int, f func(at spot, number int) bool,
) error {
	numbers := map[int]int{}
	for i := range m.a.coll.chunks {
		c := &m.a.coll.chunks[i]
		number := numbers[c.addr]
		numbers[c.addr]++
		for _, rank := range ranks(c) {
			for j := range m.divisor {
				if addr := c.addr*m.divisor + j; !f(spot{rank, addr}, number) {
					return m.wrong(0, "%s has no address %d of rank %d, which chunk %d needs, or there are "+
						"too many", name, addr, rank, i)
				}
			}
		}
	}
	return nil
}

// copies returns the moves that copy a rank's initial chunks to its output, unless they were
// replaced.
func (m *mover) copies() (moves []transfers.Move) {
	spec := &m.l.spec
	for rank := range m.a.coll.nodes {
		in, out := spec.Place(rank)
		for _, addr := range m.a.outputs[rank] {
			h, target := m.holds[spot{rank, addr}], m.homes[spot{rank, addr}]
			if h == nil || h.at.Run == 0 || h.at == target {
				continue
			}
			if spec.InPlace && in+m.l.start(int(h.at.Block)) == out+m.l.start(int(target.Block)) {
				continue
			}
			moves = append(moves, transfers.Move{From: int32(rank), To: int32(rank), Source: h.at,
				Target: target, Item: -1})
		}
	}
	return moves
}

// String returns such as "address 3 of rank 2".
func (s spot) String() string { return fmt.Sprintf("address %d of rank %d", s.addr, s.rank) }
