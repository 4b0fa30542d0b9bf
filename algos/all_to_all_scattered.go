package algos

import (
	"fmt"
	"strconv"

	"collsim/collective"
)

// Scattered all_to_all: pairwise in batches. A rank sends to as many ranks as a batch has, one
// behind the other, and then receives from as many: no more messages are under way to it.
//
//	p = 7, batch 3, rank 0:   →1 →2 →3 ←6 ←5 ←4 │ →4 →5 →6 ←3 ←2 ←1
//
// MPICH, alltoall_intra_scattered.
var scatteredAllToAll = Algorithm{
	Name:   "scattered",
	Kinds:  []collective.Kind{collective.AllToAll, collective.AllToAllV},
	About:  "sends and receives to the next ranks in batches, batch after batch",
	When:   "middling blocks on many ranks: few latencies, and a limit on messages under way",
	Source: "MPICH alltoall scattered; oneCCL scatter; UCC hybrid",
	Params: []Param{{Name: "batch", Value: "8", Tries: []string{"8", "32"},
		About: "the number of messages under way to a rank, 1 or more"}},
	Group:   rotations,
	Scratch: setAside,
	Bind: func(a Algorithm, _ int, param func(string) string) (Algorithm, error) {
		batch, err := strconv.Atoi(param("batch"))
		if err != nil || batch < 1 {
			return a, fmt.Errorf("batch = %q: a whole number from 1 on is expected", param("batch"))
		}
		a.Lane = func(l *Lane) {
			r, block := l.Rank, outgoing(l)
			for first := 1; first < l.Ranks; first += batch {
				end := min(first+batch, l.Ranks)
				for i := first; i < end; i++ {
					l.Round(i - 1)
					l.Send(r+i, block(i))
				}
				for i := first; i < end; i++ {
					l.Round(i - 1)
					l.Recv(r-i, l.Out(r-i))
				}
			}
		}
		a.Cost = func(p, _ int) Cost {
			return Cost{Alpha: (p - 2 + batch) / batch, Rounds: []Round{{Times: p - 1, Blocks: 1}}}
		}
		return a, nil
	},
}
