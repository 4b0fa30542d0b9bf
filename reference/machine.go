package reference

import (
	"math/bits"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// A machine executes a schedule on numbers: all of it, or one window of every part at a time.
// REQUIRES: the survey of the schedule has found no fault, so nothing is checked again here.
type machine[T dtype.Number] struct {
	s      *schedule.Schedule
	spec   *collective.Spec // of the executor of the present sub-step: of its team
	survey *survey
	code   compiler // if the survey has not kept its moves
	input  source[T]
	window int64 // places of a part computed at a time; 0 for whole memories
	index  int64 // of the present window

	// memory[b][start[b][rank]:start[b][rank+1]] is a rank's memory. With windows, its i-th part's
	// are window elements from i·window on. The input's is there only if the survey says so.
	memory [3][]T
	start  [3][]int64

	payload [][]T     // of messages, by handle
	value   []T       // of the present sub-step
	aside   []T       // another of its values
	pool    [64][][]T // free buffers, by the bits of their capacity
	scratch [block]T
	wide    widened // the present value, from widen to narrow
}

// newMachine returns a machine for a surveyed schedule, with its memories.
func newMachine[T dtype.Number](v *survey, input source[T], window int64) *machine[T] {
	m := &machine[T]{s: v.s, spec: &v.s.Spec, survey: v, input: input, window: window,
		code:    compiler{s: v.s, stored: v.stored, parts: &v.parts, widens: v.widens},
		payload: make([][]T, len(v.messages))}
	for b := schedule.Input; b <= schedule.Scratch; b++ {
		end, start := int64(0), make([]int64, 1, v.s.Spec.Ranks+1)
		for rank := range v.s.Spec.Ranks {
			n := extent(v.s, b, rank)
			if window > 0 && n > 0 {
				n = window * int64(len(v.parts[b].starts))
			}
			if v.holds(b) {
				end += n
			}
			start = append(start, end)
		}
		m.memory[b], m.start[b] = make([]T, end), start
	}
	return m
}

// compute executes the schedule on a window.
func (m *machine[T]) compute(index int64) error {
	m.index = index
	for b := range m.memory {
		spread(m.memory[b], unwritten[T]())
	}
	if m.survey.stored {
		for rank := range m.s.Spec.Ranks {
			m.loadInput(rank)
		}
	}
	if m.survey.kept {
		for i := range m.survey.tapes {
			m.run(&m.survey.tapes[i])
		}
		return nil
	}
	hooks := schedule.Hooks{Step: func(at *schedule.Visit) error {
		m.code.reset()
		m.code.compile(at)
		m.run(&m.code.tape)
		return nil
	}}
	_, err := schedule.Execute(m.s, schedule.Limits{Slots: m.survey.slots}, hooks)
	return err
}

// spread sets all elements to x.
func spread[T any](memory []T, x T) {
	head := memory[:min(len(memory), block)]
	for i := range head {
		head[i] = x
	}
	for n := len(head); n < len(memory); {
		n += copy(memory[n:], head)
	}
}

// loadInput stores a rank's input.
func (m *machine[T]) loadInput(rank int) {
	home, base := m.s.Home(schedule.Input, rank)
	memory := m.of(home, rank)
	m.overlap(home, base, m.s.Len(schedule.Input, rank), func(at, off, n int64) {
		m.input(memory[at:at+n], rank, off)
	})
}

// of returns a rank's memory.
func (m *machine[T]) of(b schedule.Buffer, rank int) []T {
	return m.memory[b][m.start[b][rank]:m.start[b][rank+1]]
}

// overlap calls f with the runs of the window in a buffer of n elements that begins at base. The n
// elements from at on in the machine's memory are those from off on of the buffer.
func (m *machine[T]) overlap(b schedule.Buffer, base, n int64, f func(at, off, n int64)) {
	if m.window == 0 {
		if n > 0 {
			f(base, 0, n)
		}
		return
	}
	parts := &m.survey.parts[b]
	for i, start := range parts.starts {
		from := start + m.index*m.window
		to := min(from+m.window, start+parts.lengths[i], base+n)
		if first := max(from, base); first < to {
			f(int64(i)*m.window+first-from, first-base, to-first)
		}
	}
}

// run executes moves.
func (m *machine[T]) run(c *tape) {
	spec := m.spec
	for i := 0; i < len(c.moves); i++ {
		v := &c.moves[i]
		if v.kind == take || v.kind == load {
			spec = m.s.SpecOf(int(v.rank))
			m.spec = spec
		}
		switch v.kind {
		case take:
			m.value = m.message(v)
			if v.scale {
				Scale(spec, m.value)
			}
		case load:
			m.load(v, c.list[v.from:v.to])
			if v.scale {
				Scale(spec, m.value)
			}
		case foldIn:
			right := m.message(v)
			if v.scale {
				Scale(spec, right)
			}
			combine(spec.Op, m.value, right)
			m.release(right)
		case fold:
			m.fold(v, c.list[v.from:v.to])
		case setAside:
			m.aside = m.value
		case foldAside:
			combine(spec.Op, m.aside, m.value)
			m.release(m.value)
			m.value, m.aside = m.aside, nil
		case scaleValue:
			Scale(spec, m.value)
		case widen:
			i = m.runWide(c, i)
		case store:
			m.store(v, c.list[v.from:v.to])
		default:
			m.send(v)
		}
	}
}

// send makes a message of the value, or drops it.
func (m *machine[T]) send(v *move) {
	if v.kind == drop {
		m.release(m.value)
		m.value = nil
		return
	}
	for int(v.handle) >= len(m.payload) {
		m.payload = append(m.payload, nil)
	}
	if v.kind == giveAway {
		m.payload[v.handle], m.value = m.value, nil
		return
	}
	b := m.buffer(int64(len(m.value)))
	copy(b, m.value)
	m.payload[v.handle] = b
}

// message takes a message's buffer.
func (m *machine[T]) message(v *move) []T {
	b := m.payload[v.handle]
	m.payload[v.handle] = nil
	return b
}

// pure reports whether a region is of an input that is not stored.
func (m *machine[T]) pure(v *move) bool { return !m.survey.holds(v.memory) }

// place returns the range of a part in the present window: its offset in a memory, or in an input
// that is not stored.
func (m *machine[T]) place(v *move, p part) (off, n int64) {
	pure := m.pure(v)
	if m.window == 0 {
		if pure {
			return p.at, p.n
		}
		return m.survey.parts[v.memory].starts[p.at], p.n
	}
	from := m.index * m.window
	n = max(0, min(p.n-from, m.window))
	if pure {
		return p.at + from, n
	}
	return p.at * m.window, n
}

// load sets the value to that of a region, in a buffer of its own.
func (m *machine[T]) load(v *move, parts []part) {
	total := int64(0)
	for _, p := range parts {
		_, n := m.place(v, p)
		total += n
	}
	m.value = m.buffer(total)
	rest := m.value
	for _, p := range parts {
		off, n := m.place(v, p)
		m.read(rest[:n], v, off)
		rest = rest[n:]
	}
}

// read copies elements of a memory, or computes those of an input.
func (m *machine[T]) read(dst []T, v *move, off int64) {
	if m.pure(v) {
		m.input(dst, int(v.rank), off)
		return
	}
	copy(dst, m.of(v.memory, int(v.rank))[off:])
}

// fold combines the value with a region, on its right.
func (m *machine[T]) fold(v *move, parts []part) {
	value, spec := m.value, m.spec
	for _, p := range parts {
		off, n := m.place(v, p)
		if !v.scale && !m.pure(v) {
			combine(spec.Op, value[:n], m.of(v.memory, int(v.rank))[off:off+n])
			value = value[n:]
			continue
		}
		for ; n > 0; off, n = off+block, n-block {
			right := m.scratch[:min(n, block)]
			m.read(right, v, off)
			if v.scale {
				Scale(spec, right)
			}
			combine(spec.Op, value[:len(right)], right)
			value = value[len(right):]
		}
	}
}

// store writes the value to a region.
func (m *machine[T]) store(v *move, parts []part) {
	value, memory := m.value, m.of(v.memory, int(v.rank))
	for _, p := range parts {
		off, n := m.place(v, p)
		copy(memory[off:off+n], value)
		value = value[n:]
	}
}

// buffer returns memory for n elements. A free buffer of that size class that is too small is
// dropped: sizes that differ by one, as those of chunks do, soon have buffers of the larger.
func (m *machine[T]) buffer(n int64) []T {
	class := bits.Len64(uint64(n))
	if free := m.pool[class]; len(free) > 0 {
		b := free[len(free)-1]
		m.pool[class] = free[:len(free)-1]
		if int64(cap(b)) >= n {
			return b[:n]
		}
	}
	return make([]T, n)
}

// release frees a buffer for reuse.
func (m *machine[T]) release(b []T) {
	class := bits.Len64(uint64(cap(b)))
	m.pool[class] = append(m.pool[class], b)
}
