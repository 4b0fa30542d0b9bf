package algos

import (
	"fmt"
	"strconv"

	"collsim/collective"
)

// PAT: parallel aggregated trees. Every block goes down a binomial tree of its own, the farthest
// ranks first, and blocks of several trees that go the same way share a message, up to so many.
// With one a message, p−1 messages follow one another, half of them between neighbours; with as
// many as there are, these are Sparbit's ⌈log₂ p⌉.
//
//	p = 6, aggregate 1, rank 0 sends:   0→4 │ 0→2 │ 0→1 4→1 2→1        blocks of ranks 0, 4 and 2
//
// Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale",
// arXiv:2506.20252, 2025. NCCL's, with its buffers and its order of messages, is nccl:pat.
var patAllGather = Algorithm{
	Name:   "pat",
	Kinds:  []collective.Kind{collective.AllGather, collective.AllGatherV},
	About:  "every block goes down a binomial tree of its own, far first; some share a message",
	When:   "long blocks where near ranks are better connected, and buffers are small",
	Source: "Jeaugey 2025 (PAT)",
	Params: []Param{{Name: "aggregate", Value: "1", Tries: []string{"4"},
		About: "the most blocks of a message, 1 or more"}},
	Bind: func(a Algorithm, _ int, param func(string) string) (Algorithm, error) {
		most, err := strconv.Atoi(param("aggregate"))
		if err != nil || most < 1 {
			return a, fmt.Errorf("aggregate = %q: a whole number from 1 is expected",
				param("aggregate"))
		}
		a.Group = rotations
		a.Lane = func(l *Lane) {
			r, p := l.Rank, l.Ranks
			l.Keep(l.Chunk(r))
			for d := 1 << ceilLog2(p) / 2; d > 0; d /= 2 {
				n := sparseCount(p, d)
				for i := 0; i < n; i += most {
					part := min(most, n-i)
					l.Send(r+d, l.Chunk(r-2*d*i).Every(-2*d, part))
					l.Recv(r-d, l.Chunk(r-d-2*d*i).Every(-2*d, part))
				}
			}
		}
		a.Cost = func(p, _ int) Cost {
			var r []Round
			for d := 1 << ceilLog2(p) / 2; d > 0; d /= 2 {
				n := sparseCount(p, d)
				r = append(r, Round{Times: n / most, Blocks: most}, Round{Times: min(n%most, 1),
					Blocks: n % most})
			}
			return rounds(r...)
		}
		return a, nil
	},
}

// PAT reduce_scatter: the all_gather backwards.
var patReduceScatter = Algorithm{
	Name:   "pat",
	Kinds:  []collective.Kind{collective.ReduceScatter, collective.ReduceScatterV},
	About:  "every sum goes up a binomial tree of its own, near first; some share a message",
	When:   "long vectors where near ranks are better connected, and buffers are small",
	Source: "Jeaugey 2025 (PAT)",
	Params: patAllGather.Params,
	Of:     &patAllGather,
}
