package algos

import "collsim/collective"

// Torus all_reduce: buckets in all dimensions and both directions at once. The vector has a part
// for each dimension and direction, on a lane of its own. Part i begins with rings along dimension
// i and goes on with the next ones, so that all 2·D links of a rank are at work at once.
//
//	4x4, lanes 0 and 2:   along the rows, then the columns, forwards and backwards
//	     lanes 1 and 3:   along the columns, then the rows
//
// Jain and Sabharwal, "Optimal bucket algorithms for large MPI collectives on torus interconnects",
// ICS 2010; ASTRA-sim's multi-dimensional collectives; the bucket of De Sensi et al., NSDI 2024.
var torusAllReduce = Algorithm{
	Name:   "torus",
	Kinds:  []collective.Kind{collective.AllReduce},
	About:  "rings along all dimensions of a torus at once, each part in another order, both ways",
	When:   "long vectors on a torus whose links run both ways at once",
	Source: "Jain and Sabharwal 2010; ASTRA-sim",
	Params: []Param{{Name: "dims", Value: AsShape,
		About: "the sizes of the dimensions as in 4x4x2, the first that of neighbours in rank " +
			"order; shape is that of a torus as network; elsewhere, and balanced, it is two, as near to " +
			"a square as the number of ranks allows"}},
	Even: true,
	Bind: func(a Algorithm, ranks int, param func(string) string) (Algorithm, error) {
		text := param("dims")
		if text == AsShape {
			text = balanced
		}
		dims, err := latticeOf("dims", text, ranks, nearSquare(ranks))
		if err != nil {
			return a, err
		}
		n, hops := len(dims), 0
		for _, size := range dims {
			hops += size - 1
		}
		a.Lanes = func(int) int { return 2 * n }
		a.Chunks = func(p int) int { return 2 * n * p }
		a.Lane = func(l *Lane) {
			b := bucket{lattice: dims, first: l.Index % n, step: 1, base: l.Index * l.Ranks}
			if l.Index >= n {
				b.step = -1
			}
			b.scatter(l)
			b.gather(l)
		}
		// The sizes of messages depend on the order, their sum does not.
		a.Cost = func(p, _ int) Cost {
			return Cost{Alpha: 2 * hops, AtMost: true, PerConnection: true, Rounds: []Round{
				{Times: p - 1, Blocks: 1, Sums: 1}, {Times: p - 1, Blocks: 1}}}
		}
		return a, nil
	},
}
