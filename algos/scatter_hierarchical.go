package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// Hierarchical scatter: a binomial tree across the groups of inner ranks, among those who have the
// root's place in theirs, in messages of all blocks of groups; each of them then sends the ranks of
// its group their blocks, one after the other.
//
//	3 groups of 2, root 1:   1→5: 4 5 │ 1→3: 2 3 ║ 1→0 3→2 5→4
//
// Open MPI, HAN; SMPI, scatter and gather mvapich2_two_level.
var hierarchicalScatter = Algorithm{
	Name:   "hierarchical",
	Kinds:  []collective.Kind{collective.Scatter},
	About:  "a binomial tree across groups of ranks, then a message to each rank of a group",
	When:   "short blocks on many nodes: few messages go between nodes",
	Source: "Open MPI HAN; SMPI scatter two-level",
	Params: innerParam,
	Bind: func(a Algorithm, ranks int, param func(string) string) (Algorithm, error) {
		inner, err := innerRanks(ranks, param("inner"))
		if err != nil {
			return a, err
		}
		across := halvings(ranks / inner)
		a.Scratch = func(collective.Spec) (most int) {
			for _, r := range across {
				most = max(most, r.Blocks*inner)
			}
			return most
		}
		a.Lane = func(l *Lane) { scatterGroups(l, inner, ranks/inner) }
		a.Cost = func(_, _ int) Cost {
			var list []Round
			for _, r := range across {
				list = append(list, Round{Times: 1, Blocks: r.Blocks * inner})
			}
			list = append(list, Round{Times: min(inner-1, 1), Blocks: 1, Burst: inner - 1})
			return rounds(list...).atMost(!powerOf2(ranks / inner))
		}
		return a, nil
	},
}

// scatterGroups writes what a rank does. Groups and places are counted from the root's.
func scatterGroups(l *Lane, inner, outer int) {
	rootGroup, rootPlace, last := l.Root/inner, l.Root%inner, ceilLog2(outer)-1
	group, place := mod(l.Rank/inner-rootGroup, outer), mod(l.Rank%inner-rootPlace, inner)
	at := func(g, i int) int { return (rootGroup+g)%outer*inner + (rootPlace+i)%inner }
	if place > 0 {
		l.Round(last + 1)
		l.Recv(at(group, 0), l.Out(0))
		return
	}
	of := func(g, i int) schedule.Region { return l.Scratch((g-group)*inner + i) }
	if group == 0 {
		of = func(g, i int) schedule.Region { return l.In((rootGroup+g)%outer*inner + i) }
	}
	low := lowestBit(group, outer)
	if group > 0 {
		l.Round(last - floorLog2(low))
		l.Recv(at(group-low, 0), of(group, 0).Blocks(min(low, outer-group)*inner))
	}
	for d := low / 2; d > 0; d /= 2 {
		if group+d < outer {
			l.Round(last - floorLog2(d))
			l.Send(at(group+d, 0), of(group+d, 0).Blocks(min(d, outer-group-d)*inner))
		}
	}
	for i := 1; i < inner; i++ {
		l.Round(last + 1)
		l.Send(at(group, i), of(group, (rootPlace+i)%inner))
	}
	if group > 0 || !l.Spec.InPlace {
		l.Copy(l.Out(0), of(group, rootPlace))
	}
}

// Hierarchical gather: the scatter backwards.
var hierarchicalGather = Algorithm{
	Name:   "hierarchical",
	Kinds:  []collective.Kind{collective.Gather},
	About:  "a message from each rank of a group, then a binomial tree across groups of ranks",
	When:   "short blocks on many nodes: few messages go between nodes",
	Source: "Open MPI HAN; SMPI gather two-level",
	Params: innerParam,
	Of:     &hierarchicalScatter,
}
