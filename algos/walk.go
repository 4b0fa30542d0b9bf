package algos

import (
	"fmt"
	"slices"

	"collsim/collective"
)

// A walk orders the rounds of Swing and Bine on a torus. Each round goes along the next dimension,
// the i-th along one as far as the i-th on a ring. Dimensions whose rounds are over are left out.
// A vector has a part for each dimension to begin with, and as many parts whose partners
// are on the other side. So all 2·D links of a rank are at work at once. De Sensi, Bonato, Saam and
// Hoefler, NSDI 2024, §4.
//
//	4x4, rank 0:   1, 4, 3, 12 │ 4, 1, 12, 3 │ 3, 12, 1, 4 │ 12, 3, 4, 1
type walk struct {
	dims     lattice
	moves    []move // the nearest partners first
	mirrored bool
}

// A move is a round along a dimension.
type move struct{ dimension, round int }

// dimsParam is the parameter of algorithms that walk.
var dimsParam = []Param{{Name: "dims", Value: AsEvenShape,
	About: "the even sizes of the dimensions of a torus as in 4x4x2, the first that of neighbours " +
		"in rank order; a part of the vector goes each way, or channels do in turn; balanced is " +
		"near to a square; even-shape is that of a torus of even sizes as network, elsewhere one " +
		"ring and one way"}}

// A torus has the dimensions that an algorithm walks through.
type torus struct {
	dims lattice
	ways int // parts of a vector, each with a walk of its own
}

// torusOf reads the dimensions. Without any, it returns one ring and one way.
func torusOf(ranks int, text string) (torus, error) {
	ring := torus{lattice{ranks}, 1}
	if text == AsEvenShape {
		return ring, nil
	}
	dims, err := latticeOf(dimsParam[0].Name, text, ranks, nearSquare(ranks))
	if err != nil || ranks == 1 {
		return ring, err
	}
	for _, size := range dims {
		if size > 1 && size%2 == 1 {
			return ring, fmt.Errorf("dims = %q: even sizes are expected; %d is all ranks as one ring",
				text, ranks)
		}
	}
	dims = slices.DeleteFunc(dims, func(size int) bool { return size == 1 })
	return torus{dims, 2 * len(dims)}, nil
}

// walk returns the walk of one of the ways.
func (t torus) walk(way int) *walk {
	way %= t.ways
	n := len(t.dims)
	w := &walk{dims: t.dims, mirrored: way >= n}
	for round := range ceilLog2(slices.Max(t.dims)) {
		for i := range n {
			if d := (way + i) % n; round < ceilLog2(t.dims[d]) {
				w.moves = append(w.moves, move{d, round})
			}
		}
	}
	return w
}

// of returns the walk of a lane.
func (t torus) of(l *Lane) *walk { return t.walk(l.Channel*l.Lanes + l.Index) }

// partner returns the partner of a rank in a round.
func (w *walk) partner(rank, round int) int {
	m := w.moves[round]
	size := w.dims[m.dimension]
	at := w.dims.at(rank, m.dimension)
	to := w.side(swingPartner(w.side(at, size), m.round, size), size)
	return w.dims.moved(rank, m.dimension, to-at)
}

// exchange returns the exchange of an all_gather: the partners that are farthest first.
func (w *walk) exchange(ranks, base int) *exchange {
	k := len(w.moves)
	return &exchange{ranks: ranks, rounds: k, base: base, partner: func(rank, round int) int {
		return w.partner(rank, k-1-round)
	}}
}

// place returns the place of a rank of a power of two: what two partners exchange are the halves of
// a run of places (binePlace). Each round decides a binary digit, the first the highest.
func (w *walk) place(rank int) (place int) {
	for _, m := range w.moves {
		size := w.dims[m.dimension]
		along := binePlace(w.side(w.dims.at(rank, m.dimension), size), size)
		place = 2*place + along>>(floorLog2(size)-1-m.round)&1
	}
	return place
}

// rankAt returns the rank that has a place.
func (w *walk) rankAt(place int) (rank int) {
	along := make([]int, len(w.dims))
	for i, m := range w.moves {
		along[m.dimension] = 2*along[m.dimension] + place>>(len(w.moves)-1-i)&1
	}
	for d, size := range w.dims {
		rank += w.side(bineRank(along[d], size), size) * w.dims.stride(d)
	}
	return rank
}

// side returns a coordinate, or its mirror image.
func (w *walk) side(at, size int) int {
	if w.mirrored {
		return mod(-at, size)
	}
	return at
}

// walking completes an algorithm that walks through a torus, whose lanes are written by lane. An
// all_reduce has a lane for each way, and as many chunks for each as it has on one ring.
func walking(lane func(*Lane, torus), cost func(p int, t torus) Cost) func(Algorithm, int,
	func(string) string) (Algorithm, error) {
	return func(a Algorithm, ranks int, param func(string) string) (Algorithm, error) {
		t, err := torusOf(ranks, param(dimsParam[0].Name))
		if err != nil {
			return a, err
		}
		if a.Kinds[0] == collective.AllReduce {
			chunks := a.Chunks
			a.Lanes = func(int) int { return t.ways }
			a.Chunks = func(p int) int { return t.ways * count(chunks, p) }
		}
		a.Lane = func(l *Lane) { lane(l, t) }
		a.Cost = func(p, _ int) Cost {
			c := cost(p, t)
			c.PerConnection = t.ways > 1
			return c
		}
		return a, nil
	}
}
