package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// Reduce_scatters that add up whole vectors, in scratch, and then keep or distribute the blocks.

// wholeVectors returns a plan with scratch for a vector, cut as the input, and what a rank does.
func wholeVectors(lane func(*Lane)) func(*schedule.Plan, func(string) string) error {
	return func(p *schedule.Plan, _ func(string) string) error {
		spec := p.Spec
		size := func(_, block int) int64 {
			if spec.Splits != nil {
				return spec.Splits[0][block]
			}
			return spec.Count
		}
		p.Chunks, p.Channels, p.Slices, p.Scratch = 1, 1, 1, spec.Ranks
		vector := sizes(1, spec.Ranks, size)
		p.Cuts = &[3]schedule.Cut{schedule.Input: vector, schedule.Scratch: vector}
		p.Lane = func(l *schedule.Lane) { lane(&Lane{l, spec}) }
		return nil
	}
}

// Reduce-then-scatter: a binomial reduce to rank 0, then a binomial scatter of the sums.
//
//	p = 4:  1→0 3→2 │ 2→0 ║ 0→2: 2 3 │ 0→1 2→3
//
// MPICH; Open MPI, reduce_scatter_intra_nonoverlapping.
var reduceThenScatter = Algorithm{
	Name:    "reduce-then-scatter",
	Kinds:   []collective.Kind{collective.ReduceScatter, collective.ReduceScatterV},
	About:   "a binomial reduce to rank 0, then a binomial scatter of the sums",
	When:    "a baseline; operators that do not commute",
	Source:  "Open MPI reduce_scatter non-overlapping",
	Formula: "2·k·α + (k+(p−1)/p)·n·β + k·n·γ",
	Plan: wholeVectors(func(l *Lane) {
		v, p, k := l.Rank, l.Ranks, ceilLog2(l.Ranks)
		low := lowestBit(v, p)
		sum, has := l.Scratch(0).Blocks(p), l.In(0).Blocks(p)
		for d := 1; d < low && v+d < p; d *= 2 {
			l.Round(floorLog2(d))
			if v == 0 && 2*d >= p {
				l.Completes()
			}
			l.Combine([]schedule.Region{sum}, nil, l.Local(has), l.From(v+d))
			has = sum
		}
		if v > 0 {
			l.Round(floorLog2(low))
			l.Send(v-low, has)
			l.Round(2*k - 1 - floorLog2(low))
			l.Recv(v-low, l.Scratch(v).Blocks(min(low, p-v)))
		}
		for d := low / 2; d > 0; d /= 2 {
			if v+d < p {
				l.Round(2*k - 1 - floorLog2(d))
				l.Send(v+d, l.Scratch(v+d).Blocks(min(d, p-v-d)))
			}
		}
		l.Copy(l.Out(0), l.Scratch(v))
	}),
	Cost: func(p, _ int) Cost {
		r := append([]Round{{Times: ceilLog2(p), Blocks: p, Sums: 1}}, halvings(p)...)
		return rounds(r...).atMost(!powerOf2(p))
	},
}

// Recursive doubling reduce_scatter: partners at distance 1, 2, 4, … exchange whole vectors, and
// add; each keeps its block. If the ranks are no power of two, neighbours fold first.
//
//	p = 6:   0→1 2→3 │ 1↔3 4↔5 │ 1↔4 3↔5 │ 1→0 3→2, a block each
//
// MPICH, reduce_scatter_intra_recursive_doubling, which leaves out what is not needed any more.
var recursiveDoublingReduceScatter = Algorithm{
	Name:    "recursive-doubling",
	Kinds:   []collective.Kind{collective.ReduceScatter, collective.ReduceScatterV},
	About:   "partners at distance 1, 2, 4, … exchange whole vectors, and add; each keeps its block",
	When:    "tiny vectors and operators that do not commute: messages need no rearrangement",
	Source:  "MPICH reduce_scatter recursive doubling",
	Formula: "(k+f)·α + (k+f/p)·n·β + k·n·γ",
	Plan: wholeVectors(func(l *Lane) {
		r, p, f := l.Rank, l.Ranks, foldOf(l.Ranks)
		me, last := f.number(r), floorLog2(f.q)+1
		sum, has := l.Scratch(0).Blocks(p), l.In(0).Blocks(p)
		if me < 0 {
			l.Send(r+1, has)
			l.Round(last)
			l.Recv(r+1, l.Out(0))
			return
		}
		if f.paired(me) {
			l.Combine([]schedule.Region{sum}, nil, l.From(r-1), l.Local(has))
			has = sum
		}
		l.Round(min(f.rest, 1))
		for d := 1; d < f.q; d *= 2 {
			with := f.rank(me ^ d)
			l.Send(with, has)
			sources := []schedule.Source{l.Local(has), l.From(with)}
			if with < r {
				sources[0], sources[1] = sources[1], sources[0]
			}
			if 2*d == f.q {
				l.Completes()
			}
			l.Combine([]schedule.Region{sum}, nil, sources...)
			has = sum
		}
		if f.paired(me) {
			l.Send(r-1, l.Scratch(r-1))
		}
		l.Copy(l.Out(0), l.Scratch(r))
	}),
	Cost: func(p, _ int) Cost {
		k, folds := floorLog2(p), min(foldOf(p).rest, 1)
		return rounds(Round{Times: k + folds, Blocks: p, Sums: 1},
			Round{Times: folds, Blocks: 1}).atMost(folds > 0)
	},
}
