package mscclpp

import (
	"fmt"
	"math"

	"collsim/collective"
	"collsim/schedule"
)

// labels lists the collectives that plans name.
var labels = []struct {
	name string
	kind collective.Kind
}{
	{"allreduce", collective.AllReduce}, {"allgather", collective.AllGather},
	{"reducescatter", collective.ReduceScatter}, {"alltoall", collective.AllToAll},
	{"sendrecv", collective.SendRecv}, {"broadcast", collective.Broadcast},
	{"reduce", collective.Reduce}, {"gather", collective.Gather},
	{"scatter", collective.Scatter}, {"test", collective.Custom},
	{"custom", collective.Custom},
}

// label returns the collective of the plan's label; Custom for any other.
func (l *lowering) label() collective.Kind {
	for _, x := range labels {
		if x.name == l.plan.collective {
			return x.kind
		}
	}
	l.note("collective %s has no definition here: held to no result", quote(l.plan.collective))
	return collective.Custom
}

// size determines the problem and the elements of a chunk.
func (l *lowering) size() error {
	if err := l.settleOptions(); err != nil {
		return err
	}
	width := int64(l.options.DataType().Width())
	if l.plan.align%width != 0 {
		return fmt.Errorf("buffer_alignment %d is no multiple of the %d bytes of an element",
			l.plan.align, width)
	}
	kind, ranks := l.label(), len(l.plan.gpus)
	if l.options.As != 0 {
		kind = l.options.As
	}
	spec, err := l.problem(kind, ranks)
	if err != nil {
		return err
	}
	if kind == collective.SendRecv {
		l.shiftSendRecv(&spec)
	}
	if err := spec.Validate(); err != nil {
		return err
	}
	if err := l.checkSize(&spec); err != nil {
		return err
	}
	l.head = schedule.Schedule{Name: l.plan.name, Spec: spec}
	return nil
}

// settleOptions refuses options that have no counterpart in the executor.
func (l *lowering) settleOptions() error {
	o := &l.options
	switch o.Protocol {
	case "":
		o.Protocol = l.plan.protocol
	case "Simple", "LL":
	default:
		return fmt.Errorf("protocol %s; MSCCL++ has Simple and LL", quote(o.Protocol))
	}
	switch {
	case o.Op == collective.Avg || o.Op == collective.PremulSum:
		return fmt.Errorf("operator %v: MSCCL++ scales nothing", o.Op)
	case o.Op >= collective.And:
		return fmt.Errorf("operator %v: MSCCL++ has sum, min and max", o.Op)
	}
	return l.eachOp(func(_ *gpu, p *op) error {
		for _, x := range []struct {
			name string
			op   collective.Op
		}{{"min", collective.Min}, {"max", collective.Max}} {
			if p.reduce == x.name && o.Op == 0 {
				o.Op = x.op
			}
		}
		return nil
	})
}

// eachOp calls f with every operation, pipelines before their contents.
func (l *lowering) eachOp(f func(g *gpu, o *op) error) error {
	for r := range l.plan.gpus {
		g := &l.plan.gpus[r]
		for b := range g.blocks {
			for i := range g.blocks[b].ops {
				o := &g.blocks[b].ops[i]
				if err := f(g, o); err != nil {
					return err
				}
				for j := range o.body {
					if err := f(g, &o.body[j]); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// problem returns the collective at the requested size. Without one it takes the least size at
// which every thread block has a few elements and every pipeline has two iterations.
func (l *lowering) problem(kind collective.Kind, ranks int) (collective.Spec, error) {
	o := l.options
	if kind == collective.Custom {
		return l.custom(ranks)
	}
	o.As = kind
	given := o.Count > 0 || o.Bytes > 0
	if !given {
		o.Count = 1
	}
	one, err := o.Spec(kind, ranks, 1, l.plan.inPlace)
	if err != nil || kind == collective.Barrier {
		l.chunk = l.grain()
		return one, err
	}
	unit := one // a count of 1
	unit.Count = 1
	rank, in, chunks := l.measure(&unit)
	if chunks == 0 {
		return one, fmt.Errorf("%v on %d ranks moves data, but the plan has no chunks", kind, ranks)
	}
	if !given {
		one.Count = l.multiple(l.grain()*chunks, in) / in
		l.chunk = one.Count * in / chunks
		l.fit(&one)
	}
	if err := one.Validate(); err != nil {
		return one, err
	}
	if one.Count*in%chunks != 0 {
		return one, l.uneven(rank, one.Count*in, chunks)
	}
	l.chunk = one.Count * in / chunks
	return one, nil
}

// measure returns a rank with chunks, and their number. elements are those of its input (or else
// output) in a problem whose count is 1.
func (l *lowering) measure(unit *collective.Spec) (rank int, elements, chunks int64) {
	for rank := range l.plan.gpus {
		g := &l.plan.gpus[rank]
		if n := unit.In(rank); n > 0 && g.chunks[schedule.Input] > 0 {
			return rank, n, g.chunks[schedule.Input]
		}
		if n := unit.Out(rank); n > 0 && g.chunks[schedule.Output] > 0 {
			return rank, n, g.chunks[schedule.Output]
		}
	}
	return 0, 0, 0
}

// multiple rounds a up to a multiple of b.
func (l *lowering) multiple(a, b int64) int64 { return (a + b - 1) / b * b }

// custom returns a problem without definition: every rank has its chunks, all of one size.
func (l *lowering) custom(ranks int) (collective.Spec, error) {
	o := l.options
	s, err := o.Spec(collective.Custom, ranks, 1, l.plan.inPlace)
	if err != nil {
		return s, err
	}
	most := int64(1)
	for _, g := range l.plan.gpus {
		most = max(most, g.chunks[schedule.Input], g.chunks[schedule.Output])
	}
	l.chunk = l.grain()
	if elements := o.Whole(collective.Custom, ranks, 1); o.Count > 0 || o.Bytes > 0 {
		if elements%most != 0 {
			return s, l.uneven(0, elements, most)
		}
		l.chunk = elements / most
	}
	s.Splits = [][]int64{make([]int64, ranks), make([]int64, ranks)}
	for r := range l.plan.gpus {
		for b := range s.Splits {
			s.Splits[b][r] = l.plan.gpus[r].chunks[b] * l.chunk
		}
	}
	return s, nil
}

// grain returns the elements of the smallest useful chunk.
func (l *lowering) grain() int64 {
	units, tail := int64(1), int64(0)
	l.eachOp(func(_ *gpu, o *op) error {
		units = max(units, o.tbs)
		tail = max(tail, l.multiple(o.unit, l.plan.align))
		return nil
	})
	return (units*l.plan.align + tail) / int64(l.options.DataType().Width())
}

// fit raises the count to min_message_size, where no size is given.
func (l *lowering) fit(s *collective.Spec) {
	size := l.messageSize(s)
	least := min(l.plan.least, math.MaxInt64/2)
	if size > 0 && size < int64(least) {
		times := (int64(least) + size - 1) / size
		s.Count *= min(times, collective.MaxElements/max(1, s.Count*int64(s.Ranks)))
	}
}

// messageSize returns the executor's message size, in bytes.
func (l *lowering) messageSize(s *collective.Spec) int64 {
	n := s.In(0)
	if l.plan.collective == "allgather" {
		n = s.Out(0)
	}
	return n * int64(s.Type.Width())
}

// uneven makes the error of elements that chunks do not divide.
func (l *lowering) uneven(rank int, elements, chunks int64) error {
	return fmt.Errorf("%d elements in %d chunks of rank %d do not come out even: %s", elements,
		chunks, rank, l.sizes())
}

// checkSize refuses the sizes that the executor refuses: chunks of several sizes, or not aligned,
// and messages out of range.
func (l *lowering) checkSize(s *collective.Spec) error {
	width := int64(s.Type.Width())
	if l.chunk*width%l.plan.align != 0 {
		return fmt.Errorf("chunks of %d bytes: %s", l.chunk*width, l.sizes())
	}
	for r := range l.plan.gpus {
		g := &l.plan.gpus[r]
		for b, have := range []int64{s.In(r), s.Out(r)} {
			name, chunks := [2]string{"input", "output"}[b], g.chunks[b]
			switch {
			case chunks > 0 && chunks*l.chunk != have:
				return at(g.line, "gpu %d has %d %s_chunks of %d elements; %v has %d elements of %s "+
					"there", r, chunks, name, l.chunk, s.Kind, have, name)
			case chunks == 0:
				l.note("some %s_chunks are 0: the executor divides by them and cannot run the plan", name)
			}
		}
	}
	size := uint64(l.messageSize(s))
	if s.Kind != collective.Custom && s.Kind != collective.Barrier &&
		(size < l.plan.least || size > l.plan.most) {
		return fmt.Errorf("a message of %d bytes; the plan is for %d to %d", size, l.plan.least,
			l.plan.most)
	}
	return nil
}

// shiftSendRecv handles a sendrecv plan whose ranks send not to the next rank but to one further,
// as in plans for several nodes. It makes the problem one with splits. Every rank sends its vector
// to that rank.
func (l *lowering) shiftSendRecv(s *collective.Spec) {
	shift := l.shift()
	if l.options.As != 0 || shift == 1 || shift == 0 || s.InPlace {
		return
	}
	l.note("sendrecv to the rank %d further on, read from the outputs that the ranks reach", shift)
	splits := make([][]int64, s.Ranks)
	for r := range splits {
		splits[r] = make([]int64, s.Ranks)
		splits[r][(r+shift)%s.Ranks] = s.Count
	}
	s.Kind, s.Count, s.Splits = collective.AllToAllV, 0, splits
}

// maxShift bounds the ranks of a matrix of splits.
const maxShift = 1 << 12

// shift returns the distance to the rank whose output each rank accesses; 0 if it is not the same
// for all.
func (l *lowering) shift() int {
	n, shift := len(l.plan.gpus), 0
	if n > maxShift {
		return 0
	}
	for rank := range l.plan.gpus {
		for _, b := range l.plan.gpus[rank].remotes {
			if b.buffer != schedule.Output {
				continue
			}
			this := (int(b.rank) - rank + n) % n
			if shift == 0 {
				shift = this
			}
			if this != shift {
				return 0
			}
		}
	}
	return shift
}

// sizes describes the sizes for which a verdict holds.
func (l *lowering) sizes() string {
	text := fmt.Sprintf("chunks must be multiples of %d bytes (buffer_alignment)", l.plan.align)
	if l.plan.least > 0 {
		text += fmt.Sprintf(", messages of at least %d bytes", l.plan.least)
	}
	if l.plan.most < math.MaxUint64 {
		text += fmt.Sprintf(", messages of at most %d bytes", l.plan.most)
	}
	text += "; the executor refuses other sizes"
	l.eachOp(func(_ *gpu, o *op) error {
		if o.what.name == "pipeline" {
			text = "at this size; " + text + "; the number of turns of pipelines depends on it"
			return fmt.Errorf("enough")
		}
		return nil
	})
	return text
}
