package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// Rabenseifner's reduce: a reduce_scatter by vector halving and distance doubling, then a binomial
// gather at the root. Ranks are counted from the root; those from q on, the largest power of two,
// first hand their vectors to those q below. Sums are kept in scratch until the root has them.
//
//	p = 4:  0↔1 2↔3 │ 0↔2 1↔3 ║ 2→0 3→1 │ 1→0
//
// Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
// IJHPCA 19(1), 2005, §4.5.
var rabenseifnerReduce = Algorithm{
	Name:    "rabenseifner",
	Kinds:   []collective.Kind{collective.Reduce},
	About:   "partners at distance 1, 2, 4, … exchange halves, and add; then a binomial gather",
	When:    "long vectors at powers of two: few rounds, and all ranks add",
	Source:  "Thakur, Rabenseifner and Gropp 2005, §4.5; Open MPI, MPICH",
	Formula: "(2·k−f)·α + (2·(q−1)/q+f)·n·β + ((q−1)/q+f)·n·γ",
	Plan: func(p *schedule.Plan, _ func(string) string) error {
		p.Chunks, p.Channels, p.Slices = foldOf(p.Spec.Ranks).q, 1, 1
		p.Scratch = p.Chunks
		ends, n := make([]int64, p.Chunks), int64(0)
		for i := range ends {
			n += evenPart(p.Spec.Count, int64(p.Chunks), int64(i))
			ends[i] = n
		}
		cut := schedule.Cut{{Axis: schedule.Block, Split: schedule.Table, Ends: [][]int64{ends}}}
		p.Cuts = &[3]schedule.Cut{cut, cut, cut} // scratch, which may be longer, is cut as the vector
		p.Lane = func(l *schedule.Lane) { halveAndCollect(&Lane{l, p.Spec}) }
		return nil
	},
	Cost: func(p, _ int) Cost {
		f := foldOf(p)
		r := append([]Round{{Times: min(f.rest, 1), Blocks: f.q, Sums: 1}}, halvingRounds(f.q, 1)...)
		return rounds(append(r, exchangeRounds(f.q, 0)...)...).atMost(f.rest > 0)
	},
}

// in returns the same blocks of another buffer.
func in(b schedule.Buffer, r schedule.Region) schedule.Region {
	r.Buffer = b
	return r
}

// halveAndCollect writes what a rank does.
func halveAndCollect(l *Lane) {
	v, f := mod(l.Rank-l.Root, l.Ranks), foldOf(l.Ranks)
	if v >= f.q {
		l.Send(l.Rank-f.q, l.In(0).Blocks(f.q))
		return
	}
	has := schedule.Input // where this rank's part of the sum is
	if v < f.rest {
		l.Combine([]schedule.Region{l.Scratch(0).Blocks(f.q)}, nil,
			l.Local(l.In(0).Blocks(f.q)), l.From(l.Rank+f.q))
		has = schedule.Scratch
	}
	l.Round(min(f.rest, 1))
	for d := 1; d < f.q; d *= 2 {
		with := l.Root + (v ^ d)
		give, keep := halfOf(l, (v^d)%(2*d), 2*d, f.q), halfOf(l, v%(2*d), 2*d, f.q)
		l.Send(with, in(has, give))
		sources := []schedule.Source{l.Local(in(has, keep)), l.From(with)}
		if v&d != 0 {
			sources[0], sources[1] = sources[1], sources[0]
		}
		if 2*d == f.q {
			l.Completes()
		}
		l.Combine([]schedule.Region{in(schedule.Scratch, keep)}, nil, sources...)
		has = schedule.Scratch
	}
	collect(l, v, f)
}

// collect gathers the sums at the root: what a rank has doubles, until it sends it on.
func collect(l *Lane, v int, f fold) {
	round, into := min(f.rest, 1)+floorLog2(f.q), schedule.Scratch
	if v == 0 {
		into = schedule.Output
		l.Copy(l.Out(0), l.Scratch(0))
	}
	for d := f.q / 2; d > 0; d /= 2 {
		l.Round(round)
		if v >= d {
			l.Send(l.Rank-d, in(into, halfOf(l, v, 2*d, f.q)))
			return
		}
		l.Recv(l.Rank+d, in(into, halfOf(l, v+d, 2*d, f.q)))
		round++
	}
}
