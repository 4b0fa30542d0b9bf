package nccl

import (
	"math/bits"

	"collsim/collective"
	"collsim/schedule"
)

// pat is a call by PAT, parallel aggregated trees (include/collectives.h, PatRSAlgorithm and
// PatAGAlgorithm). Every rank does the same as seen from itself. What matters of a block is how far
// away its rank is: distance d is the block of rank r+d. In a reduce_scatter the sum at distance d
// goes to the rank at d's lowest bit, where it is at distance d without that bit; distance 0 is
// the result. An all_gather goes the same ways back.
//
//	8 ranks:  0 ◄── 1,  2 ◄── 3,  0 ◄── 2,  4 ◄── 5,  6 ◄── 7,  4 ◄── 6,  0 ◄── 4
//
// The upper bits number the aggregated trees: with A of them, of Δ ranks each, a class y has the
// distances a·Δ+y, which go together, up to "together" in a message. First come the classes within
// the trees, then their roots, a·Δ, level by level.
type pat struct {
	*Choice
	*pieces
	spec  collective.Spec
	split []part
}

// aggregation is A and Δ, and how many blocks a message has at most.
type aggregation struct{ trees, delta, together int }

// aggregated returns the aggregation of a channel. Blocks so short that several fit in a chunk go
// together. There are eight times as many trees as that, for the slots of a connection.
func (p *pat) aggregated(channel int) aggregation {
	n := p.spec.Ranks
	a := aggregation{1, 1 << bits.Len(uint(n-1)), 1}
	part := p.split[channel]
	for part.chunk/(part.count*int64(a.trees)) >= 2 && a.trees < n/2 {
		a.trees, a.delta = 2*a.trees, a.delta/2
	}
	a.together = a.trees
	for d := slots; d > 1 && a.trees < n/2; d /= 2 {
		a.trees, a.delta = 2*a.trees, a.delta/2
	}
	return a
}

// family is the distances whose blocks go by the same hop: a class y, or with y = 0 the roots at a
// level.
type family struct{ y, level int }

// walker is a rank in a loop.
type walker struct {
	*schedule.Lane
	*pat
	aggregation
	has  []bool         // of a distance: a sum has been begun, the block has come
	come map[family]int // messages that have come
}

// lane writes the steps of a rank in a channel.
func (p *pat) lane(l *schedule.Lane) {
	w := &walker{Lane: l, pat: p, aggregation: p.aggregated(l.Channel)}
	for loop := range p.loops[l.Channel] {
		l.Tile(p.at(l.Channel, loop, 0, 0))
		w.has, w.come = make([]bool, l.Ranks), map[family]int{}
		if p.spec.Kind == collective.ReduceScatter {
			w.reduceScatter()
		} else {
			w.allGather()
		}
	}
}

// hop returns the distance that a family goes.
func (w *walker) hop(f family) int {
	if f.y == 0 {
		return w.delta << f.level
	}
	return f.y & -f.y
}

// messages lists a family's distances, in order, each so much further. Distances beyond the last
// rank are left out, so a message may have none. A reduce_scatter has the trees in the reverse
// order of their bits and inverted, an all_gather as they are.
func (w *walker) messages(f family, further int) (all [][]int) {
	n := w.trees
	if f.y == 0 {
		n >>= f.level + 1
	}
	for first := 0; first < n; first += w.together {
		var m []int
		for i := first; i < min(n, first+w.together); i++ {
			tree := i
			if w.spec.Kind == collective.ReduceScatter {
				tree = n - 1 - int(bits.Reverse64(uint64(i))>>(65-bits.Len(uint(n))))
			}
			d := tree*w.delta + f.y
			if f.y == 0 {
				d = (2*tree + 1) << f.level * w.delta
			}
			if d += further; d < w.Ranks {
				m = append(m, d)
			}
		}
		all = append(all, m)
	}
	return all
}

// levels returns the number of levels of roots.
func (w *walker) levels() int { return bits.Len(uint(w.trees)) - 1 }

// listed returns a buffer's region at several distances: the ranks' blocks of input and output,
// the blocks of these numbers of scratch.
func (w *walker) listed(of func(int) schedule.Region, distances []int) schedule.Region {
	r := of(distances[0])
	if len(distances) == 1 {
		return r
	}
	list := []int32{}
	for _, d := range distances {
		list = append(list, of(d).First)
	}
	return schedule.Region{Buffer: r.Buffer, Tile: r.Tile, List: list}
}

// blocks returns the blocks of the input at distances.
func (w *walker) blocks(distances []int) schedule.Region {
	return w.listed(func(d int) schedule.Region { return w.In(w.Rank + d) }, distances)
}
