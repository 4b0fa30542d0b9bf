package algos

import "collsim/collective"

// Bruck all_gather with a radix k: in every round a rank fetches from k − 1 others, one behind the
// other, so that ⌈log_k p⌉ rounds do. Of radix 2 it is bruck.
//
//	p = 9, radix 3, rank 0 has:   0 │ 0 1 2 │ 0 1 2 3 4 5 6 7 8
//
// Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient algorithms for all-to-all communications in
// multiport message-passing systems", IEEE TPDS 8(11), 1997: concatenation with k − 1 ports.
var kBruckAllGather = Algorithm{
	Name:   "k-bruck",
	Kinds:  []collective.Kind{collective.AllGather, collective.AllGatherV},
	About:  "fetches from radix − 1 ranks a round, at multiples of 1, radix, radix², …",
	When:   "short blocks where a latency costs more than sending several messages",
	Source: "Bruck et al. 1997, concatenation; MPICH, Open MPI",
	Params: radixParam("how many times as many blocks a rank has after every round, 2 or more"),
	Bind: func(a Algorithm, _ int, param func(string) string) (Algorithm, error) {
		radix, err := radixOf(param("radix"))
		if err != nil {
			return a, err
		}
		a.Group = rotations
		a.Lane = func(l *Lane) {
			r, p, round := l.Rank, l.Ranks, 0
			l.Keep(l.Chunk(r))
			for d := 1; d < p; d *= radix {
				n := min(radix-1, (p-1)/d)
				for i := 1; i <= n; i++ {
					l.Round(round + i - 1)
					l.Send(r-i*d, l.Chunk(r).Blocks(min(d, p-i*d)))
				}
				for i := 1; i <= n; i++ {
					l.Round(round + i - 1)
					l.Recv(r+i*d, l.Chunk(r+i*d).Blocks(min(d, p-i*d)))
				}
				round += n
			}
		}
		a.Cost = func(p, _ int) Cost {
			c := Cost{}
			for d := 1; d < p; d *= radix {
				c.Alpha++
				for i := 1; i < radix && i*d < p; i++ {
					c.Rounds = append(c.Rounds, Round{Times: 1, Blocks: min(d, p-i*d)})
				}
			}
			return c
		}
		return a, nil
	},
}
