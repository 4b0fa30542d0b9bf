package algos

import "collsim/collective"

// Circulant graphs: every rank talks to those at a few distances, the same for all. These halve the
// number of ranks, rounded up, again and again, so that any number of ranks takes ⌈log₂ p⌉ rounds
// in which each block is sent once to each rank: the fewest rounds and the fewest bytes at once.
//
//	p = 6, distances 1 2 3:   rank 0 has 0 │ 0 1 │ 0 1 2 │ 0 1 2 3 4 5
//
// Träff, "Optimal, non-pipelined reduce-scatter and allreduce algorithms", arXiv:2410.14234, 2024.

// skips returns the distances of p ranks in ascending order, and p.
func skips(p int) (list []int) {
	list = []int{p}
	for d := p; d > 1; {
		d = (d + 1) / 2
		list = append([]int{d}, list...)
	}
	return list
}

// Circulant all_gather: a rank fetches, from the one at each distance ahead, as many blocks as it
// lacks up to the next distance.
var circulantAllGather = Algorithm{
	Name:    "circulant",
	Kinds:   []collective.Kind{collective.AllGather, collective.AllGatherV},
	About:   "ranks at distances that halve p, rounded up, fetch blocks; any number of ranks",
	When:    "any number of ranks: the fewest rounds and bytes, in messages of even sizes",
	Source:  "Träff 2024",
	Formula: "k·α + (p−1)/p·n·β",
	Group:   rotations,
	Lane:    func(l *Lane) { l.Keep(l.Chunk(l.Rank)); fetchCirculant(l, +1) },
	Cost:    func(p, _ int) Cost { return rounds(circulantRounds(p, 0)...) },
}

// fetchCirculant fetches all blocks but the rank's own, from ranks ahead or, with −1, behind.
func fetchCirculant(l *Lane, step int) {
	r, d := l.Rank, skips(l.Ranks)
	for k := range len(d) - 1 {
		n := d[k+1] - d[k]
		l.Send(r-step*d[k], l.Chunk(r).Every(step, n))
		l.Recv(r+step*d[k], l.Chunk(r+step*d[k]).Every(step, n))
	}
}

// circulantRounds lists the rounds of an all_gather; sums are made of all blocks if there are any.
func circulantRounds(p, sums int) (list []Round) {
	d := skips(p)
	for k := range len(d) - 1 {
		list = append(list, Round{Times: 1, Blocks: d[k+1] - d[k], Sums: sums})
	}
	return list
}

// Circulant reduce_scatter: the all_gather backwards. A rank sends the sums that it has for ranks
// ahead, those of the far half first.
var circulantReduceScatter = Algorithm{
	Name:    "circulant",
	Kinds:   []collective.Kind{collective.ReduceScatter, collective.ReduceScatterV},
	About:   "sums go ahead by distances that halve p, rounded up; any number of ranks",
	When:    "any number of ranks: the fewest rounds and bytes, in messages of even sizes",
	Source:  "Träff 2024",
	Formula: "k·α + (p−1)/p·n·β + (p−1)/p·n·γ",
	Of:      &backwardCirculantAllGather,
}

// backwardCirculantAllGather fetches from ranks behind, so that sums go ahead. It is not in the
// table.
var backwardCirculantAllGather = Algorithm{
	Name:  "circulant",
	Kinds: circulantAllGather.Kinds,
	Group: rotations,
	Lane:  func(l *Lane) { l.Keep(l.Chunk(l.Rank)); fetchCirculant(l, -1) },
	Cost:  circulantAllGather.Cost,
}

// Circulant all_reduce: the reduce_scatter, then the all_gather on the same distances.
var circulantAllReduce = Algorithm{
	Name:    "circulant",
	Kinds:   []collective.Kind{collective.AllReduce},
	About:   "a reduce_scatter and an all_gather by distances that halve p, rounded up",
	When:    "middling vectors on any number of ranks, where others fold",
	Source:  "Träff 2024",
	Formula: "2·k·α + 2·(p−1)/p·n·β + (p−1)/p·n·γ",
	Group:   rotations,
	Chunks:  perRank,
	Lane: func(l *Lane) {
		sumCirculant(l)
		l.Round(ceilLog2(l.Ranks))
		fetchCirculant(l, +1)
	},
	Cost: func(p, _ int) Cost {
		sums := circulantRounds(p, 1)
		if k := len(sums) - 2; p%2 == 1 && k >= 0 && sums[k].Blocks > 1 { // it has two messages
			sums[k].Blocks--
			sums = append(sums, Round{Times: 1, Blocks: 1, Sums: 1})
		}
		return rounds(append(sums, circulantRounds(p, 0)...)...).atMost(p%2 == 1)
	},
}

// sumCirculant leaves every rank with the sum of its own chunk. Of an odd number of ranks, the last
// chunk that is sent in the second round is still the rank's input: it goes by itself.
func sumCirculant(l *Lane) {
	r, d := l.Rank, skips(l.Ranks)
	for k := len(d) - 2; k >= 0; k-- {
		round, n := len(d)-2-k, d[k+1]-d[k]
		cut := n
		if round == 1 && l.Ranks%2 == 1 {
			cut = n - 1
		}
		for _, part := range [][2]int{{0, cut}, {cut, n}} {
			if at, blocks := part[0], part[1]-part[0]; blocks > 0 {
				l.Round(round)
				l.Send(r+d[k], l.Chunk(r+d[k]+at).Blocks(blocks))
				if k == 0 {
					l.Completes()
				}
				l.Round(round)
				l.Reduce(r-d[k], l.Chunk(r+at).Blocks(blocks))
			}
		}
	}
}
