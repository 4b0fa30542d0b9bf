package random

import (
	"math/rand/v2"

	"github.com/leanovate/gopter"
)

// each shrinks to the items of a list, in its order.
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

// source makes a source of random numbers from gopter's parameters.
func source(p *gopter.GenParameters) *rand.Rand {
	return rand.New(rand.NewPCG(p.NextUint64(), 1))
}

// generator makes a generator of values that draw draws from a source.
func generator[T any](draw func(*rand.Rand) T, shrink gopter.Shrinker) gopter.Gen {
	return func(p *gopter.GenParameters) *gopter.GenResult {
		return gopter.NewGenResult(draw(source(p)), shrink)
	}
}

// ranksOf returns the ranks 0 … n−1.
func ranksOf(n int) []int {
	list := make([]int, n)
	for rank := range list {
		list[rank] = rank
	}
	return list
}
