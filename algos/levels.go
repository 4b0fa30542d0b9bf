package algos

import (
	"fmt"
	"strconv"
	"strings"

	"collsim/schedule"
)

// A lattice numbers ranks by several coordinates, as of nested groups or of a torus: the first
// coordinate changes from each rank to the next.
type lattice []int

// latticeOf reads the sizes of levels, as in 8x4x2: the first is that of neighbours. Balanced is
// otherwise. For one rank, any sizes are valid.
func latticeOf(name, text string, ranks int, otherwise lattice) (lattice, error) {
	if text == balanced {
		return otherwise, nil
	}
	var sizes lattice
	product := 1
	for _, word := range strings.Split(text, "x") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > 1<<30/product {
			return nil, fmt.Errorf("%s = %.40q: sizes as in 8x4, or %s, are expected", name, text,
				balanced)
		}
		sizes, product = append(sizes, n), product*n
	}
	if ranks == 1 {
		return lattice{1}, nil
	}
	if product != ranks {
		return nil, fmt.Errorf("%s = %q has %d ranks; there are %d", name, text, product, ranks)
	}
	return sizes, nil
}

// nearSquare returns two dimensions that are as near to equal as the number of ranks allows.
func nearSquare(ranks int) lattice {
	side := divisor(ranks, func(d int) bool { return d*d <= ranks })
	return lattice{ranks / side, side}
}

// primes returns a number's prime factors in ascending order.
func primes(n int) (list lattice) {
	for d := 2; d*d <= n; d++ {
		for ; n%d == 0; n /= d {
			list = append(list, d)
		}
	}
	if n > 1 || len(list) == 0 {
		list = append(list, n)
	}
	return list
}

// stride returns how far ranks are apart that differ by one in a dimension.
func (s lattice) stride(dimension int) int {
	n := 1
	for _, size := range s[:dimension] {
		n *= size
	}
	return n
}

// at returns the coordinate of a rank in a dimension.
func (s lattice) at(rank, dimension int) int { return rank / s.stride(dimension) % s[dimension] }

// moved returns the rank that is so many steps from another along a dimension, round its ring.
func (s lattice) moved(rank, dimension, steps int) int {
	at := s.at(rank, dimension)
	return rank + (mod(at+steps, s[dimension])-at)*s.stride(dimension)
}

// plus returns the rank whose coordinates are the sums of two ranks', round each ring.
func (s lattice) plus(a, b int) int {
	for i := range s {
		a = s.moved(a, i, s.at(b, i))
	}
	return a
}

// A bucket is an all_reduce on a lattice: rings along the dimensions, one after the other, from the
// first on and round, and back. It has a chunk for every rank, from base on.
type bucket struct {
	lattice
	first, step, base int // step is +1 or −1
	// relative lists chunks from the rank's own on, so that every rank does the same relative to
	// itself. The first dimension is 0, then, and the base.
	relative bool
}

// part returns the chunks that a rank works on in a ring along the i-th of the dimensions: those of
// the ranks that have its coordinates in the dimensions up to this one.
func (b *bucket) part(l *Lane, rank, i int) schedule.Region {
	end, p := b.first+i+1, l.Ranks
	from, d := b.stride(b.first), len(b.lattice)
	if end > d { // those from this one up to the first are free
		period := b.stride(end - d)
		at := rank - rank/period%(from/period)*period
		return l.Chunk(b.base+at).Every(period, from/period)
	}
	period := b.stride(end) // those from this one on, and those before the first, are free
	at := rank % period
	r := l.Chunk(b.base+at-at%from).Blocks(from).Every(period, p/period)
	for n := 0; b.relative && rank >= period && n < p; n += period {
		r.List = append(r.List, int32(b.plus(at+n, rank-at)))
	}
	return r
}

// scatter leaves a rank with the sum of its own chunk.
func (b *bucket) scatter(l *Lane) {
	d, done := len(b.lattice), 1
	for i := range d {
		along := (b.first + i) % d
		at := func(steps int) int { return b.moved(l.Rank, along, steps*b.step) }
		size := b.lattice[along]
		if done *= size; size == 1 {
			continue
		}
		l.Send(at(1), b.part(l, at(-1), i))
		for n := 2; n < size; n++ {
			l.ReduceSend(at(-1), at(1), b.part(l, at(-n), i))
		}
		if done == l.Ranks {
			l.Completes()
		}
		l.Reduce(at(-1), b.part(l, l.Rank, i))
	}
}

// gather distributes the chunks, in rings along the dimensions in the opposite order.
func (b *bucket) gather(l *Lane) {
	for d, i := len(b.lattice), len(b.lattice)-1; i >= 0; i-- {
		along := (b.first + i) % d
		at := func(steps int) int { return b.moved(l.Rank, along, steps*b.step) }
		size := b.lattice[along]
		if size == 1 {
			continue
		}
		l.Send(at(1), b.part(l, l.Rank, i))
		for n := 1; n < size-1; n++ {
			l.CopySend(at(-1), at(1), b.part(l, at(-n), i))
		}
		l.Recv(at(-1), b.part(l, at(1), i))
	}
}
