package proof

import (
	"collsim/collective"
	"collsim/kernel"
	"collsim/schedule"
)

// A folded schedule (schedule.ComposeFolded) has one rank of each class of equal ones. It is proven
// by its parts. Each is proven alone, on all ranks of its team. That parts are ordered on a rank,
// and find all that they read, is seen from each rank by itself; it is the same for all of a class.
//
// What a call defines on a rank depends on the operands of ranks that the whole does not have. So
// its result is a value that only the call determines, and the operands of the ranks that
// stand for its team. Where two values are equal so on the rank that stands for others, they come
// of the same calls and kernels, in the same order, of equal operands; and so do those of all ranks
// that it stands for. A pass that makes one call of two is not proven thus.

// call computes the result of a collective on the ranks that the whole has.
func (sc *scope) call(spec *collective.Spec) {
	var in [][]seg
	for _, rank := range sc.fold.Seats {
		in = append(in, cut(sc.read(schedule.Input, rank), 0, spec.In(rank)))
	}
	of := *spec
	of.InPlace = false // the operand is read before the result is written
	for _, rank := range sc.fold.Seats {
		n := spec.Out(rank)
		if n == 0 {
			continue
		}
		call := sc.f.callOf(foldedCall{of.Key(), rank, sc.fold})
		op := kernel.Op{Kind: kernel.Opaque, Out: spec.Type, N: -1 - int64(call)}
		sc.write(schedule.Output, rank, 0, sc.f.rowwise(op, 1, n, make([]operand, 1), in))
	}
}

// callOf returns the number of a call.
func (f *formulas) callOf(c foldedCall) int32 {
	n, _ := f.calls.Number(c)
	return n
}

// upTo lists the numbers below n.
func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
