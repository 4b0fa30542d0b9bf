package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// Hierarchical all_to_all, in two steps, for machines whose neighbours in rank order are closer
// together. First the ranks of a group of inner ranks exchange what is for those who have the same
// place as the other in any group; then ranks of the same place exchange, across the groups, what
// all of their group have for the other.
//
//	2 groups of 2, rank 0:   blocks 1 3 → 1, 0 2 stay │ of 0 and 1, what is for 2 → 2
//
// So across the groups there are p/inner − 1 messages in place of p − inner, each inner times as
// long.
//
// MSCCL, alltoall_a100_two_step; NCCL's PXN and hierarchical alltoall; SMPI, alltoall 2dmesh.
var hierarchicalAllToAll = Algorithm{
	Name:    "hierarchical",
	Kinds:   []collective.Kind{collective.AllToAll},
	About:   "inside groups of ranks by place, then across groups: few messages between groups",
	When:    "short blocks on many nodes: inner is the GPUs of a node",
	Source:  "MSCCL alltoall two-step; NCCL PXN; SMPI alltoall 2dmesh",
	Formula: "(inner+p/inner−2)·α + (2·p−inner−p/inner)/p·n·β",
	Params:  innerParam,
	Scratch: func(spec collective.Spec) int { return spec.Ranks },
	Bind: func(a Algorithm, ranks int, param func(string) string) (Algorithm, error) {
		inner, err := innerRanks(ranks, param("inner"))
		if err != nil {
			return a, err
		}
		outer := ranks / inner
		a.Group = func(int) schedule.Group { return schedule.Group{int32(outer), int32(inner)} }
		a.Lane = func(l *Lane) { exchangeInTwoSteps(l, inner, outer) }
		a.Cost = func(_, _ int) Cost {
			return rounds(Round{Times: inner - 1, Blocks: outer}, Round{Times: outer - 1, Blocks: inner})
		}
		return a, nil
	},
}

// exchangeInTwoSteps writes what a rank does. Scratch has a row for each group, beginning with this
// one, of what its ranks, beginning with this one, have for the rank of this place in that group.
func exchangeInTwoSteps(l *Lane, inner, outer int) {
	group, place := l.Rank/inner, l.Rank%inner
	member := func(i int) int { return group*inner + mod(place+i, inner) } // of this group
	like := func(i int) int { return mod(group+i, outer)*inner + place }   // in the others
	ofGroup := func(i int) schedule.Region {
		r := l.Out(like(i))
		if inner == 1 {
			return r
		}
		for j := range inner {
			r.List = append(r.List, int32(like(i)-place+mod(place+j, inner)))
		}
		return r
	}

	staged := func(i int) schedule.Region { return l.Scratch(i * inner).Blocks(inner) }
	if inner == 1 && !l.Spec.InPlace { // the input is as it is to be sent
		staged = func(i int) schedule.Region { return l.In(like(i)) }
	} else {
		l.Copy(l.Scratch(0).Every(inner, outer), l.In(member(0)).Every(inner, outer))
	}
	for i := 1; i < inner; i++ {
		l.Send(member(i), l.In(member(i)).Every(inner, outer))
		l.Recv(member(-i), l.Scratch(inner-i).Every(inner, outer))
	}
	l.Copy(ofGroup(0), staged(0))
	for i := 1; i < outer; i++ {
		l.Send(like(i), staged(i))
		l.Recv(like(-i), ofGroup(-i))
	}
}

// Hierarchical all_to_allv: the same, with scratch cut into blocks of the sizes that come.
var hierarchicalAllToAllV = Algorithm{
	Name:   "hierarchical",
	Kinds:  []collective.Kind{collective.AllToAllV},
	About:  hierarchicalAllToAll.About,
	When:   hierarchicalAllToAll.When,
	Source: hierarchicalAllToAll.Source,
	Params: innerParam,
	Plan: func(p *schedule.Plan, param func(string) string) error {
		inner, err := innerRanks(p.Spec.Ranks, param("inner"))
		if err != nil {
			return err
		}
		ranks, of := p.Spec.Ranks, p.Spec.Splits
		p.Scratch = ranks
		p.Cuts = &[3]schedule.Cut{
			schedule.Input:  sizes(ranks, ranks, func(rank, block int) int64 { return of[rank][block] }),
			schedule.Output: sizes(ranks, ranks, func(rank, block int) int64 { return of[block][rank] }),
			schedule.Scratch: sizes(ranks, ranks, func(rank, block int) int64 {
				group, place := rank/inner, rank%inner
				from := group*inner + (place+block)%inner
				return of[from][(group+block/inner)%(ranks/inner)*inner+place]
			})}
		p.Lane = func(l *schedule.Lane) { exchangeInTwoSteps(&Lane{l, p.Spec}, inner, ranks/inner) }
		return nil
	},
}

// sizes returns a cut of a buffer into blocks of these sizes, of each rank, or of all ranks alike
// if there is one row.
func sizes(rows, blocks int, size func(rank, block int) int64) schedule.Cut {
	ends := make([][]int64, rows)
	for rank := range ends {
		end := int64(0)
		for block := range blocks {
			end += size(rank, block)
			ends[rank] = append(ends[rank], end)
		}
	}
	return schedule.Cut{{Axis: schedule.Block, Split: schedule.Table, Ends: ends}}
}
