package reference

import (
	"fmt"

	"collsim/collective"
	"collsim/dtype"
)

// Accumulate is the format in which a step adds. Messages and memories always hold the type's own.
// It is a property of the executor of a schedule, not of the collective.
type Accumulate uint8

const (
	// Native rounds after every operation.
	Native Accumulate = iota
	// InFloat32 scales and combines all sources of one step in float32, and rounds to the type
	// once, at the step's end. For float32, float64 and integers it is the same as Native.
	InFloat32
)

var accumulateNames = [...]string{"native", "float32"}

// String returns the name in scenarios.
func (a Accumulate) String() string {
	if int(a) >= len(accumulateNames) {
		return fmt.Sprintf("Accumulate(%d)", a)
	}
	return accumulateNames[a]
}

// widens reports whether steps of this type compute in a wider one.
func (a Accumulate) widens(t dtype.Type) bool {
	return a == InFloat32 && t.IsFloat() && t.Width() < 4
}

// widened is the state of a step that computes in float32.
type widened struct {
	value, aside []float32
	operand      []float32
}

// open makes the value n elements long and returns it.
func (w *widened) open(n int) []float32 {
	if cap(w.value) < n {
		w.value = make([]float32, n)
	}
	w.value = w.value[:n]
	return w.value
}

// setAside exchanges the value and the one set aside.
func (w *widened) setAside() { w.value, w.aside = w.aside, w.value }

// foldAside combines the value set aside with the present one, on its right.
func (w *widened) foldAside(op collective.Op) {
	combine(op, w.aside, w.value)
	w.setAside()
}

// scaleWide scales in float32; the factor is the type's own.
func scaleWide[T dtype.Number](spec *collective.Spec, values []float32) {
	if spec.ScalesBefore() {
		dtype.Scale(values, float32(dtype.Value(factor[T](spec))))
		return
	}
	dtype.Divide(values, spec.Ranks)
}

// runWide executes the moves of a step that computes in float32, from widen to narrow; it returns
// the index of narrow.
func (m *machine[T]) runWide(c *tape, i int) int {
	spec := m.spec
	for ; ; i++ {
		v := &c.moves[i]
		switch v.kind {
		case widen:
			dtype.Widen(m.wide.open(len(m.value)), m.value)
			m.release(m.value)
			m.value = nil
		case load: // to be combined with what was set aside
			m.load(v, c.list[v.from:v.to])
		case foldIn:
			right := m.message(v)
			m.foldWide(0, right, v.scale)
			m.release(right)
		case fold:
			m.foldRegionWide(v, c.list[v.from:v.to])
		case setAside:
			m.wide.setAside()
		case foldAside:
			m.wide.foldAside(spec.Op)
		case scaleValue:
			scaleWide[T](spec, m.wide.value)
		case narrow:
			m.value = m.buffer(int64(len(m.wide.value)))
			dtype.Narrow(m.value, m.wide.value)
			return i
		default:
			panic("reference: a move that float32 does not have")
		}
	}
}

// foldWide combines n elements of the float32 value, from at on, with a region's or message's.
func (m *machine[T]) foldWide(at int, right []T, scaled bool) {
	spec := m.spec
	for len(right) > 0 {
		n := min(len(right), block)
		operand := room(&m.wide.operand, n)
		dtype.Widen(operand, right[:n])
		if scaled {
			scaleWide[T](spec, operand)
		}
		combine(spec.Op, m.wide.value[at:at+n], operand)
		right, at = right[n:], at+n
	}
}

// foldRegionWide combines the float32 value with a region, on its right.
func (m *machine[T]) foldRegionWide(v *move, parts []part) {
	at := 0
	for _, p := range parts {
		off, n := m.place(v, p)
		for ; n > 0; off, n = off+block, n-block {
			right := m.scratch[:min(n, block)]
			m.read(right, v, off)
			m.foldWide(at, right, v.scale)
			at += len(right)
		}
	}
}
