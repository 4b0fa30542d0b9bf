package collective

import (
	"fmt"

	"collsim/dtype"
)

// Backward describes how the gradient of a collective's output becomes that of its input. A
// collective without max and min is a linear map of all ranks' inputs, and this is the transposed
// one: with ⟨·,·⟩ summed over all ranks, ⟨C x, y⟩ = ⟨x, Cᵀ y⟩.
type Backward struct {
	// Spec carries the gradient: its inputs are the gradients of the outputs, its outputs those of
	// the inputs. Ranks without an output (all but the root of reduce and gather) contribute none.
	Spec Spec
	// Scale multiplies every element of the result: 1/n for avg, the factor of premulsum, else 1.
	Scale float64
	// Mask is set for max and min: an element of the result counts where the input is equal to the
	// output, and is 0 elsewhere. If several ranks tie, each of them gets all of it. All ranks of
	// an all_reduce have the output; for other kinds Spec distributes it, as it does the gradient.
	Mask bool
}

// Gradient returns the full gradient. It is right if the loss is the sum of losses that each rank
// computes from its own output. torch.distributed.nn and MegEngine's grad_mode full have this
// convention.
//
//	all_reduce → all_reduce        all_gather(v) ↔ reduce_scatter(v)    broadcast ↔ reduce
//	all_to_all → all_to_all        all_to_allv → its splits transposed  gather ↔ scatter
//	send_recv → all_to_allv that sends every block back
//
// prod has no linear form, the operators and, or and xor are of truth values and bits, and barrier
// and custom have no gradient at all: they are refused. So is whatever moves bools.
func Gradient(s Spec) (Backward, error) {
	g := Backward{Spec: Spec{Type: s.Type, Ranks: s.Ranks, Root: s.Root, Count: s.Count}, Scale: 1}
	if err := s.Validate(); err != nil {
		return g, err
	}
	if s.Type == dtype.Bool {
		return g, fmt.Errorf("%v of bool has no gradient; numbers have one", s.Kind)
	}
	switch s.Op {
	case Prod, And, Or, Xor:
		return g, fmt.Errorf("%v %v has no gradient; sum, avg, premulsum, min and max "+
			"have one", s.Kind, s.Op)
	case Avg:
		g.Scale = 1 / float64(s.Ranks)
	case PremulSum:
		g.Scale = s.Factor
	case Max, Min:
		g.Mask = true
	}
	b := &g.Spec
	switch s.Kind {
	case AllReduce, AllToAll:
		b.Kind = s.Kind
	case AllGather:
		b.Kind = ReduceScatter
	case ReduceScatter:
		b.Kind = AllGather
	case AllGatherV:
		b.Kind, b.Splits = ReduceScatterV, s.Splits
	case ReduceScatterV:
		b.Kind, b.Splits = AllGatherV, s.Splits
	case Broadcast:
		b.Kind = Reduce
	case Reduce:
		b.Kind = Broadcast
	case Gather:
		b.Kind = Scatter
	case Scatter:
		b.Kind = Gather
	case AllToAllV:
		b.Kind, b.Splits = AllToAllV, transposed(s.Splits)
	case SendRecv:
		b.Kind, b.Count, b.Splits = AllToAllV, 0, make([][]int64, s.Ranks)
		for rank := range b.Splits {
			b.Splits[rank] = make([]int64, s.Ranks)
			b.Splits[rank][(rank+s.Ranks-1)%s.Ranks] = s.Count
		}
	default:
		return g, fmt.Errorf("%v has no gradient", s.Kind)
	}
	if b.Kind.Reduces() {
		b.Op = Sum
	}
	return g, b.Validate()
}

// Zero in Piece.From stands for elements that are 0.
const Zero = -2

// LocalBackward describes the gradient in the other convention: every rank computes the same loss
// from its output, and only its own share of it flows back (MegEngine's local_grad, mpi4jax,
// Megatron's f and g). Nothing is communicated. Pieces map elements of a rank's own output gradient
// to its input gradient; Zero stands for none. Scale and Mask are as in Backward.
//
//	all_reduce        identity                    all_gather(v)       the rank's own slice
//	reduce_scatter(v) zeros around its own block  all_to_all(v)       its own block, zeros elsewhere
type LocalBackward struct {
	Pieces []Piece
	Scale  float64
	Mask   bool
}

// LocalGradient returns the local gradient for a rank. Other kinds are refused: broadcast, reduce,
// gather and scatter treat the root unlike the rest, so no rank's share is its own.
func LocalGradient(s Spec, rank int) (LocalBackward, error) {
	g, err := Gradient(s)
	if err != nil {
		return LocalBackward{}, err
	}
	local := LocalBackward{Scale: g.Scale, Mask: g.Mask}
	if rank < 0 || rank >= s.Ranks {
		return local, fmt.Errorf("rank %d is none of the %d", rank, s.Ranks)
	}
	n := s.In(rank)
	own := Piece{Len: n, From: rank}
	switch s.Kind {
	case AllReduce:
	case AllGather, AllGatherV:
		own.InOff = s.blockStart(rank)
	case ReduceScatter, ReduceScatterV:
		own.Off, own.Len = s.blockStart(rank), s.Out(rank)
	case AllToAll:
		own.Off, own.InOff, own.Len = s.blockStart(rank), s.blockStart(rank), s.Count
	case AllToAllV:
		own.Off, own.Len = sum(s.Splits[rank][:rank]), s.Splits[rank][rank]
		for _, row := range s.Splits[:rank] {
			own.InOff += row[rank]
		}
	default:
		return local, fmt.Errorf("%v has no local gradient; all_reduce, all_gather, "+
			"all_gatherv, reduce_scatter, reduce_scatterv, all_to_all and all_to_allv have one",
			s.Kind)
	}
	for _, p := range []Piece{{Len: own.Off, From: Zero}, own,
		{Off: own.Off + own.Len, Len: n - own.Off - own.Len, From: Zero}} {
		if p.Len > 0 {
			local.Pieces = append(local.Pieces, p)
		}
	}
	return local, nil
}

// Gradient returns the communication that carries the gradient of this one's output tensors to its
// inputs, on so many ranks. Its Spec is that of Gradient of this one's. Its blocks are stored in
// its tensors as in this one's, so that either accepts the tensors of the other. Scale and Mask are
// as in Backward. REQUIRES: Spec succeeds.
func (c *Communication) Gradient(ranks int) (*Communication, error) {
	spec, err := c.Spec(ranks)
	if err != nil {
		return nil, err
	}
	back, err := Gradient(spec)
	if err != nil {
		return nil, err
	}
	n := c.size(ranks)
	out, err := c.Shapes(c.Inputs(n))
	if err != nil {
		return nil, err
	}
	g := &Communication{Kind: back.Spec.Kind, Op: back.Spec.Op, Type: c.Type, Team: c.Team,
		Root: c.Root, Shape: c.Shape, Axis: c.Axis, Splits: c.Splits}
	switch c.Kind {
	case AllGather, AllGatherV, ReduceScatter, Scatter:
		g.Shape = out[0]
	case Gather:
		g.Shape = out[c.position(c.Root, n)]
	case AllToAll:
		g.Shape, g.Axis, g.Concat = out[0], c.Concat, c.Axis
	case AllToAllV:
		g.Splits = transposed(c.Splits)
	case SendRecv:
		if len(c.Shape) == 0 {
			g.Shape = Shape{1}
		}
		g.Splits = make([][]int64, n)
		for rank := range g.Splits {
			g.Splits[rank] = make([]int64, n)
			g.Splits[rank][(rank+n-1)%n] = g.Shape[0]
		}
	}
	return g, nil
}

func transposed(matrix [][]int64) [][]int64 {
	t := make([][]int64, len(matrix))
	for to := range t {
		for from := range matrix {
			t[to] = append(t[to], matrix[from][to])
		}
	}
	return t
}
