package schedule

import "fmt"

// Group acts on the ranks by translation. A rank is written in mixed radix with these digits, the
// last varying fastest, and ranks add digit by digit, each modulo its radix: [n] is the cyclic
// group of n ranks, [2 2 2] the exclusive or of eight. Nil is the trivial group: a program a rank.
type Group []int32

// Order is the number of ranks that the group acts on.
func (g Group) Order() int {
	n := 1
	for _, d := range g {
		n *= int(d)
	}
	return n
}

// Add is a translated by b.
func (g Group) Add(a, b int32) int32 {
	if len(g) == 1 {
		if a += b; a >= g[0] {
			a -= g[0]
		}
		return a
	}
	sum, weight := int32(0), int32(1)
	for i := len(g) - 1; i >= 0; i-- {
		d := g[i]
		sum += (a%d + b%d) % d * weight
		a, b, weight = a/d, b/d, weight*d
	}
	return sum
}

// Sub is the element that takes b to a.
func (g Group) Sub(a, b int32) int32 {
	if len(g) == 1 {
		if a -= b; a < 0 {
			a += g[0]
		}
		return a
	}
	rest, weight := int32(0), int32(1)
	for i := len(g) - 1; i >= 0; i-- {
		d := g[i]
		rest += (a%d + d - b%d) % d * weight
		a, b, weight = a/d, b/d, weight*d
	}
	return rest
}

// keeps reports whether a region, of as many blocks as ranks, has its shape from every rank: its
// blocks differ in the first digit alone, which is added to modulo its radix as they are.
func (g Group) keeps(r *Region) bool {
	return r.Run == 1 && r.Period%int32(g.Order()/int(g[0])) == 0
}

func (g Group) validate(ranks int) error {
	if g == nil {
		return nil
	}
	order := 1
	for _, d := range g {
		if d < 1 || int(d) > ranks {
			return fmt.Errorf("schedule: digit %d of the group is out of range", d)
		}
		if order *= int(d); order > ranks {
			break
		}
	}
	if len(g) == 0 || order != ranks {
		return fmt.Errorf("schedule: group %v acts on %d ranks, not on %d", []int32(g), order, ranks)
	}
	return nil
}
