package topology

import (
	"fmt"
	"math/bits"
)

// grid is a network whose nodes are the points of a box, numbered in row-major order (the last
// coordinate varies fastest), linked to their neighbours in each dimension. Distances follow from
// the coordinates, so routes need no search: 16,384 ranks take no memory but that of the links.
type grid struct {
	shape []int32
	wrap  bool // the ends of each dimension are joined
}

// distance returns the number of links on a shortest path.
func (g *grid) distance(u, v int32) int32 {
	sum := int32(0)
	for d := len(g.shape) - 1; d >= 0; d-- {
		size := g.shape[d]
		apart := u%size - v%size
		if apart < 0 {
			apart = -apart
		}
		if g.wrap {
			apart = min(apart, size-apart)
		}
		sum += apart
		u, v = u/size, v/size
	}
	return sum
}

// mesh returns a grid of any dimensions, for example Shape [4, 2]: gpu0 and gpu1 are the first row.
// With S the product of the sizes sᵈ, it has 2·Σ S/sᵈ·(sᵈ-1) links; the diameter is Σ (sᵈ-1).
//
// Links are numbered dimension by dimension, first those to the next coordinate, then those to the
// one before: the rule of the lowest index makes routes correct the first dimension first, which is
// dimension-ordered (e-cube) routing (Dally and Seitz, "Deadlock-Free Message Routing in
// Multiprocessor Interconnection Networks", IEEE Trans. Computers 1987).
func mesh(p Params) (*Graph, error) { return newGrid("mesh", p, false) }

// torus returns a mesh whose ends are joined: every node looks alike. A dimension of 2 has one link
// each way, not two, as in Ring; one of 1 has none. Halfway round, the tie goes to the next
// coordinate. The diameter is Σ ⌊sᵈ/2⌋. It is the k-ary n-cube of Dally ("Performance Analysis of
// k-ary n-cube Interconnection Networks", IEEE Trans. Computers 1990) with a size per dimension.
func torus(p Params) (*Graph, error) { return newGrid("torus", p, true) }

func newGrid(preset string, p Params, wrap bool) (*Graph, error) {
	if len(p.Shape) < 1 || len(p.Shape) > 16 {
		return nil, &ParamError{"shape", fmt.Sprint(p.Shape),
			"the sizes of 1 to 16 dimensions are expected"}
	}
	ranks := 1
	shape := make([]int32, len(p.Shape))
	for d, size := range p.Shape {
		if size < 1 || size > MaxRanks || ranks*size > MaxRanks {
			return nil, &ParamError{"shape", fmt.Sprint(p.Shape),
				fmt.Sprintf("sizes from 1 whose product is at most %d are expected", MaxRanks)}
		}
		shape[d] = int32(size)
		ranks *= size
	}
	if p.Ranks != 0 && p.Ranks != ranks {
		return nil, &ParamError{"shape", fmt.Sprint(p.Shape),
			fmt.Sprintf("it has %d places; ranks = %d are expected", ranks, p.Ranks)}
	}
	links := 2 * int64(ranks) * int64(len(shape)) // or fewer
	g, err := newGraph(preset, ranks, links, Link{Bandwidth: p.Bandwidth, Latency: p.Latency})
	if err != nil {
		return nil, err
	}
	g.grid = &grid{shape, wrap}
	stride := int32(ranks)
	for _, size := range shape {
		stride /= size
		for v := range int32(ranks) { // to the next coordinate
			switch at := v / stride % size; {
			case at+1 < size:
				g.addLink(v, v+stride, p.Bandwidth, p.Latency)
			case wrap && size > 1:
				g.addLink(v, v-at*stride, p.Bandwidth, p.Latency)
			}
		}
		for v := range int32(ranks) { // to the one before
			switch at := v / stride % size; {
			case wrap && size == 2:
			case at > 0:
				g.addLink(v, v-stride, p.Bandwidth, p.Latency)
			case wrap && size > 1:
				g.addLink(v, v+(size-1)*stride, p.Bandwidth, p.Latency)
			}
		}
	}
	return g.numbered(), nil
}

// hypercube returns 2ᵈ ranks, each linked to the d whose numbers differ from its own in one bit:
// d·2ᵈ links, diameter d, bisection 2ᵈ⁻¹ links each way. Links are numbered from the lowest bit, so
// routes correct the lowest bit first (e-cube). Source: Seitz, "The Cosmic Cube", CACM 1985.
func hypercube(p Params) (*Graph, error) {
	if p.Ranks < 1 || p.Ranks&(p.Ranks-1) != 0 {
		return nil, badParam("ranks", p.Ranks, "a power of two is expected")
	}
	bit := bits.Len(uint(p.Ranks)) - 1
	g, err := newGraph("hypercube", p.Ranks, int64(bit)*int64(p.Ranks),
		Link{Bandwidth: p.Bandwidth, Latency: p.Latency})
	if err != nil {
		return nil, err
	}
	g.grid = &grid{}
	for d := range bit {
		g.grid.shape = append(g.grid.shape, 2)
		for v := range int32(p.Ranks) {
			g.addLink(v, v^1<<d, p.Bandwidth, p.Latency)
		}
	}
	return g.numbered(), nil
}
