package rank

import (
	"collsim/hw"
	"collsim/schedule"
)

// Memory is the buffers of a rank that lie in this process.
type Memory struct {
	Math    hw.Arithmetic
	Buffers [3][]byte // by the buffer whose home they are (schedule.Home)

	schedule *schedule.Schedule
	rank     int
}

// NewMemory returns the memory of a rank.
func NewMemory(s *schedule.Schedule, rank int) *Memory {
	m := &Memory{Math: hw.ArithmeticOf(s.SpecOf(rank)), schedule: s, rank: rank}
	for _, b := range []schedule.Buffer{schedule.Input, schedule.Output, schedule.Scratch} {
		home, base := s.Home(b, rank)
		n := (base + s.Len(b, rank)) * int64(m.Math.Width)
		if n > int64(len(m.Buffers[home])) {
			m.Buffers[home] = hw.Memory(n)
		}
	}
	return m
}

// Reset makes all bytes 0xff, a NaN in every format that has one, and writes the input: a
// repetition cannot pass with the results of the one before.
func (m *Memory) Reset(input []byte) {
	for _, b := range m.Buffers {
		Spoil(b)
	}
	m.Load(input)
}

// Spoil makes all bytes 0xff.
func Spoil(b []byte) {
	for i := range min(len(b), 64) {
		b[i] = 0xff
	}
	for n := 64; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}

// Load writes the input, which is little-endian.
func (m *Memory) Load(input []byte) {
	m.Math.Load(m.elements(schedule.Input)[:len(input)], input)
}

// Output is a copy of the rank's output, little-endian.
func (m *Memory) Output() []byte {
	out := m.elements(schedule.Output)
	copied := hw.Memory(int64(len(out)))
	m.Math.Store(copied, out)
	return copied
}

// elements is a buffer of the rank, as it lies in memory.
func (m *Memory) elements(b schedule.Buffer) []byte {
	home, base := m.schedule.Home(b, m.rank)
	width := int64(m.Math.Width)
	return m.Buffers[home][base*width:][:m.schedule.Len(b, m.rank)*width]
}

// Places appends to dst where the elements of a region of any rank lie, in bytes of that rank's
// buffer.
func (m *Memory) Places(
	dst []schedule.Span, where schedule.Spot, g *schedule.Region,
) (home schedule.Buffer, spans []schedule.Span) {
	width := int64(m.Math.Width)
	home, base := m.schedule.Home(g.Buffer, where.Rank)
	spans = m.schedule.Spans(dst, where, g)
	for i := range spans {
		spans[i].Off, spans[i].Len = (spans[i].Off+base)*width, spans[i].Len*width
	}
	return home, spans
}

// Combine makes value what it and the bytes of the spans give together, in this order.
func (m *Memory) Combine(value []byte, home schedule.Buffer, spans []schedule.Span) {
	for _, s := range spans {
		m.Math.Combine(value[:s.Len], m.Buffers[home][s.Off:s.Off+s.Len])
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

// Size is the bytes of the spans.
func Size(spans []schedule.Span) (n int64) {
	for _, s := range spans {
		n += s.Len
	}
	return n
}
