package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// K-nomial trees: binomial trees of a radix. Counted from the root, rank v's parent is v without
// its lowest digit that is not 0. The biggest subtrees are served first.
//
//	p = 9, radix 3:   0→3 0→6 │ 0→1 0→2 3→4 3→5 6→7 6→8
//
// Open MPI, bcast_intra_knomial; MPICH, bcast tree of kind knomial; UCC.

// digits lists the weights of the digits that p ranks have to a radix, the highest first.
func digits(p, radix int) (weights []int) {
	for d := 1; d < p; d *= radix {
		weights = append([]int{d}, weights...)
	}
	return weights
}

// childrenAt lists the children that rank v, counted from the root, has in the digit of weight d.
func childrenAt(v, d, p, radix int) (list []int) {
	for i := 1; i < radix && v+i*d < p; i++ {
		list = append(list, v+i*d)
	}
	return list
}

// kNomialRoles returns the roles of a k-nomial tree, nil where ranks have too many children. Ranks
// have one role if their lowest digit is the same, and as many ranks are below them.
func kNomialRoles(spec collective.Spec, radix int) schedule.Roles {
	p, weights := spec.Ranks, digits(spec.Ranks, radix)
	if len(weights)*radix > 48 {
		return nil
	}
	return func(rank int, peers []int32) (role int64, all []int32) {
		v := mod(rank-spec.Root, p)
		for level, d := range weights {
			if v%(d*radix) == 0 {
				for _, child := range childrenAt(v, d, p, radix) {
					peers = append(peers, int32((child+spec.Root)%p))
				}
			} else if v%d == 0 {
				role = int64(level+1)<<32 | int64(min(d, p-v))
				peers = append(peers, int32((v-v%(d*radix)+spec.Root)%p))
			}
		}
		return role, peers
	}
}

// K-nomial broadcast.
var kNomialBroadcast = Algorithm{
	Name:   "k-nomial",
	Kinds:  []collective.Kind{collective.Broadcast},
	About:  "a tree of a radix: who has the data sends it to radix − 1 others at once",
	When:   "short vectors where a rank sends several messages as fast as one",
	Source: "Open MPI bcast knomial; MPICH; UCC",
	Params: radixParam("how many times as many ranks have the data after every round, 2 or more"),
	Bind: func(a Algorithm, _ int, param func(string) string) (Algorithm, error) {
		radix, err := radixOf(param("radix"))
		a.Roles = func(spec collective.Spec) schedule.Roles { return kNomialRoles(spec, radix) }
		a.Lane = func(l *Lane) {
			v, p := mod(l.Rank-l.Root, l.Ranks), l.Ranks
			if v == 0 {
				l.Keep(l.All())
			}
			for level, d := range digits(p, radix) {
				l.Round(level)
				if to := childrenAt(v, d, p, radix); v%(d*radix) == 0 && len(to) > 0 {
					l.Combine(nil, plus(to, l.Root), l.Local(l.All()))
				} else if v%(d*radix) != 0 && v%d == 0 {
					l.Recv(l.Root+v-v%(d*radix), l.All())
				}
			}
		}
		a.Cost = func(p, _ int) Cost {
			var r []Round
			for _, d := range digits(p, radix) {
				r = append(r, Round{Times: 1, Blocks: 1, Fan: len(childrenAt(0, d, p, radix))})
			}
			return rounds(r...).atMost(radixFoldOf(p, radix).q < p)
		}
		return a, err
	},
}

// plus adds a number to all of a list.
func plus(list []int, n int) (sums []int) {
	for _, x := range list {
		sums = append(sums, x+n)
	}
	return sums
}

// K-nomial reduce: the broadcast backwards.
var kNomialReduce = Algorithm{
	Name:   "k-nomial",
	Kinds:  []collective.Kind{collective.Reduce},
	About:  "a tree of a radix: radix − 1 ranks at once send their sums to one, which adds",
	When:   "short vectors where a rank receives several messages as fast as one",
	Source: "Open MPI; MPICH; UCC",
	Params: kNomialBroadcast.Params,
	Of:     &kNomialBroadcast,
}

// K-nomial scatter. A rank gets its block with those of all its children in one message, and sends
// each child its part, one after the other.
var kNomialScatter = Algorithm{
	Name:   "k-nomial",
	Kinds:  []collective.Kind{collective.Scatter},
	About:  "a tree of a radix, in which messages split",
	When:   "short blocks where a latency costs more than sending several messages",
	Source: "UCC scatter knomial",
	Params: radixParam("into how many parts a message splits, 2 or more"),
	Bind: func(a Algorithm, _ int, param func(string) string) (Algorithm, error) {
		radix, err := radixOf(param("radix"))
		a.Roles = func(spec collective.Spec) schedule.Roles { return kNomialRoles(spec, radix) }
		a.Scratch = func(spec collective.Spec) int {
			if weights := digits(spec.Ranks, radix); len(weights) > 1 {
				return weights[0]
			}
			return 0
		}
		a.Lane = func(l *Lane) { scatterDigits(l, radix) }
		a.Cost = func(p, _ int) Cost {
			var r []Round
			for _, d := range digits(p, radix) {
				children := len(childrenAt(0, d, p, radix))
				r = append(r, Round{Times: 1, Blocks: min(d, p-d), Burst: children})
			}
			return rounds(r...).atMost(radixFoldOf(p, radix).q < p)
		}
		return a, err
	},
}

// scatterDigits writes the scatter.
func scatterDigits(l *Lane, radix int) {
	v, p := mod(l.Rank-l.Root, l.Ranks), l.Ranks
	mine := l.In(l.Rank) // this rank's block, and after it those of its children
	for level, d := range digits(p, radix) {
		l.Round(level)
		if v%(d*radix) != 0 {
			if n := min(d, p-v); v%d == 0 && n == 1 {
				l.Recv(l.Root+v-v%(d*radix), l.Out(0))
				return
			} else if v%d == 0 {
				mine = l.Scratch(0)
				l.Recv(l.Root+v-v%(d*radix), mine.Blocks(n))
			}
			continue
		}
		for _, child := range childrenAt(v, d, p, radix) {
			part := mine.Blocks(min(d, p-child))
			part.First += int32(child - v)
			if v == 0 {
				part = l.In(l.Root + child).Blocks(min(d, p-child))
			}
			l.Round(level)
			l.Send(l.Root+child, part)
		}
	}
	if v > 0 || !l.Spec.InPlace {
		l.Copy(l.Out(0), mine)
	}
}

// K-nomial gather: the scatter backwards.
var kNomialGather = Algorithm{
	Name:   "k-nomial",
	Kinds:  []collective.Kind{collective.Gather},
	About:  "a tree of a radix, in which blocks join up",
	When:   "short blocks where a rank receives several messages as fast as one",
	Source: "UCC gather knomial",
	Params: radixParam("how many messages join up, 2 or more"),
	Of:     &kNomialScatter,
}

// K-nomial all_reduce: members whose numbers differ in one digit cut what they still have into
// radix parts and add up one each, digit by digit; then the way back. Other numbers of ranks fold.
// All add in rank order.
var kNomialAllReduce = Algorithm{
	Name:   "k-nomial",
	Kinds:  []collective.Kind{collective.AllReduce},
	About:  "ranks whose numbers differ in one digit exchange parts, and add; then the way back",
	When:   "middling vectors where a rank sends several messages as fast as one",
	Source: "UCC allreduce sra_knomial; MPICH k_reduce_scatter_allgather",
	Params: radixParam("into how many parts ranks cut what they have, 2 or more"),
	Bind: func(a Algorithm, ranks int, param func(string) string) (Algorithm, error) {
		radix, err := radixOf(param("radix"))
		f := radixFoldOf(ranks, max(radix, 2))
		a.Even = f.q == ranks
		a.Chunks = func(int) int { return f.q }
		a.Lane = func(l *Lane) { foldRadix(l, f, 2*f.digits, cutDigits) }
		a.Cost = func(p, _ int) Cost {
			var there, back []Round
			for n := f.q / radix; n > 0; n /= radix {
				there = append(there, Round{Times: 1, Blocks: n, Sums: radix - 1, Burst: radix - 1})
				back = append([]Round{{Times: 1, Blocks: n, Fan: radix - 1}}, back...)
			}
			r := append([]Round{{Times: f.folded(), Blocks: f.q, Sums: 1}}, append(there, back...)...)
			r = append(r, Round{Times: min(f.folded(), 1), Blocks: f.q, Fan: f.folded()})
			return rounds(r...).atMost(f.q < p)
		}
		return a, err
	},
}

// cutDigits writes what the ranks do that are left: the sums, then the way back.
func cutDigits(l *Lane, f radixFold, run, round int) {
	chunk, mine := 0, f.q
	var parts []int // the first chunk of each part, in the order of the digits
	for d := 1; d < f.q; d *= f.radix {
		mine /= f.radix
		parts = append(parts, chunk)
		var sources []schedule.Source
		keep := chunk + run/d%f.radix*mine
		for i, other := range f.members(run, d) {
			if other == run {
				sources = append(sources, l.Local(l.Chunk(keep).Blocks(mine)))
				continue
			}
			l.Round(round)
			l.Send(f.first(other), l.Chunk(chunk+i*mine).Blocks(mine))
			sources = append(sources, l.From(f.first(other)))
		}
		if chunk = keep; mine == 1 {
			l.Completes()
		}
		l.Round(round)
		l.Combine([]schedule.Region{l.Chunk(chunk).Blocks(mine)}, nil, sources...)
		round++
	}
	for d := f.q / f.radix; d > 0; d /= f.radix {
		whole := parts[len(parts)-1]
		parts = parts[:len(parts)-1]
		l.Round(round)
		l.Combine(nil, f.others(run, d), l.Local(l.Chunk(chunk).Blocks(mine)))
		for i, other := range f.members(run, d) {
			if other != run {
				l.Round(round)
				l.Recv(f.first(other), l.Chunk(whole+i*mine).Blocks(mine))
			}
		}
		chunk, mine, round = whole, mine*f.radix, round+1
	}
}
