package algos

import (
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
)

// Ring all_reduce. Every chunk goes round the ring twice: once to be summed, once to be copied.
//
//	round     rank 0      rank 1      rank 2      rank 3
//	0         send 0      send 1      send 2      send 3
//	1, 2      +3, +2      +0, +3      +1, +0      +2, +1    add, pass on
//	3         =1          =2          =3          =0        complete: keep, pass on
//	4, 5      0, 3        1, 0        2, 1        3, 2      keep, pass on
//	end       2           3           0           1         keep
//
// The rank where a chunk sets out, and its direction, decide the order of its additions. Libraries
// differ in that (ringOrders); the picture is Open MPI's. Chunks here are as even as possible; some
// libraries cut otherwise.
//
// Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", J.
// Parallel Distrib. Comput. 69(2), 2009.
var ringAllReduce = Algorithm{
	Name:    "ring",
	Kinds:   []collective.Kind{collective.AllReduce},
	About:   "every chunk goes round the ring twice: to be summed, then to be copied",
	When:    "long vectors: the fewest bytes there can be, and only neighbours talk",
	Source:  "Patarasuk and Yuan 2009; orders of Open MPI, NCCL and gloo",
	Formula: "2·(p−1)·α + 2·(p−1)/p·n·β + (p−1)/p·n·γ",
	Params: []Param{{Name: "order", Value: openMPIOrder, About: "whose order of additions: " +
		"openmpi has chunk c set out from rank c and go on to the next, nccl (oneCCL, MPICH) from " +
		"rank c+1, gloo from rank c−1 and back to the one before"},
		{Name: "cut", Value: "order", About: "how the vector is cut: even, the first chunks of one " +
			"element more; equal, of ⌈n/p⌉ elements each but the last ones (MPICH); pairs, of 2·⌈n/2p⌉ " +
			"(gloo); order is pairs with order=gloo, and even with others"}},
	Group:  rotations,
	Chunks: perRank,
	Bind: func(a Algorithm, _ int, param func(string) string) (Algorithm, error) {
		o, err := ringOrderOf(param("order"))
		if err == nil {
			a.Align, err = ringAlign(param("cut"), o.library)
		}
		a.Lane = func(l *Lane) { ringAround(l, o) }
		return a, err
	},
	Turns: true,
	Cost: func(p, _ int) Cost {
		return rounds(Round{Times: p - 1, Blocks: 1, Sums: 1}, Round{Times: p - 1, Blocks: 1})
	},
}

// A ringOrder is a library's order of additions: chunk c sets out from rank c+start and goes from
// each rank to rank+step.
type ringOrder struct {
	library     string
	start, step int
}

// openMPIOrder is the default order.
const openMPIOrder = "openmpi"

// ringOrders lists the orders. Open MPI's is in coll/base/coll_base_allreduce.c
// (ompi_coll_base_allreduce_intra_ring), NCCL's in device/all_reduce.h (runRing), gloo's in
// gloo/allreduce.cc (ring). oneCCL and MPICH (allreduce_intra_ring) add up as NCCL does.
func ringOrders() []ringOrder {
	return []ringOrder{{"nccl", +1, +1}, {openMPIOrder, 0, +1}, {"gloo", -1, -1}}
}

// ringOrderOf returns the order of a library.
func ringOrderOf(library string) (ringOrder, error) {
	all := ringOrders()
	i := slices.IndexFunc(all, func(o ringOrder) bool { return o.library == library })
	if i < 0 {
		var names []string
		for _, o := range all {
			names = append(names, o.library)
		}
		return ringOrder{}, fmt.Errorf("order=%s: one of %s is expected", library,
			strings.Join(names, ", "))
	}
	return all[i], nil
}

// ringAlign returns the number of elements that every chunk is a multiple of, 0 for chunks that
// differ by one. gloo cuts two equal segments a rank (gloo/allreduce.cc, ring), MPICH blocks of one
// size (allreduce_intra_ring.c).
func ringAlign(cut, library string) (int64, error) {
	switch {
	case cut == "pairs" || cut == "order" && library == "gloo":
		return 2, nil
	case cut == "equal":
		return 1, nil
	case cut == "even" || cut == "order":
		return 0, nil
	}
	return 0, fmt.Errorf("cut=%s: one of order, even, equal, pairs is expected", cut)
}

// ringAround writes what a rank does.
func ringAround(l *Lane, o ringOrder) {
	p, prev, next := l.Ranks, l.Rank-o.step, l.Rank+o.step
	first := l.Rank - o.start // the chunk that sets out here

	l.Send(next, l.Chunk(first))
	for i := 1; i < p-1; i++ {
		l.ReduceSend(prev, next, l.Chunk(first-i*o.step))
	}
	l.Completes()
	l.ReduceCopySend(prev, next, l.Chunk(first+o.step))
	for i := range p - 2 {
		l.CopySend(prev, next, l.Chunk(first-i*o.step))
	}
	l.Recv(prev, l.Chunk(first+2*o.step))
}
