package algos

import "collsim/collective"

// A placed exchange is an all_gather whose messages are runs of blocks though partners are in any
// order. Numbers of a power of two have places. First the blocks go to the numbers that have their
// places. Then, in round i, partners exchange the runs of 2^i places that they have.
type placedExchange struct {
	fold    fold
	place   func(number int) int        // of a number, in the order of the blocks
	at      func(place int) int         // the number that has a place
	partner func(number, round int) int // its place is in the other half of a run of 2^(round+1)
}

// gather writes the all_gather. Ranks that fold get all blocks at the end.
func (e *placedExchange) gather(l *Lane) {
	f, r := e.fold, l.Rank
	me, start := f.number(r), e.firstRound()
	if to := f.rank(e.at(f.pair(r))); to != r {
		l.Round(0)
		l.Send(to, l.Chunk(r))
	} else {
		l.Keep(l.Chunk(r))
	}
	if me < 0 {
		l.Round(start + floorLog2(f.q))
		l.Recv(r+1, l.Chunk(0).Blocks(l.Ranks))
		return
	}
	for from := f.first(e.place(me)); from < f.first(e.place(me)+1); from++ {
		if from != r {
			l.Round(0)
			l.Recv(from, l.Chunk(from))
		}
	}
	for i, n := 0, 1; n < f.q; i, n = i+1, 2*n {
		with := e.partner(me, i)
		l.Round(start + i)
		l.Send(f.rank(with), f.blocks(l, e.place(me)&^(n-1), n))
		l.Round(start + i)
		l.Recv(f.rank(with), f.blocks(l, e.place(with)&^(n-1), n))
	}
	if f.paired(me) {
		l.Round(start + floorLog2(f.q))
		l.Send(r-1, l.Chunk(0).Blocks(l.Ranks))
	}
}

// firstRound returns the first round of the exchange: 0 if all blocks are in their places.
func (e *placedExchange) firstRound() int {
	if e.fold.q > 2 || e.fold.rest > 0 {
		return 1
	}
	return 0
}

// cost returns the cost of the all_gather. The two blocks of a pair may come to another rank, which
// backwards sends them one behind the other.
func (e *placedExchange) cost() Cost {
	f, p := e.fold, e.fold.q+e.fold.rest
	r := []Round{{Times: e.firstRound() + min(f.rest/2, 1), Blocks: 1, Handed: true}}
	for n := 1; n < f.q; n *= 2 {
		r = append(r, Round{Times: 1, Blocks: n + min(n, f.rest)})
	}
	r = append(r, Round{Times: min(f.rest, 1), Blocks: p})
	return rounds(r...).atMost(f.rest > 0)
}

// Butterfly reduce_scatter, which keeps the order of the ranks. Partners at distance 1, 2, 4, …
// exchange halves, and add. The halves are then in the order of reversed bits, so that every block
// at last goes to where it belongs. If the ranks are no power of two, neighbours fold first.
//
//	p = 4:   0↔1 2↔3 │ 0↔2 1↔3 │ 1↔2
//
// Träff, "An improved algorithm for (non-commutative) reduce-scatter with an application",
// EuroPVM/MPI 2005.
var butterflyReduceScatter = Algorithm{
	Name:    "butterfly",
	Kinds:   []collective.Kind{collective.ReduceScatter, collective.ReduceScatterV},
	About:   "partners at distance 1, 2, 4, … exchange halves; blocks then go where they belong",
	When:    "operators that do not commute; short vectors",
	Source:  "Träff 2005; Open MPI",
	Formula: "(k+⌈(k−1)/k⌉)·α + (p−1+⌈(k−1)/k⌉)/p·n·β + (p−1)/p·n·γ",
	Of:      &butterflyAllGather,
}

// butterflyAllGather is the original of butterflyReduceScatter. It is not in the table.
var butterflyAllGather = Algorithm{
	Name:  "butterfly",
	Kinds: []collective.Kind{collective.AllGather, collective.AllGatherV},
	Lane:  func(l *Lane) { butterfly(l.Ranks).gather(l) },
	Cost:  func(p, _ int) Cost { return butterfly(p).cost() },
}

// butterfly returns the exchange: places are numbers with their bits reversed.
func butterfly(ranks int) *placedExchange {
	f := foldOf(ranks)
	bits := floorLog2(f.q)
	reversed := func(n int) int { return reverseBits(n, bits) }
	return &placedExchange{fold: f, place: reversed, at: reversed,
		partner: func(number, round int) int { return number ^ f.q>>(round+1) }}
}
