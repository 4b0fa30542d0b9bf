package algos

import "collsim/collective"

// Circulant broadcast, pipelined, in the fewest rounds there can be: m − 1 + ⌈log₂ p⌉ of m
// segments. In every round a rank, counted from the root, sends to the one at a distance after it
// and receives from the one as far before it, by the distances of circulantAllGather in turns. What
// it receives follows from its rank alone.
//
//	p = 5, distances 1 2 3, segments a b:   0→1 a │ 0→2 b 1→3 a │ 0→3 b 1→4 a 4→2 a │ …
//
// Träff, "Optimal broadcast schedules in logarithmic time with applications to broadcast,
// all-broadcast, reduction and all-reduction", arXiv:2407.18004, 2024; MPICH, bcast circ_graph.
var circulantBroadcast = Algorithm{
	Name:    "circulant",
	Kinds:   []collective.Kind{collective.Broadcast},
	About:   "segments go by distances that halve p, in turns: the fewest rounds there can be",
	When:    "middling and long vectors on any number of ranks",
	Source:  "Träff 2024; MPICH circ_graph",
	Formula: "(k−1+m)·α + (k−1+m)/m·n·β",
	Params:  segmented("512KiB"),
	Lane: func(l *Lane) {
		v, p, m := mod(l.Rank-l.Root, l.Ranks), l.Ranks, l.Tiles()
		d := skips(p)
		k := len(d) - 1
		mine, theirs := arrivals(v, d), make([]int, k)
		for i := range theirs {
			theirs[i] = arrivals((v+d[i])%p, d)[i]
		}
		if v == 0 {
			for t := range m {
				l.Tile(t)
				l.Keep(l.All())
			}
		}
		idle := mod(1-m, k) // rounds of the first k in which nothing would be sent
		for round := range m - 1 + k {
			i, phase := (idle+round)%k, (idle+round)/k
			if t := theirs[i] + phase*k - idle; t >= 0 && (v+d[i])%p != 0 {
				l.Tile(min(t, m-1))
				l.Round(round)
				l.Send(l.Rank+d[i], l.All())
			}
			if t := mine[i] + phase*k - idle; t >= 0 && v != 0 {
				l.Tile(min(t, m-1))
				l.Round(round)
				l.Recv(l.Rank-d[i], l.All())
			}
		}
	},
	Cost: func(p, tiles int) Cost {
		late := tiles > 1 || !powerOf2(p) // nobody waits for the root, which runs ahead
		return rounds(Round{Times: ceilLog2(p) - 1 + tiles, Blocks: 1}).atMost(late)
	},
}

// arrivals lists what a rank receives in the rounds of a phase, one for each distance: a segment of
// this phase, counted from its first, or a negative number for one of the phases before. A segment
// of this phase comes once, by the way of the distances that add up to the rank, the largest first.
func arrivals(rank int, distances []int) []int {
	k := len(distances) - 1
	base, at := k, 0
	for i := k - 1; i >= 0 && base == k; i-- {
		if at+distances[i] == rank {
			base = i
		} else if at+distances[i] < rank {
			at += distances[i]
		}
	}
	s := arrivalSearch{distances: distances, used: make([]bool, k+1)}
	s.used[base] = true
	s.from(distances[k]+rank, 0, 2*distances[k], k)
	for i, segment := range s.found {
		if s.found[i] = segment - k; segment == k {
			s.found[i] = base
		}
	}
	return s.found
}

// An arrivalSearch finds, for one distance after the other, a rank that is at least that far before
// a target and has a segment that the target lacks.
type arrivalSearch struct {
	distances []int
	used      []bool // segments found, or the target's own
	found     []int  // the segment by each distance
}

// from searches the ranks that are sums of distances, from a sum on, by further distances of index
// e at most. They must be below the last one found.
func (s *arrivalSearch) from(target, at, last, e int) {
	k := len(s.distances) - 1
	for ; e >= 0 && len(s.found) < k; e-- {
		next, i := at+s.distances[e], len(s.found)
		if s.used[e] || next > target-s.distances[i] || next >= last {
			continue
		}
		if next <= target-s.distances[i+1] {
			s.from(target, next, last, e)
		}
		if i = len(s.found); i == k || at > target-s.distances[i+1] {
			return
		}
		last, s.used[e] = next, true
		s.found = append(s.found, e)
	}
}

// Circulant reduce: the broadcast backwards.
var circulantReduce = Algorithm{
	Name:    "circulant",
	Kinds:   []collective.Kind{collective.Reduce},
	About:   "sums of segments come by distances that halve p, in turns: the fewest rounds",
	When:    "middling and long vectors on any number of ranks",
	Source:  "Träff 2024; MPICH circ_graph",
	Formula: "(k−1+m)·α + (k−1+m)/m·n·β + (k−1+m)/m·n·γ",
	Params:  circulantBroadcast.Params,
	Of:      &circulantBroadcast,
}
