package algos

import "collsim/collective"

// Collectives by leaders, for machines whose neighbours in rank order are closer together: each
// group of inner ranks has one that talks to those of other groups.

// Leader all_reduce: a binomial reduce to the first rank of each group, recursive doubling among
// these, and a binomial broadcast inside the groups.
//
//	2 groups of 4:   1→0 3→2 5→4 7→6 │ 2→0 6→4 ║ 0↔4 ║ 0→2 4→6 │ 0→1 2→3 4→5 6→7
//
// Operands are in rank order. MPICH, allreduce smp; Open MPI, HAN; SMPI, allreduce smp-rdb.
var leaderAllReduce = Algorithm{
	Name:   "leader",
	Kinds:  []collective.Kind{collective.AllReduce},
	About:  "a reduce to a leader in each group, recursive doubling among leaders, a broadcast",
	When:   "short vectors on nodes that share one NIC: inner is the ranks of a node",
	Source: "MPICH allreduce smp; Open MPI HAN",
	Params: innerParam,
	Bind: func(a Algorithm, ranks int, param func(string) string) (Algorithm, error) {
		inner, err := innerRanks(ranks, param("inner"))
		if err != nil {
			return a, err
		}
		outer := ranks / inner
		f, k := foldOf(outer), ceilLog2(inner)
		across := floorLog2(f.q) + 2*min(f.rest, 1)
		a.Lane = func(l *Lane) {
			place := l.Rank % inner
			low := lowestBit(place, inner)
			for d := 1; d < low && place+d < inner; d *= 2 {
				if outer == 1 && 2*d >= inner {
					l.Completes()
				}
				l.Round(floorLog2(d))
				l.Accumulate(l.Rank+d, l.All())
			}
			if place > 0 {
				l.Round(floorLog2(low))
				l.Send(l.Rank-low, l.All())
				l.Round(2*k + across - 1 - floorLog2(low))
				l.Recv(l.Rank-low, l.All())
			} else if outer > 1 {
				l.Round(k)
				doubleAll(l, f, inner)
			}
			for d := low / 2; d > 0; d /= 2 {
				if place+d < inner {
					l.Round(2*k + across - 1 - floorLog2(d))
					l.Send(l.Rank+d, l.All())
				}
			}
		}
		a.Cost = func(_, _ int) Cost {
			sums, copies := k+across-min(f.rest, 1), k+min(f.rest, 1)
			return rounds(Round{Times: sums, Blocks: 1, Sums: 1}, Round{Times: copies, Blocks: 1}).
				atMost(!powerOf2(ranks))
		}
		return a, nil
	},
}

// doubleAll writes a recursive doubling all_reduce among every stride-th rank, in the rounds from
// the present one on.
func doubleAll(l *Lane, f fold, stride int) {
	me := f.number(l.Rank / stride)
	if me < 0 {
		l.Send(l.Rank+stride, l.All())
		l.Recv(l.Rank+stride, l.All())
		return
	}
	if f.paired(me) {
		if f.q == 1 {
			l.Completes()
		}
		l.Reduce(l.Rank-stride, l.All())
	}
	for d := 1; d < f.q; d *= 2 {
		partner := f.rank(me^d) * stride
		l.Send(partner, l.All())
		if 2*d == f.q {
			l.Completes()
		}
		l.ReduceRanked(partner, l.All())
	}
	if f.paired(me) {
		l.Send(l.Rank-stride, l.All())
	}
}

// Hierarchical broadcast: a binomial tree across the groups, among those who have the root's place
// in theirs, then one inside each group.
//
//	2 groups of 4, root 1:   1→5 ║ 1→3 5→7 │ 1→2 3→0 5→6 7→4
//
// MPICH, bcast smp; Open MPI, HAN; SMPI, bcast smp-binomial.
var hierarchicalBroadcast = Algorithm{
	Name:    "hierarchical",
	Kinds:   []collective.Kind{collective.Broadcast},
	About:   "a binomial tree across groups of ranks, then one inside each group",
	When:    "short vectors on many nodes: each message between nodes is sent once",
	Source:  "MPICH bcast smp; Open MPI HAN",
	Formula: "k·α + k·n·β",
	Params:  innerParam,
	Bind: func(a Algorithm, ranks int, param func(string) string) (Algorithm, error) {
		inner, err := innerRanks(ranks, param("inner"))
		if err != nil {
			return a, err
		}
		outer := ranks / inner
		across, inside := ceilLog2(outer), ceilLog2(inner)
		a.Lane = func(l *Lane) {
			group, place := mod(l.Rank/inner-l.Root/inner, outer), mod(l.Rank%inner-l.Root%inner, inner)
			at := func(g, i int) int { return (l.Root/inner+g)%outer*inner + (l.Root%inner+i)%inner }
			if group == 0 && place == 0 {
				l.Keep(l.All())
			}
			if place == 0 {
				sendDownBinomial(l, group, outer, 0, func(g int) int { return at(g, 0) })
			}
			sendDownBinomial(l, place, inner, across, func(i int) int { return at(group, i) })
		}
		a.Cost = func(p, _ int) Cost {
			return rounds(Round{Times: across + inside, Blocks: 1}).atMost(!powerOf2(p))
		}
		return a, nil
	},
}

// sendDownBinomial writes what place v of n does in a binomial tree whose places have ranks, in the
// rounds from one on.
func sendDownBinomial(l *Lane, v, n, round int, rank func(v int) int) {
	last, low := round+ceilLog2(n)-1, lowestBit(v, n)
	if v > 0 {
		l.Round(last - floorLog2(low))
		l.Recv(rank(v-low), l.All())
	}
	for d := low / 2; d > 0; d /= 2 {
		if v+d < n {
			l.Round(last - floorLog2(d))
			l.Send(rank(v+d), l.All())
		}
	}
}

// Hierarchical reduce: the broadcast backwards.
var hierarchicalReduce = Algorithm{
	Name:    "hierarchical",
	Kinds:   []collective.Kind{collective.Reduce},
	About:   "a binomial tree inside groups of ranks, then one across",
	When:    "short vectors on many nodes: one sum of each node goes to others",
	Source:  "MPICH reduce smp; Open MPI HAN",
	Formula: "k·α + k·n·β + k·n·γ",
	Params:  innerParam,
	Of:      &hierarchicalBroadcast,
}
