package msccl

import "collsim/schedule"

// op is an operation that a file has as one step: a kind, the wires that it receives and sends by
// (−1 for none), its source and its destination. It is written as one step for each piece.
type op struct {
	kind     kind
	in, out  int
	from, to area
}

// order returns the order in which the sources are combined. A message and the local operand after
// it are one step in either order, since the operators commute.
func (a *act) order() []int {
	order := make([]int, len(a.step.From))
	for i := range order {
		order[i] = i
	}
	if len(order) > 1 && a.in[0] >= 0 && a.in[1] < 0 {
		order[0], order[1] = 1, 0
	}
	return order
}

// passes reports whether a file has a fused receive and send for an act. It returns the wires of
// the last message and of the only send.
func (a *act) passes() (in, out int, ok bool) {
	if len(a.out) != 1 || len(a.step.From) == 0 {
		return 0, 0, false
	}
	order := a.order()
	in = a.in[order[len(order)-1]]
	return in, a.out[0], in >= 0
}

// splitter converts an act to ops: a chain that runs in sequence, then sends that are independent.
type splitter struct {
	*writer
	rank  int
	a     *act
	chain []op
	fan   []op
}

// split converts an act to ops.
func (x *writer) split(rank int, a *act) (chain, fan []op) {
	s := &splitter{writer: x, rank: rank, a: a}
	if len(a.step.From) == 0 {
		return nil, nil
	}
	in, out, passes := a.passes()
	passes = passes && x.wires[in].pairedOut == out
	value, stored := s.combine(passes)
	for i := range a.to {
		if i > 0 || !stored {
			s.copy(value, a.to[i])
			value = a.to[i]
		}
	}
	if !passes {
		for _, w := range a.out {
			s.fan = append(s.fan, op{kind: send, in: -1, out: w, from: value})
		}
	}
	return s.chain, s.fan
}

// combine combines the sources; the last step also sends if passes. It returns the location of the
// value, and whether that is the act's first destination.
func (s *splitter) combine(passes bool) (value area, stored bool) {
	order := s.a.order()
	if i := order[0]; s.a.in[i] < 0 {
		value = s.a.from[i]
	} else {
		value = s.target(order, 0)
		k := receive
		if passes && len(order) == 1 {
			k = receiveCopySend
		}
		s.message(k, i, area{}, value)
	}
	owned := s.a.in[order[0]] >= 0
	for k := 1; k < len(order); k++ {
		i := order[k]
		switch {
		case s.a.in[i] < 0:
			if !owned {
				to := s.target(order, k)
				s.copy(value, to)
				value = to
			}
			s.chain = append(s.chain, op{reduce, -1, -1, s.a.from[i], value})
		case passes && k == len(order)-1 && len(s.a.to) == 0:
			s.message(receiveReduceSend, i, value, area{})
		case passes && k == len(order)-1:
			to := s.target(order, k)
			s.message(receiveReduceCopySend, i, value, to)
			value = to
		default:
			to := s.target(order, k)
			s.message(receiveReduceCopy, i, value, to)
			value = to
		}
		owned = true
	}
	return value, owned && len(s.a.to) > 0 && s.same(value, s.a.to[0])
}

// message adds an op that receives one of the act's sources, by its index. A kind that reduces adds
// the value in from. The result goes to to, and to the act's only send if the kind sends.
func (s *splitter) message(k kind, source int, from, to area) {
	o := op{k, s.a.in[source], -1, from, to}
	if k.sends() {
		o.out = s.a.out[0]
	}
	s.chain = append(s.chain, o)
}

// target returns the destination of the value after the k-th source. It is the act's first
// destination, unless there is none, or it overlaps a source that is still to be read.
func (s *splitter) target(order []int, k int) area {
	if len(s.a.to) == 0 {
		return s.fresh()
	}
	to := s.a.to[0]
	for n, i := range order {
		if s.a.in[i] >= 0 || n < k && (n > 0 || k > 1) {
			continue
		}
		merely := n == 0 && s.same(s.a.from[i], to) // read and written in one step
		if s.overlap(s.a.from[i], to) && !merely {
			return s.fresh()
		}
	}
	return to
}

// fresh returns unused space in scratch.
func (s *splitter) fresh() area {
	at := s.s.Memory + s.taken[s.rank]
	size := s.a.cuts[len(s.a.cuts)-1]
	s.taken[s.rank] += size
	return area{schedule.Scratch, []schedule.Span{{Off: at, Len: size}}}
}

// copy copies a value, through scratch if the two places overlap. A copy onto itself is left out.
func (s *splitter) copy(from, to area) {
	if s.same(from, to) {
		return
	}
	if s.overlap(from, to) {
		via := s.fresh()
		s.chain = append(s.chain, op{copying, -1, -1, from, via})
		from = via
	}
	s.chain = append(s.chain, op{copying, -1, -1, from, to})
}

// home returns the memory location of an element of a buffer: in place, two buffers share one.
func (x *writer) home(rank int, b schedule.Buffer, off int64) (schedule.Buffer, int64) {
	memory, base := x.s.Home(b, rank)
	return memory, base + off
}

// same reports whether two areas have the same elements in the same order.
func (s *splitter) same(a, b area) bool {
	if len(a.spans) != len(b.spans) {
		return false
	}
	for i := range a.spans {
		m, at := s.home(s.rank, a.buffer, a.spans[i].Off)
		n, by := s.home(s.rank, b.buffer, b.spans[i].Off)
		if m != n || at != by || a.spans[i].Len != b.spans[i].Len {
			return false
		}
	}
	return true
}

// overlapOn reports whether two areas of a rank share an element.
func (x *writer) overlapOn(rank int, a, b area) bool {
	for _, p := range a.spans {
		m, at := x.home(rank, a.buffer, p.Off)
		for _, q := range b.spans {
			n, by := x.home(rank, b.buffer, q.Off)
			if m == n && at < by+q.Len && by < at+p.Len {
				return true
			}
		}
	}
	return false
}

func (s *splitter) overlap(a, b area) bool { return s.overlapOn(s.rank, a, b) }
