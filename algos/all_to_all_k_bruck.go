package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// Bruck all_to_all with a radix. Rank r numbers its blocks by how far they must go, as in bruck. In
// the round of the digit of weight d, all blocks whose number has i there go i·d ranks ahead, for
// every i but 0: radix − 1 messages, one behind the other.
//
//	p = 9, radix 3:   1 4 7 → r+1, 2 5 8 → r+2 │ 3 4 5 → r+3, 6 7 8 → r+6
//
// Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient algorithms for all-to-all communications in
// multiport message-passing systems", IEEE TPDS 8(11), 1997: index operation of radix r.
var kBruckAllToAll = Algorithm{
	Name:   "k-bruck",
	Kinds:  []collective.Kind{collective.AllToAll},
	About:  "blocks go ahead digit by digit of their way, to radix − 1 ranks a round",
	When:   "short blocks where a latency costs more than sending several messages",
	Source: "Bruck et al. 1997, index operation; MPICH k_brucks",
	Params: radixParam("to the base of which the way of a block is written, 2 or more"),
	Bind: func(a Algorithm, _ int, param func(string) string) (Algorithm, error) {
		radix, err := radixOf(param("radix"))
		a.Group = rotations
		a.Scratch = func(spec collective.Spec) int { return spec.Ranks }
		a.Lane = func(l *Lane) {
			r, p, round := l.Rank, l.Ranks, 0
			l.Copy(l.Scratch(0).Blocks(p), l.In(r).Blocks(p))
			for d := 1; d < p; d *= radix {
				n := min(radix-1, (p-1)/d)
				for i := 1; i <= n; i++ {
					l.Round(round + i - 1)
					l.Send(r+i*d, withDigit(l, d, i, radix))
				}
				for i := 1; i <= n; i++ {
					l.Round(round + i - 1)
					l.Recv(r-i*d, withDigit(l, d, i, radix))
				}
				round += n
			}
			l.Copy(l.Out(r).Every(-1, p), l.Scratch(0).Blocks(p))
		}
		a.Cost = func(p, _ int) Cost {
			c := Cost{}
			for d := 1; d < p; d *= radix {
				c.Alpha++
				for i := 1; i < radix && i*d < p; i++ {
					n := len(numbersWith(p, d, i, radix))
					c.Rounds = append(c.Rounds, Round{Times: 1, Blocks: n})
				}
			}
			return c
		}
		return a, err
	},
}

// withDigit returns the blocks of scratch whose number has digit i at weight d.
func withDigit(l *Lane, d, i, radix int) schedule.Region {
	r := l.Scratch(0)
	r.List = numbersWith(l.Ranks, d, i, radix)
	return r
}

// numbersWith lists the numbers below n that have digit i at weight d.
func numbersWith(n, d, i, radix int) (list []int32) {
	for number := range n {
		if number/d%radix == i {
			list = append(list, int32(number))
		}
	}
	return list
}
