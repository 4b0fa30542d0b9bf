package reference

import (
	"cmp"
	"slices"

	"collsim/collective"
	"collsim/schedule"
)

// A schedule that has a meaning is checked against it op by op. The result of an op that the
// schedule has in memory is compared with the op's definition, applied to the schedule's own
// operands. So rounding in one op is not carried into the next, and a computation from the wrong
// memory shows where it is.

// checkMeaning executes a schedule part by part, and compares the result of each op as soon as the
// last of its parts has ended. given are the values of the meaning's tensors.
func checkMeaning(d *script, given Tensors, exact bool, o *CheckOptions) (_ Report, err error) {
	m := &meaningCheck{v: newDefinedValues(d, given, exact), parts: d.whole.Parts(),
		x:     newInterpreter(d.whole, RunOptions{Accumulate: o.Accumulate}),
		state: make([]lineState, len(d.lines)), readers: map[int][]int{}}
	means := d.whole.Means
	for i := range given {
		for rank, values := range given[i] {
			copy(m.held(i, rank), values)
		}
	}
	due := make([][]int, len(m.parts)) // lines by the part that ends them
	for i := range d.lines {
		l := &d.lines[i]
		last := slices.Max(means.Made[l.part])
		due[last] = append(due[last], i)
		for _, from := range l.from {
			m.readers[from.value] = append(m.readers[from.value], i)
		}
	}
	for i := range m.parts {
		if err := m.x.part(&m.parts[i], o.Slots); err != nil {
			return Report{}, err
		}
		for _, n := range due[i] {
			if err := m.line(n); err != nil {
				return Report{}, err
			}
		}
	}
	r := m.results()
	r.Values = m.v.named(o.Wanted)
	if o.Theirs != nil {
		r.Judged, err = judgeProgram(d, given, m.v, o.Theirs)
	}
	return r, err
}

// meaningCheck is a check in progress.
type meaningCheck struct {
	v     *definedValues // of every tensor, the version that the schedule computed last
	x     *interpreter
	parts []schedule.Part
	found tensorComparison
	state []lineState
	// readers lists the lines that read a value, in program order.
	readers map[int][]int
}

// lineState is the state of a line. Its result is computed before an operand is overwritten, and
// compared when all of its parts have ended.
type lineState struct {
	isWorkedOut, isUnwritten, isDone bool
	made                             made
}

// part executes a part of a composed schedule, in the memory of the whole.
func (x *interpreter) part(p *schedule.Part, slots int) error {
	s := p.Schedule
	own := &interpreter{s: s, accumulate: x.accumulate, memory: make([][][]byte, s.Buffers())}
	for b := range schedule.Buffer(s.Buffers()) {
		own.memory[b] = make([][]byte, len(p.Ranks))
		for k, rank := range p.Ranks {
			n := lengthOf(s, b, k)
			at := p.Memory[b]
			if n == 0 || at.Tensor == 0 {
				continue
			}
			width := int64(s.TypeOf(b).Width())
			own.memory[b][k] = x.memory[at.Tensor][rank][at.Offset(k)*width:][:n*width]
		}
	}
	return own.run(slots)
}

// held finds the memory in which the schedule has a tensor of the meaning on a rank, nil if there
// is none.
func (m *meaningCheck) held(tensor, rank int) []byte {
	at := m.v.whole.Means.Where[tensor]
	if at.Tensor == 0 {
		return nil
	}
	t := &m.v.s.Tensors[tensor]
	return m.x.memory[at.Tensor][rank][at.Offset(rank)*int64(t.Type.Width()):][:bytesOfTensor(t)]
}

// line compares the result of an op, and makes it the value from now on.
func (m *meaningCheck) line(n int) error {
	l := &m.v.lines[n]
	if err := m.workOut(n); err != nil {
		return err
	}
	for _, reader := range m.readers[l.to.value] { // readers of the version before it
		if reader < n && !m.state[reader].isDone && meets(l, &m.v.lines[reader]) {
			if err := m.workOut(reader); err != nil {
				return err
			}
		}
	}
	state := &m.state[n]
	state.isDone = true
	if state.isUnwritten {
		return nil
	}
	m.v.store(l, state.made)
	state.made = made{}
	to := l.to.value
	for k, rank := range l.ranks {
		n := l.sizeOn(k)
		held := m.held(to, rank)
		if n == 0 || held == nil {
			continue
		}
		got := make(Tensors, to+1)
		got[to] = make([][]byte, rank+1)
		got[to][rank] = held
		m.found.add(m.v, got, to, rank, schedule.Span{Off: l.to.offsets[k], Len: n})
		width := int64(m.v.types[to].Width())
		from, end := l.to.offsets[k]*width, (l.to.offsets[k]+n)*width
		copy(m.v.values[to][rank][from:end], held[from:end])
		m.v.doubts[to][rank] = nil // all of a tensor that is held
	}
	return nil
}

// workOut computes a line's result from the present versions of its operands, the first time it is
// called. A line is unwritten if the schedule has not written an operand: no result can be right
// then, and none is computed.
func (m *meaningCheck) workOut(n int) (err error) {
	l, state := &m.v.lines[n], &m.state[n]
	if state.isWorkedOut {
		return nil
	}
	if state.isWorkedOut, state.isUnwritten = true, m.isUnwritten(l); !state.isUnwritten {
		state.made, err = m.v.make(l)
	}
	return err
}

// meets reports whether two lines have a rank in common.
func meets(a, b *line) bool {
	return slices.ContainsFunc(a.ranks, func(rank int) bool { return slices.Contains(b.ranks, rank) })
}

// sizeOn counts the elements that a line makes on its k-th rank.
func (l *line) sizeOn(k int) int64 {
	if l.kernel != nil {
		return l.kernel.Output().Shape.Elements()
	}
	return l.spec.Out(k)
}

// isUnwritten reports whether the schedule has not written all elements that a line reads. It
// counts the elements of the first gap as wrong.
func (m *meaningCheck) isUnwritten(l *line) bool {
	for k, rank := range l.ranks {
		for i, from := range l.from {
			need := []schedule.Span{{Len: 0}}
			if l.kernel != nil {
				need[0].Len = l.kernel.Operands()[i].Shape.Elements()
			} else if need[0].Len = l.spec.In(k); !m.isKnown(from, k, rank, need[0]) {
				need = read(l.spec, k)
			}
			for _, span := range need {
				if m.isKnown(from, k, rank, span) {
					continue
				}
				r := &m.found.r
				r.Wrong += span.Len
				m.found.compared += span.Len
				if r.First == nil {
					r.First = &Mismatch{Tensor: m.name(from.value), Rank: rank,
						Element: from.offsets[k] + span.Off, Got: "never written", Want: "a value"}
					r.First.ofComponent(m.v.typeOf(from.value))
				}
				return true
			}
		}
	}
	return false
}

// name returns a tensor's name. Values that no tensor of the program holds have none.
func (m *meaningCheck) name(value int) string {
	if value < len(m.v.s.Tensors) {
		return m.v.s.Tensors[value].Name
	}
	return "a tensor"
}

// isKnown reports whether elements of an operand are given, or an op has made them.
func (m *meaningCheck) isKnown(p place, k, rank int, span schedule.Span) bool {
	from := p.offsets[k] + span.Off
	return span.Len == 0 || slices.ContainsFunc(m.v.known[p.value][rank],
		func(run schedule.Span) bool { return run.Off <= from && from+span.Len <= run.Off+run.Len })
}

// read lists the elements that a collective reads of the input of one of its ranks.
func read(spec *collective.Spec, from int) (list []schedule.Span) {
	if spec.Kind.Reduces() {
		return []schedule.Span{{Len: spec.In(from)}}
	}
	for rank := range spec.Ranks {
		for _, piece := range spec.Want(rank) {
			if piece.From == from {
				list = append(list, schedule.Span{Off: piece.InOff, Len: piece.Len})
			}
		}
	}
	slices.SortFunc(list, func(a, b schedule.Span) int { return cmp.Compare(a.Off, b.Off) })
	return list
}

// results returns the report on all ops. It also compares the results at the end, in case they have
// been overwritten.
func (m *meaningCheck) results() Report {
	got := make(Tensors, len(m.v.s.Tensors))
	for _, i := range results(m.v.s) {
		for rank := range m.v.s.Spec.Ranks {
			held := m.held(i, rank)
			got[i] = append(got[i], held)
			width := int64(m.v.types[i].Width())
			for _, run := range m.v.known[i][rank] {
				from, to := run.Off*width, (run.Off+run.Len)*width
				if string(m.v.values[i][rank][from:to]) != string(held[from:to]) {
					m.found.add(m.v, got, i, rank, run)
				}
			}
		}
	}
	r := m.found.report(m.v, got)
	r.Digest = m.v.digest(got)
	return r
}
