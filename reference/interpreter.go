package reference

import (
	"fmt"

	"collsim/collective"
	"collsim/dtype"
	"collsim/kernel"
	"collsim/schedule"
)

// An interpreter executes a schedule of any kind on bytes: of several types, with tensors, parts
// and kernels. A step gives what a machine gives. But an interpreter has no windows, and keeps all
// memories. Values are immutable, so several messages may share one.
type interpreter struct {
	s          *schedule.Schedule
	accumulate Accumulate
	memory     [][][]byte // by memory and rank, little-endian
	payload    [][]byte   // of messages, by handle
	spans      []schedule.Span
}

// An operand is one of a step's: its elements, or where a switch adds, those of each rank of a
// team.
type operand struct {
	parts [][]byte
	scale bool
}

// newInterpreter returns an interpreter with unwritten memories.
func newInterpreter(s *schedule.Schedule, o RunOptions) *interpreter {
	x := &interpreter{s: s, accumulate: o.Accumulate, memory: make([][][]byte, s.Buffers())}
	for b := range x.memory {
		x.memory[b] = make([][]byte, s.Spec.Ranks)
		t := s.TypeOf(schedule.Buffer(b))
		for rank := range x.memory[b] {
			x.memory[b][rank] = unwrittenBytes(t, lengthOf(s, schedule.Buffer(b), rank))
		}
	}
	return x
}

// lengthOf returns the number of elements of a rank's memory. Tensors that are only defined have
// none.
func lengthOf(s *schedule.Schedule, memory schedule.Buffer, rank int) int64 {
	switch t := s.Tensor(memory); {
	case t == nil:
		return extent(s, memory, rank)
	case t.Role == schedule.Defined:
		return 0
	default:
		return t.Shape.Elements()
	}
}

// unwrittenBytes returns n unwritten elements.
func unwrittenBytes(t dtype.Type, n int64) []byte {
	memory := make([]byte, n*int64(t.Width()))
	if len(memory) > 0 {
		copy(memory, typeOf(t).unwritten())
		for done := t.Width(); done < len(memory); done *= 2 {
			copy(memory[done:], memory[:done])
		}
	}
	return memory
}

// run executes all steps.
func (x *interpreter) run(slots int) error {
	_, err := schedule.Execute(x.s, schedule.Limits{Slots: slots}, schedule.Hooks{Step: x.step})
	return err
}

// step executes one sub-step.
func (x *interpreter) step(v *schedule.Visit) error {
	if v.Step.Kernel != nil {
		return x.compute(v)
	}
	value, err := x.value(v)
	if err != nil {
		return err
	}
	return x.results(v, value)
}

// compute executes a kernel; an opaque one has no operands.
func (x *interpreter) compute(v *schedule.Visit) error {
	op, where := v.Step.Kernel, v.Spot()
	if !op.HasResult() {
		return nil
	}
	var operands [][]byte
	for i, want := range op.Operands() {
		r := &v.Step.From[i].Region
		if err := x.suits(v, want, r); err != nil {
			return err
		}
		operands = append(operands, x.read(where, r))
	}
	if err := x.suits(v, op.Output(), &v.Step.To[0]); err != nil {
		return err
	}
	result, err := kernel.Apply(*op, operands)
	if err != nil {
		return err
	}
	return x.write(v, where, &v.Step.To[0], result)
}

// suits returns an error if a region does not have the size and type that a kernel needs there.
func (x *interpreter) suits(v *schedule.Visit, want kernel.Tensor, r *schedule.Region) error {
	memory, _ := x.s.Locate(v.Spot(), r.Buffer)
	have, n := x.s.TypeOf(memory), x.s.Elements(v.Spot(), r)
	if n == want.Shape.Elements() && (have == want.Type || n == 0) {
		return nil
	}
	return malformed(v, fmt.Sprintf("has %d elements of %v for %s: %v %v is expected", n, have,
		want.Name, want.Type, want.Shape))
}

// value returns the combined sources of a step; nil if there are none.
func (x *interpreter) value(v *schedule.Visit) ([]byte, error) {
	var list []operand
	computes := v.Step.Scale
	for i := range v.Step.From {
		f := &v.Step.From[i]
		if f.Kind == schedule.Message && f.Put() { // its bytes have landed
			continue
		}
		list = append(list, operand{x.operand(v, i), f.Scale})
		computes = computes || f.Scale || len(f.Team) > 1
	}
	if len(list) == 0 {
		return nil, nil
	}
	size := len(list[0].parts[0])
	for _, o := range list {
		for _, part := range o.parts {
			if len(part) != size {
				return nil, malformed(v, fmt.Sprintf("combines %d bytes with %d", size, len(part)))
			}
		}
	}
	if len(list) == 1 && !computes {
		return list[0].parts[0], nil
	}
	spec := x.specOf(v)
	if v.Step.Scale {
		list = append(list, operand{scale: true})
	}
	return typeOf(spec.Type).combined(&spec, list, x.accumulate.widens(spec.Type)), nil
}

// operand returns a source's elements.
func (x *interpreter) operand(v *schedule.Visit, i int) [][]byte {
	f, where := &v.Step.From[i], v.Spot()
	switch f.Kind {
	case schedule.Message:
		value := x.payload[v.In[i]]
		x.payload[v.In[i]] = nil
		return [][]byte{value}
	case schedule.Multimem:
		var parts [][]byte
		for _, rank := range f.Team {
			where.Rank = int(rank)
			parts = append(parts, x.read(where, &f.Region))
		}
		return parts
	case schedule.Get:
		where.Rank = int(f.Peer.Rank)
	}
	return [][]byte{x.read(where, &f.Region)}
}

// specOf returns the collective that a step computes with: its part's, in the type of the regions
// that it names.
func (x *interpreter) specOf(v *schedule.Visit) collective.Spec {
	spec := *x.s.SpecAt(v.Spot())
	named := func(r *schedule.Region) {
		memory, _ := x.s.Locate(v.Spot(), r.Buffer)
		spec.Type = x.s.TypeOf(memory)
	}
	for i := range v.Step.Send {
		if v.Step.Send[i].Lands() {
			named(&v.Step.Send[i].Region)
		}
	}
	for i := range v.Step.To {
		named(&v.Step.To[i])
	}
	for i := range v.Step.From {
		if v.Step.From[i].Kind != schedule.Message {
			named(&v.Step.From[i].Region)
		}
	}
	return spec
}

// results puts, stores and sends the value.
func (x *interpreter) results(v *schedule.Visit, value []byte) error {
	where := v.Spot()
	for i := range v.Step.Send {
		d := &v.Step.Send[i]
		ranks := d.Team
		if ranks == nil && d.Put {
			ranks = []int32{d.Peer.Rank}
		}
		for _, rank := range ranks {
			where.Rank = int(rank)
			if err := x.write(v, where, &d.Region, value); err != nil {
				return err
			}
		}
	}
	for i := range v.Step.To {
		if err := x.write(v, v.Spot(), &v.Step.To[i], value); err != nil {
			return err
		}
	}
	for i := range v.Step.Send {
		if handle := v.Out[i]; handle >= 0 {
			for int(handle) >= len(x.payload) {
				x.payload = append(x.payload, nil)
			}
			if x.payload[handle] = value; v.Step.Send[i].Put {
				x.payload[handle] = nil
			}
		}
	}
	return nil
}

// places returns the memory of a region, and its runs there, in bytes.
func (x *interpreter) places(where schedule.Spot, r *schedule.Region) ([]byte, []schedule.Span) {
	memory, base := x.s.Locate(where, r.Buffer)
	width := int64(x.s.TypeOf(memory).Width())
	x.spans = x.s.Spans(x.spans[:0], where, r)
	for i := range x.spans {
		p := &x.spans[i]
		p.Off, p.Len = (p.Off+base)*width, p.Len*width
	}
	return x.memory[memory][where.Rank], x.spans
}

// read copies the elements of a region.
func (x *interpreter) read(where schedule.Spot, r *schedule.Region) []byte {
	memory, spans := x.places(where, r)
	value := make([]byte, 0, bytesOf(spans))
	for _, p := range spans {
		value = append(value, memory[p.Off:p.Off+p.Len]...)
	}
	return value
}

// write stores elements in a region.
func (x *interpreter) write(v *schedule.Visit, where schedule.Spot, r *schedule.Region,
	value []byte) error {
	memory, spans := x.places(where, r)
	if n := bytesOf(spans); n != int64(len(value)) {
		return malformed(v, fmt.Sprintf("stores %d bytes with %d", len(value), n))
	}
	for _, p := range spans {
		value = value[copy(memory[p.Off:p.Off+p.Len], value):]
	}
	return nil
}

// bytesOf returns the total length of spans.
func bytesOf(spans []schedule.Span) (n int64) {
	for _, p := range spans {
		n += p.Len
	}
	return n
}

// combined combines a step's operands, left to right. A last operand without parts means that the
// sum is scaled.
func (as[T]) combined(spec *collective.Spec, list []operand, wide bool) []byte {
	if wide {
		return put(narrowed[T](combine32[T](spec, list)))
	}
	scale := func(x []T) { Scale(spec, x) }
	return put(folded(spec.Op, list, getAll[T], scale))
}

// combine32 combines operands (folded) as float32.
func combine32[T dtype.Number](spec *collective.Spec, list []operand) []float32 {
	widened := func(b []byte) []float32 {
		x := getAll[T](b)
		wide := make([]float32, len(x))
		dtype.Widen(wide, x)
		return wide
	}
	scale := func(x []float32) { scaleWide[T](spec, x) }
	return folded(spec.Op, list, widened, scale)
}

// narrowed rounds float32 to T.
func narrowed[T dtype.Number](wide []float32) []T {
	x := make([]T, len(wide))
	dtype.Narrow(x, wide)
	return x
}

// folded combines operands. The ranks of a switch's operand are combined first.
func folded[F dtype.Number](op collective.Op, list []operand, read func([]byte) []F,
	scale func([]F)) (value []F) {
	for i, o := range list {
		if o.parts == nil {
			scale(value)
			break
		}
		one := read(o.parts[0])
		for _, part := range o.parts[1:] {
			combine(op, one, read(part))
		}
		if o.scale {
			scale(one)
		}
		if i == 0 {
			value = one
			continue
		}
		combine(op, value, one)
	}
	return value
}

func (as[T]) unwritten() []byte { return put([]T{unwritten[T]()}) }
