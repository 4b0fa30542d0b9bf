package reference

import (
	"fmt"
	"slices"

	"collsim/schedule"
)

// survey records how a schedule uses its memories: the result of an execution that computes sizes
// only, no values.
//
// It serves to decide whether the schedule may be computed window by window. Let the parts of a
// memory be the runs of elements that steps name as one block (of one tile, channel and slice). If,
// over all ranks and steps,
//
//	(1) any two parts of a memory are the same or disjoint, and
//	(2) the operands and destinations of a step are lists of parts of the same lengths in the same
//	    order, a message having the list that was sent,
//
// then place x of a part is only ever combined with, and stored at, place x of other parts: by
// induction over the steps, what all memories hold at places from w·j to w·(j+1) of their parts
// depends on nothing but what they held there. So each such window may be computed on its own.
type survey struct {
	s      *schedule.Schedule
	slots  int
	widens bool         // steps compute in float32
	parts  [3]partition // of each memory, all ranks alike
	ragged bool         // (1) or (2) does not hold
	stored bool         // inputs are kept in memory, because a step may write there
	// kernels: some step computes one. An interpreter carries that out; here its steps are left out.
	kernels bool

	code  compiler // of the present tape
	tapes []tape   // all moves, if they are kept; else they are compiled anew in every run
	kept  bool
	limit int64 // bytes that tapes may take
	bytes int64 // that they take

	steps, moved int64 // sub-steps that move data, and the elements that they move
	inFlight     int64 // the most elements that messages and the step's value ever have
	now          int64 // elements in messages

	heights heights // of the trees of additions

	value    []int64   // lengths of the parts of the step's value
	aside    []int64   // and of what was set aside
	operand  []int64   // and of another operand
	messages [][]int64 // of messages, by handle
}

// lookOptions are the bytes that moves may take, and how the schedule is carried out.
type lookOptions struct {
	limit      int64
	slots      int
	accumulate Accumulate
}

// look surveys a schedule, and keeps its moves if they take no more bytes than limit. Steps that
// cannot be carried out are a *schedule.Violation, a deadlock a *schedule.StallError.
func look(s *schedule.Schedule, o lookOptions) (*survey, error) {
	fresh := survey{s: s, slots: o.slots, limit: o.limit, kept: o.limit > 0, stored: s.Spec.InPlace,
		widens: o.accumulate.widens(s.Spec.Type)}
	v := &survey{}
	*v = fresh
	err := v.walk()
	if v.stored && !v.code.stored && err == nil { // a step writes to an input: begin again
		fresh.stored = true
		*v = fresh
		err = v.walk()
	}
	if err != nil {
		return nil, err
	}
	for b := schedule.Input; b <= schedule.Scratch; b++ {
		gapsMatter := b != schedule.Scratch // where nobody ever looks at what no step names
		if v.holds(b) && !v.parts[b].settle(v.longest(b), gapsMatter) {
			v.ragged = true
		}
	}
	return v, nil
}

func (v *survey) walk() error {
	v.code = compiler{s: v.s, stored: v.stored, parts: &v.parts, widens: v.widens}
	v.heights = newHeights(v.s)
	hooks := schedule.Hooks{Step: v.step}
	_, err := schedule.Execute(v.s, schedule.Limits{Slots: v.slots}, hooks)
	v.keep()
	v.heights.settle()
	return err
}

// keep puts the present tape to the others and begins a fresh one.
func (v *survey) keep() {
	if !v.kept {
		v.code.reset()
		return
	}
	v.bytes += v.code.bytes()
	v.tapes = append(v.tapes, v.code.tape)
	v.code.tape = v.code.fresh()
	if v.bytes > v.limit {
		v.forget()
	}
}

// forget gives the moves up.
func (v *survey) forget() { v.kept, v.tapes, v.bytes = false, nil, 0 }

// holds reports whether a memory is kept.
func (v *survey) holds(b schedule.Buffer) bool { return b != schedule.Input || v.stored }

// longest returns the number of elements of the largest rank's memory.
func (v *survey) longest(b schedule.Buffer) int64 {
	most := int64(0)
	for rank := range v.s.Spec.Ranks {
		most = max(most, extent(v.s, b, rank))
	}
	return most
}

// extent returns the number of elements of a rank's memory that are used. If the collective is in
// place, all buffers are in the input's memory.
func extent(s *schedule.Schedule, memory schedule.Buffer, rank int) int64 {
	most := int64(0)
	for b := schedule.Input; b <= schedule.Scratch; b++ {
		if home, base := s.Home(b, rank); home == memory {
			most = max(most, base+s.Len(b, rank))
		}
	}
	return most
}

// step compiles a sub-step and checks its moves.
func (v *survey) step(at *schedule.Visit) error {
	if k := at.Step.Kernel; k != nil && k.HasResult() {
		v.kernels = true
		return nil
	}
	if !v.kept || v.code.full() {
		v.keep()
	}
	from := len(v.code.moves)
	v.code.compile(at)
	v.value = v.value[:0]
	for i := range v.code.moves[from:] {
		m := &v.code.moves[from+i]
		if err := v.check(at, m); err != nil {
			return err
		}
		v.heights.follow(m, &v.code, v.widens)
	}
	if len(v.value) > 0 {
		v.steps++
		v.moved += sum(v.value)
	}
	return nil
}

// check follows a move on the lengths of parts.
func (v *survey) check(at *schedule.Visit, m *move) error {
	switch m.kind {
	case take, load:
		v.value = append(v.value[:0], v.lengths(m)...)
		v.inFlight = max(v.inFlight, v.now+sum(v.value)+sum(v.aside))
	case widen: // four bytes an element more
		wide := (sum(v.value) + sum(v.aside)) * max(1, 4/v.width())
		v.inFlight = max(v.inFlight, v.now+sum(v.value)+wide)
	case setAside:
		v.aside = append(v.aside[:0], v.value...)
	case foldIn, fold, foldAside:
		operand := v.aside
		if m.kind != foldAside {
			operand = v.lengths(m)
		}
		if err := v.compare(at, operand, "combines"); err != nil {
			return err
		}
		if m.kind == foldAside {
			v.aside = v.aside[:0]
		}
	case store:
		if m.memory == schedule.Input {
			v.stored = true
		}
		return v.compare(at, v.lengths(m), "stores")
	case give, giveAway:
		for int(m.handle) >= len(v.messages) {
			v.messages = append(v.messages, nil)
		}
		v.messages[m.handle] = append(v.messages[m.handle][:0], v.value...)
		v.now += sum(v.value)
		v.inFlight = max(v.inFlight, v.now)
	}
	return nil
}

// lengths lists the lengths of the parts of a move's operand.
func (v *survey) lengths(m *move) []int64 {
	if m.kind == take || m.kind == foldIn {
		sent := v.messages[m.handle]
		v.now -= sum(sent)
		return sent
	}
	v.operand = v.operand[:0]
	for _, p := range v.code.list[m.from:m.to] {
		v.operand = append(v.operand, p.n)
	}
	return v.operand
}

// compare checks that the value is as long as the list, and notes whether its parts are.
func (v *survey) compare(at *schedule.Visit, list []int64, verb string) error {
	if slices.Equal(v.value, list) {
		return nil
	}
	v.ragged = true
	if have, want := sum(v.value), sum(list); have != want {
		return malformed(at, fmt.Sprintf("%s %d elements with %d", verb, have, want))
	}
	return nil
}

func malformed(at *schedule.Visit, text string) error {
	return &schedule.Violation{Kind: schedule.Malformed, Rank: int(at.Rank), Lane: int(at.Lane),
		Step: int(at.Number), Chunk: -1, Text: at.Step.Name() + " " + text}
}

func sum(values []int64) int64 {
	total := int64(0)
	for _, n := range values {
		total += n
	}
	return total
}
