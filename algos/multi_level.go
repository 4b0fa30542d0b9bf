package algos

import (
	"slices"

	"collsim/collective"
	"collsim/schedule"
)

// Multi-level collectives, for machines of nested groups: GPUs of a node, nodes of a rack, racks. A
// reduce_scatter goes along rings inside the innermost groups, then along those who have the same
// place in them, and so on outwards, on ever smaller parts; an all_gather goes the other way.
//
//	levels 2x2x2:   0↔1 2↔3 … │ 0↔2 1↔3 … │ 0↔4 1↔5 … ║ 0↔4 … │ 0↔2 … │ 0↔1 …
//
// Cho, Finkler, Kung and Hunter, "BlueConnect: decomposing all-reduce for deep learning on
// heterogeneous network hierarchy", MLSys 2019.

// levelsParam is the parameter of algorithms of many levels.
var levelsParam = []Param{{Name: "levels", Value: balanced,
	About: "the sizes of the levels as in 8x4x2, the first that of neighbours in rank order; " +
		"balanced is the prime factors of the number of ranks"}}

// bindLevels completes an algorithm with what a rank of a lattice does, and its rounds.
func bindLevels(lane func(*Lane, *bucket), cost func(lattice) []Round) func(Algorithm, int,
	func(string) string) (Algorithm, error) {
	return func(a Algorithm, ranks int, param func(string) string) (Algorithm, error) {
		levels, err := latticeOf("levels", param("levels"), ranks, primes(ranks))
		if err != nil {
			return a, err
		}
		a.Group = func(int) schedule.Group { return groupOf(levels) }
		a.Lane = func(l *Lane) { lane(l, &bucket{lattice: levels, step: 1, relative: true}) }
		a.Cost = func(_, _ int) Cost { return rounds(cost(levels)...) }
		return a, nil
	}
}

// groupOf returns the group of the translations of a lattice.
func groupOf(s lattice) (g schedule.Group) {
	for _, size := range s {
		if size > 1 {
			g = append(schedule.Group{int32(size)}, g...)
		}
	}
	return g
}

// levelRounds lists the rounds of a reduce_scatter on a lattice.
func levelRounds(s lattice, sums int) (list []Round) {
	p := s.stride(len(s))
	for i, size := range s {
		list = append(list, Round{Times: size - 1, Blocks: p / s.stride(i+1), Sums: sums})
	}
	return list
}

// backLevelRounds lists the rounds of an all_gather on a lattice.
func backLevelRounds(s lattice) []Round {
	list := levelRounds(s, 0)
	slices.Reverse(list)
	return list
}

// Multi-level all_reduce.
var multiLevelAllReduce = Algorithm{
	Name:   "multi-level",
	Kinds:  []collective.Kind{collective.AllReduce},
	About:  "reduce_scatter level by level outwards, then all_gather level by level inwards: rings",
	When:   "networks of several levels, each slower than the one inside of it",
	Source: "Cho et al. 2019 (BlueConnect)",
	Params: levelsParam,
	Chunks: perRank,
	Bind: bindLevels(func(l *Lane, b *bucket) { b.scatter(l); b.gather(l) },
		func(s lattice) []Round { return append(levelRounds(s, 1), backLevelRounds(s)...) }),
}

// Multi-level all_gather.
var multiLevelAllGather = Algorithm{
	Name:   "multi-level",
	Kinds:  []collective.Kind{collective.AllGather, collective.AllGatherV},
	About:  "rings across the outermost groups first, then level by level inwards",
	When:   "networks of several levels: the fewest bytes go where the network is slowest",
	Source: "Cho et al. 2019 (BlueConnect)",
	Params: levelsParam,
	Bind: bindLevels(func(l *Lane, b *bucket) { l.Keep(l.Chunk(l.Rank)); b.gather(l) },
		backLevelRounds),
}

// Multi-level reduce_scatter: the all_gather backwards.
var multiLevelReduceScatter = Algorithm{
	Name:   "multi-level",
	Kinds:  []collective.Kind{collective.ReduceScatter, collective.ReduceScatterV},
	About:  "rings inside the innermost groups first, then level by level outwards",
	When:   "networks of several levels: the fewest bytes go where the network is slowest",
	Source: "Cho et al. 2019 (BlueConnect)",
	Params: levelsParam,
	Of:     &multiLevelAllGather,
}
