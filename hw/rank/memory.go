package rank

import (
	"slices"

	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/schedule"
)

// A Memory holds the buffers of a rank in this process.
type Memory struct {
	Math    hw.Arithmetic // of the rank's collective; see MathOf for a step's
	Buffers [][]byte      // indexed by the buffer whose memory it is (schedule.Locate)

	schedule *schedule.Schedule
	rank     int
	types    []hw.Arithmetic // of each buffer's type
	maths    map[mathKey]*hw.Arithmetic
}

// A mathKey selects the arithmetic of a step where there are tensors: a part's operator, and a
// type.
type mathKey struct {
	part int
	of   dtype.Type
}

// NewMemory allocates the memory of a rank.
func NewMemory(s *schedule.Schedule, rank int) *Memory { return memoryOf(s, rank, hw.Memory) }

// Elsewhere returns the layout of the memory of a rank on another machine, without its bytes.
func Elsewhere(s *schedule.Schedule, rank int) *Memory {
	return memoryOf(s, rank, func(int64) []byte { return nil })
}

// memoryOf returns the memory of a rank; the function bytes allocates it.
func memoryOf(s *schedule.Schedule, rank int, bytes func(int64) []byte) *Memory {
	m := &Memory{Math: hw.ArithmeticOf(s.SpecOf(rank)), schedule: s, rank: rank,
		Buffers: make([][]byte, s.Buffers())}
	for b := range schedule.FirstTensor {
		home, base := s.Home(b, rank)
		n := (base + s.Len(b, rank)) * int64(m.Math.Width)
		if n > int64(len(m.Buffers[home])) {
			m.Buffers[home] = bytes(n)
		}
		m.types = append(m.types, m.Math)
	}
	if len(s.Tensors) > 0 {
		m.addTensors(bytes)
	}
	return m
}

// addTensors allocates the tensors, and prepares the arithmetic of all types that steps may compute
// with.
func (m *Memory) addTensors(bytes func(int64) []byte) {
	s := m.schedule
	m.maths = map[mathKey]*hw.Arithmetic{}
	var types []dtype.Type
	for i := range s.Tensors {
		b, t := schedule.FirstTensor+schedule.Buffer(i), s.Tensors[i].Type
		m.Buffers[b] = bytes(hw.BufferBytes(s, b, m.rank))
		m.types = append(m.types, hw.ArithmeticOf(&collective.Spec{Type: t}))
		if !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	for part := range max(schedule.NumParts(s), 1) {
		where := schedule.Spot{Rank: m.rank, Part: part}
		for _, t := range append(types, s.SpecAt(where).Type) {
			math := hw.OfType(s, where, t)
			m.maths[mathKey{part, t}] = &math
		}
	}
}

// MathOf returns the arithmetic of a step: the rank's collective's. Where there are tensors, it is
// that of the step's part, in the type of the elements that the step names.
func (m *Memory) MathOf(where schedule.Spot, step *schedule.Step) *hw.Arithmetic {
	if m.maths == nil {
		return &m.Math
	}
	return m.maths[mathKey{where.Part, m.typeOf(where, step)}]
}

// SpecOf returns the collective of MathOf: a step's, with the type that the step computes in.
func (m *Memory) SpecOf(where schedule.Spot, step *schedule.Step) collective.Spec {
	if m.maths == nil {
		return *m.schedule.SpecOf(m.rank)
	}
	spec := *m.schedule.SpecAt(where)
	spec.Type = m.typeOf(where, step)
	return spec
}

// typeOf returns the type of the elements that a step names, else that of its part.
func (m *Memory) typeOf(where schedule.Spot, step *schedule.Step) dtype.Type {
	var named *schedule.Region
	for i := range step.From {
		if f := &step.From[i]; f.Kind != schedule.Message && named == nil {
			named = &f.Region
		}
	}
	for i := range step.Send {
		if d := &step.Send[i]; d.Lands() && named == nil {
			named = &d.Region
		}
	}
	if len(step.To) > 0 {
		named = &step.To[0]
	}
	if named == nil {
		return m.schedule.SpecAt(where).Type
	}
	b, _ := m.schedule.Locate(where, named.Buffer)
	return m.schedule.TypeOf(b)
}

// Reset sets all bytes to 0xff, a NaN in every format that has one, and then writes the input. So a
// repetition cannot pass with an earlier one's results.
func (m *Memory) Reset(input []byte) {
	for _, b := range m.Buffers {
		Spoil(b)
	}
	m.Load(input)
}

// Spoil sets all bytes to 0xff.
func Spoil(b []byte) {
	for i := range min(len(b), 64) {
		b[i] = 0xff
	}
	for n := 64; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}

// Load writes the rank's input, which is little-endian: see hw.Job.Given.
func (m *Memory) Load(input []byte) {
	for _, b := range hw.InputBuffers(m.schedule) {
		to := m.elements(b)
		m.types[b].Load(to, input[:len(to)])
		input = input[len(to):]
	}
}

// Output returns a copy of the rank's output, little-endian: see hw.Result.Take.
func (m *Memory) Output() []byte {
	copied := hw.Memory(hw.OutputBytes(m.schedule, m.rank))
	rest := copied
	for _, b := range hw.OutputBuffers(m.schedule) {
		out := m.elements(b)
		m.types[b].Store(rest[:len(out)], out)
		rest = rest[len(out):]
	}
	return copied
}

// elements returns the memory of a buffer of the rank.
func (m *Memory) elements(b schedule.Buffer) []byte {
	home, at := m.Place(b)
	return m.Buffers[home][at.Off:][:at.Len]
}

// Place returns where a buffer of the rank is stored, in bytes of its home buffer.
func (m *Memory) Place(b schedule.Buffer) (home schedule.Buffer, at schedule.Span) {
	home, base := m.schedule.Home(b, m.rank)
	width := int64(m.types[b].Width)
	return home, schedule.Span{Off: base * width, Len: m.schedule.Len(b, m.rank) * width}
}

// Places appends to dst where the elements of a region of any rank are stored, in bytes of that
// rank's home buffer.
func (m *Memory) Places(
	dst []schedule.Span, where schedule.Spot, g *schedule.Region,
) (home schedule.Buffer, spans []schedule.Span) {
	home, base := m.schedule.Locate(where, g.Buffer)
	width := int64(m.types[home].Width)
	spans = m.schedule.Spans(dst, where, g)
	for i := range spans {
		spans[i].Off, spans[i].Len = (spans[i].Off+base)*width, spans[i].Len*width
	}
	return home, spans
}

// Combine sets value to value ∘ the bytes of the spans, elementwise in this order.
func (m *Memory) Combine(
	math *hw.Arithmetic, value []byte, home schedule.Buffer, spans []schedule.Span,
) {
	for _, s := range spans {
		math.Combine(value[:s.Len], m.Buffers[home][s.Off:s.Off+s.Len])
		value = value[s.Len:]
	}
}

// Gather copies the bytes of the spans to dst, one after the other.
func (m *Memory) Gather(dst []byte, home schedule.Buffer, spans []schedule.Span) {
	for _, s := range spans {
		dst = dst[copy(dst, m.Buffers[home][s.Off:s.Off+s.Len]):]
	}
}

// Scatter copies src to the spans, one after the other.
func (m *Memory) Scatter(home schedule.Buffer, spans []schedule.Span, src []byte) {
	for _, s := range spans {
		src = src[copy(m.Buffers[home][s.Off:s.Off+s.Len], src):]
	}
}

// Size returns the number of bytes of the spans.
func Size(spans []schedule.Span) (n int64) {
	for _, s := range spans {
		n += s.Len
	}
	return n
}
