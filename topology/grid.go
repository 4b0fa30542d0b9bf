package topology

import (
	"fmt"
	"math/bits"
)

// grid is a network whose nodes are the points of a box, with links to their neighbours in each
// dimension. Nodes are in row-major order: the last coordinate varies fastest. Distances follow
// from the coordinates, so routes need no search: 16,384 ranks take no memory besides their links.
type grid struct {
	shape []int32
	wrap  bool // the ends of each dimension are connected
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
// one before. By the rule of the lowest index, routes correct the first dimension first. This is
// dimension-ordered (e-cube) routing (Dally and Seitz, "Deadlock-Free Message Routing in
// Multiprocessor Interconnection Networks", IEEE Trans. Computers 1987).
func mesh(p Params) (*Graph, error) { return newGrid("mesh", p, false) }

// torus returns a mesh whose ends are connected: every node looks alike. A dimension of 2 has one
// link in each direction, not two, as in Ring; one of 1 has none. Halfway round, the tie goes to
// the next coordinate. The diameter is Σ ⌊sᵈ/2⌋. It is the k-ary n-cube of Dally ("Performance
// Analysis of k-ary n-cube Interconnection Networks", IEEE Trans. Computers 1990) with a size for
// each dimension.
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
	like := Link{Bandwidth: p.Bandwidth, Latency: p.Latency}
	links, most := 2*int64(ranks)*int64(len(shape)), int64(MaxLinks) // or fewer
	if wrap {
		most = MaxNumbered
	}
	if err := wanted(preset, ranks, links, most, like); err != nil {
		return nil, err
	}
	var dims []dimension
	stride := int32(ranks)
	for _, size := range shape {
		stride /= size
		dims = append(dims, dimension{stride: stride, size: size})
	}
	var f formula = newWrapped(int32(ranks), like, dims...)
	if !wrap {
		f = newOpen(int32(ranks), like, dims...)
	}
	g := newNumbered(preset, ranks, f)
	g.grid = &grid{shape, wrap}
	return g, nil
}

// hypercube returns 2ᵈ ranks, each linked to the d whose numbers differ from its own in one bit:
// d·2ᵈ links, diameter d, bisection 2ᵈ⁻¹ links in each direction. Links are numbered from the
// lowest bit, so routes correct the lowest bit first (e-cube). Source: Seitz, "The Cosmic Cube",
// CACM 1985.
func hypercube(p Params) (*Graph, error) {
	if p.Ranks < 1 || p.Ranks&(p.Ranks-1) != 0 {
		return nil, badParam("ranks", p.Ranks, "a power of two is expected")
	}
	bit := bits.Len(uint(p.Ranks)) - 1
	like := Link{Bandwidth: p.Bandwidth, Latency: p.Latency}
	links := int64(bit) * int64(p.Ranks)
	if err := wanted("hypercube", p.Ranks, links, MaxNumbered, like); err != nil {
		return nil, err
	}
	var dims []dimension
	box := &grid{}
	for d := range bit {
		box.shape = append(box.shape, 2)
		dims = append(dims, dimension{stride: 1 << d, size: 2})
	}
	g := newNumbered("hypercube", p.Ranks, newWrapped(int32(p.Ranks), like, dims...))
	g.grid = box
	return g, nil
}

// Shape returns the size of each dimension of a network whose ranks are the points of a box, in
// row-major order. wraps reports whether the ends of each dimension are connected. It is nil for
// other networks.
func (g *Graph) Shape() (sizes []int, wraps bool) {
	if g.grid == nil {
		return nil, false
	}
	for _, size := range g.grid.shape {
		sizes = append(sizes, int(size))
	}
	return sizes, g.grid.wrap
}
