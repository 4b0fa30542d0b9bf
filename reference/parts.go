package reference

import "slices"

// A partition is the parts of a memory, numbered as they were first named.
type partition struct {
	starts, lengths []int64
	numbers         map[int64]int64 // of parts, by start
	clash           bool            // a part was named with two lengths
}

// number returns the number of a part, a new one if it is not known. guess is tried first, since
// adjacent parts are mostly named one after the other.
func (p *partition) number(start, length, guess int64) int64 {
	if guess < int64(len(p.starts)) && p.starts[guess] == start && p.lengths[guess] == length {
		return guess
	}
	i, known := p.numbers[start]
	if !known {
		if p.numbers == nil {
			p.numbers = map[int64]int64{}
		}
		i = int64(len(p.starts))
		p.numbers[start] = i
		p.starts, p.lengths = append(p.starts, start), append(p.lengths, length)
	} else if p.lengths[i] != length && !p.clash {
		p.clash = true
	}
	return i
}

// settle adds parts for the gaps between parts and up to total, if these matter, and reports
// whether the parts are disjoint.
func (p *partition) settle(total int64, gapsMatter bool) bool {
	order := make([]int, len(p.starts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if p.starts[a] < p.starts[b] {
			return -1
		}
		return 1
	})
	end := int64(0)
	for _, i := range order {
		if p.clash || p.starts[i] < end {
			return false
		}
		if gapsMatter {
			p.gap(end, p.starts[i])
		}
		end = p.starts[i] + p.lengths[i]
	}
	if gapsMatter {
		p.gap(end, total)
	}
	return true
}

// gap adds a part for a gap, if it is not empty.
func (p *partition) gap(from, to int64) {
	if from < to {
		p.starts, p.lengths = append(p.starts, from), append(p.lengths, to-from)
	}
}

// longest returns the length of the longest part.
func (p *partition) longest() int64 {
	most := int64(0)
	for _, n := range p.lengths {
		most = max(most, n)
	}
	return most
}
