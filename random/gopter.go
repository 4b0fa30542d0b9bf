package random

import (
	"math/rand/v2"

	"github.com/leanovate/gopter"
)

// each shrinks to what a list has, in its order.
func each[T any](list []T) gopter.Shrink {
	return func() (any, bool) {
		if len(list) == 0 {
			var none T
			return none, false
		}
		next := list[0]
		list = list[1:]
		return next, true
	}
}

// source is one of random numbers, for values that are not drawn by gopter's own generators.
func source(p *gopter.GenParameters) *rand.Rand {
	return rand.New(rand.NewPCG(p.NextUint64(), 1))
}

// generator generates what is drawn from a source.
func generator[T any](draw func(*rand.Rand) T, shrink gopter.Shrinker) gopter.Gen {
	return func(p *gopter.GenParameters) *gopter.GenResult {
		return gopter.NewGenResult(draw(source(p)), shrink)
	}
}

// ranksOf are the numbers of so many ranks.
func ranksOf(n int) []int {
	list := make([]int, n)
	for rank := range list {
		list[rank] = rank
	}
	return list
}
