package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// Recursive multiplying: recursive doubling with a radix. In round i the ranks whose numbers differ
// in digit i alone all exchange what they have, so that p ranks take ⌈log p⌉ rounds to the base
// radix. Of other numbers of ranks, neighbours fold to a power of the radix first.
//
//	p = 9, radix 3:   (0 1 2) (3 4 5) (6 7 8) │ (0 3 6) (1 4 7) (2 5 8)
//
// MPICH, src/mpi/coll: allreduce_intra_recursive_multiplying, allgather_intra_recexch.

// Recursive multiplying all_reduce. All add in rank order.
var recursiveMultiplyingAllReduce = Algorithm{
	Name:   "recursive-multiplying",
	Kinds:  []collective.Kind{collective.AllReduce},
	About:  "ranks whose numbers differ in one digit exchange all they have, digit by digit",
	When:   "short vectors where a rank sends several messages as fast as one",
	Source: "MPICH allreduce recursive multiplying; UCC knomial",
	Params: radixParam("how many ranks exchange with each other, 2 or more"),
	Bind: func(a Algorithm, ranks int, param func(string) string) (Algorithm, error) {
		radix, err := radixOf(param("radix"))
		f := radixFoldOf(ranks, max(radix, 2))
		a.Even = f.q == ranks
		a.Lane = func(l *Lane) { foldRadix(l, f, f.digits, multiplyAll) }
		a.Cost = func(p, _ int) Cost {
			return rounds(Round{Times: f.folded(), Blocks: 1, Sums: 1},
				Round{Times: f.digits, Blocks: 1, Sums: f.radix - 1, Fan: f.radix - 1},
				Round{Times: min(f.folded(), 1), Blocks: 1, Fan: f.folded()}).atMost(f.q < p)
		}
		return a, err
	},
}

// multiplyAll writes what the ranks do that are left after a fold.
func multiplyAll(l *Lane, f radixFold, run, round int) {
	for d := 1; d < f.q; d *= f.radix {
		var sources []schedule.Source
		for _, other := range f.members(run, d) {
			if other == run {
				sources = append(sources, l.Local(l.All()))
			} else {
				sources = append(sources, l.From(f.first(other)))
			}
		}
		l.Round(round)
		l.Combine(nil, f.others(run, d), l.Local(l.All()))
		if d*f.radix == f.q {
			l.Completes()
		}
		l.Round(round)
		l.Combine([]schedule.Region{l.All()}, nil, sources...)
		round++
	}
}

// Recursive multiplying all_gather. What a rank has is always a run of blocks.
var recursiveMultiplyingAllGather = Algorithm{
	Name:   "recursive-multiplying",
	Kinds:  []collective.Kind{collective.AllGather, collective.AllGatherV},
	About:  "ranks whose numbers differ in one digit exchange all they have, digit by digit",
	When:   "short blocks where a rank sends several messages as fast as one, at powers of the radix",
	Source: "MPICH allgather recexch; UCC knomial",
	Params: radixParam("how many ranks exchange with each other, 2 or more"),
	Bind: func(a Algorithm, ranks int, param func(string) string) (Algorithm, error) {
		radix, err := radixOf(param("radix"))
		f := radixFoldOf(ranks, max(radix, 2))
		a.Even = f.q == ranks
		a.Lane = func(l *Lane) { multiplyBlocks(l, f) }
		a.Cost = func(p, _ int) Cost { return rounds(f.gatherRounds()...).atMost(f.q < p) }
		return a, err
	},
}

// multiplyBlocks writes the all_gather.
func multiplyBlocks(l *Lane, f radixFold) {
	run := f.run(l.Rank)
	first, end := f.first(run), f.first(run+1)
	blocks := func(run, n int) schedule.Region {
		at := f.first(run)
		return l.Chunk(at).Blocks(f.first(run+n) - at)
	}
	if l.Keep(l.Chunk(l.Rank)); l.Rank > first {
		l.Round(0)
		l.Send(first, l.Chunk(l.Rank))
		l.Round(min(f.folded(), 1) + f.digits)
		l.Recv(first, l.Chunk(0).Blocks(l.Ranks))
		return
	}
	for r := first + 1; r < end; r++ {
		l.Round(0)
		l.Recv(r, l.Chunk(r))
	}
	for i, d := 0, 1; d < f.q; i, d = i+1, d*f.radix {
		l.Round(min(f.folded(), 1) + i)
		l.Combine(nil, f.others(run, d), l.Local(blocks(run-run%d, d)))
		for _, other := range f.members(run, d) {
			if other != run {
				l.Round(min(f.folded(), 1) + i)
				l.Recv(f.first(other), blocks(other-other%d, d))
			}
		}
	}
	if to := span(first+1, end); len(to) > 0 {
		l.Round(min(f.folded(), 1) + f.digits)
		l.Combine(nil, to, l.Local(l.Chunk(0).Blocks(l.Ranks)))
	}
}

// gatherRounds lists the rounds of the all_gather.
func (f radixFold) gatherRounds() (list []Round) {
	if f.folded() > 0 {
		list = append(list, Round{Times: 1, Blocks: 1, Fan: f.folded()})
	}
	for d := 1; d < f.q; d *= f.radix {
		list = append(list, Round{Times: 1, Blocks: f.first(d), Fan: f.radix - 1})
	}
	if f.folded() > 0 {
		list = append(list, Round{Times: 1, Blocks: f.ranks, Fan: f.folded()})
	}
	return list
}
