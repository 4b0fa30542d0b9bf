package proof

import (
	"fmt"
	"slices"

	"collsim/schedule"
)

// walk executes the schedule on values, from the beginning.
func (v *verifier) walk(slots int) (schedule.Counts, error) {
	v.memory, v.ended = v.newStores(), make([]int, v.walked())
	v.inputs, v.payload = make([]*value, v.walked()), nil
	v.sent, v.traffic, v.flowOf = 0, nil, map[[2]int32]int{}
	if v.fold != nil && v.fold.sums != nil {
		clear(v.fold.sums)
	}
	if v.places != nil {
		v.places.sent = make([]int64, len(v.fold.strips))
	}
	v.isAlone = v.fold != nil && v.s.Program(0).Lanes() == 1
	v.ordered, v.found, v.tainted = true, nil, map[memory]bool{}
	if v.formulas != nil {
		v.formulas, v.defined, v.blames = newFormulas(v.s), nil, nil
	}
	for rank := range v.inputs {
		if v.treeClasses == nil || v.treeClasses.isFirst(int32(rank)) {
			v.fillInput(rank, 0)
		}
	}
	step := v.step
	if v.roleCounts != nil {
		v.roleCounts.begin(v)
		step = v.stepCounts
	}
	return v.run(slots, v.searches, schedule.Hooks{Step: step, Finished: v.finished})
}

// fillInput gives a rank its input of an iteration.
func (v *verifier) fillInput(rank, iteration int) {
	if v.formulas != nil {
		for _, b := range v.given {
			v.give(v.memory, b, rank, iteration)
		}
		return
	}
	if v.fold != nil {
		v.inputs[rank] = v.fold.own(iteration)
	} else if v.treeClasses != nil {
		v.inputs[rank] = v.treeClasses.own(int32(rank))
	} else if v.roleCounts != nil {
		v.inputs[rank] = &value{tree: inputTree(0), runs: []run{{0, 1, 1}}, own: true}
	} else {
		v.inputs[rank] = inputOf(int32(rank + iteration*v.s.Spec.Ranks))
	}
	if v.labels != nil {
		v.inputs[rank].tree = inputOf(int32(v.labels[rank])).tree
	}
	v.noteInput(v.inputs[rank], rank)
	n := v.s.Len(schedule.Input, rank)
	if n == 0 {
		return
	}
	m, base := v.memory.of(schedule.Input, rank)
	m.write(schedule.Span{Off: base, Len: n}, []seg{{n, v.inputs[rank], 0}}, 0)
}

// report adds a violation by a step, up to maxViolations.
func (v *verifier) report(kind schedule.ViolationKind, at *schedule.Visit, chunk int, format string,
	args ...any) {
	if len(v.found) >= maxViolations {
		return
	}
	v.found = append(v.found, &schedule.Violation{Kind: kind, Rank: v.names.of(int(at.Rank)),
		Lane: int(at.Lane), Step: int(at.Number), Chunk: chunk, Text: fmt.Sprintf(format, args...)})
}

// step executes one sub-step on values.
func (v *verifier) step(at *schedule.Visit) error {
	s := at.Step
	if v.accesses++; v.exceeds() {
		return errEffort
	}
	if v.fold != nil {
		v.fold.noteWidths(v.s, at)
	}
	if !s.Moves() && len(s.Send) == 0 { // it neither stores nor sends
		return nil
	}
	if v.a = v.a[:0]; s.Kernel != nil {
		return v.compute(at)
	}
	for i := range s.From {
		operand := &v.a
		if i > 0 {
			operand = &v.b
			v.b = v.b[:0]
		}
		v.operand(at, i, operand)
		if i > 0 {
			v.a = v.combine(at, v.a, v.b)
		}
	}
	if s.Scale {
		v.scale(at, v.a)
	}
	v.noteEnd(v.a)
	if err := v.deliver(at); err != nil {
		return err
	}
	for i := range s.To {
		if err := v.put(at, int(at.Rank), &s.To[i], writing); err != nil {
			return err
		}
	}
	return nil
}

// operand appends the value of the i-th source to into.
func (v *verifier) operand(at *schedule.Visit, i int, into *[]seg) {
	f := &at.Step.From[i]
	switch f.Kind {
	case schedule.Message:
		if v.fold != nil {
			*into = v.fold.arrive(*into, v.payload[at.In[i]], f.Peer.Rank)
			break
		}
		if v.treeClasses != nil {
			*into = v.treeClasses.arrive(*into, v.payload[at.In[i]], f.Peer.Rank, at.Rank)
			break
		}
		*into = append(*into, v.payload[at.In[i]]...)
	case schedule.Local:
		*into = v.load(at, *into, int(at.Rank), &f.Region, reading)
	case schedule.Get:
		*into = v.load(at, *into, int(f.Peer.Rank), &f.Region, reading|afar)
		v.carry(at.Rank, f.Peer.Rank, at.Rank, *into)
	case schedule.Multimem: // the switch sends the sum once
		*into = v.loadReduce(at, *into, f)
		if !at.Step.Fused() { // else deliver counts it
			v.carry(at.Rank, -1, at.Rank, *into)
		}
	}
	if f.Scale {
		v.scale(at, *into)
	}
}

// load appends the contents of a region of a rank, and records the access.
func (v *verifier) load(at *schedule.Visit, into []seg, rank int, r *schedule.Region,
	how accessKind) []seg {
	where := at.Spot()
	where.Rank = rank
	m, of, base := v.memory.at(where, r.Buffer)
	base += v.turn(r.Buffer, at.Rank)
	v.spans = v.s.Spans(v.spans[:0], where, r)
	if _, stays := at.Step.Puts(); stays {
		how |= lasting
	}
	if v.formulas != nil {
		v.reach(at, of, how)
	}
	if !m.joins || !v.isAlone {
		m.divideAt(v.spans, base)
	}
	for _, span := range v.spans {
		span.Off += base
		v.access(m, span, of, at.Index, how)
		into = m.read(into, span)
	}
	if v.fold != nil && !v.fold.copies && !v.s.Spec.Kind.Reduces() {
		into = v.fold.resolve(into, new(value))
	}
	if i := slices.IndexFunc(into, unwritten); i < 0 {
		return into
	}
	if v.formulas != nil {
		v.reportUnwritten(at, m, of, base, r)
		return spoil(into)
	}
	v.report(schedule.Missing, at, v.s.FirstBlock(r),
		"%s reads %v of rank %d, which nobody has written",
		at.Step.Name(), r.Buffer, v.names.of(rank))
	return into
}

// loadReduce appends the sum of a region over the ranks of a multimem load-reduce. The order in
// which a switch adds is unknown and may change from load to load, so the result gets a tree of its
// own.
func (v *verifier) loadReduce(at *schedule.Visit, into []seg, f *schedule.Source) []seg {
	total := v.load(at, nil, int(f.Team[0]), &f.Region, reading|afar)
	for _, rank := range f.Team[1:] {
		total = v.combine(at, total, v.load(at, nil, int(rank), &f.Region, reading|afar))
	}
	for _, g := range total {
		if g.v != nil && g.v != spoilt && len(f.Team) > 1 && v.formulas == nil {
			unknown := *g.v
			unknown.ordered = false
			unknown.tree = scramble(unknown.tree + uint64(at.Rank))
			v.noteCopy(&unknown, g.v, false, true)
			g.v = &unknown
		}
		into = appendSeg(into, g)
	}
	return into
}

// deliver sends v.a to the step's peers, and stores it where puts land.
func (v *verifier) deliver(at *schedule.Visit) error {
	for i := range at.Step.Send {
		d := &at.Step.Send[i]
		if handle := int(at.Out[i]); handle >= 0 {
			for handle >= len(v.payload) {
				v.payload = append(v.payload, nil)
			}
			v.payload[handle] = append(v.payload[handle][:0], v.a...)
		}
		from, to := at.Rank, d.Peer.Rank
		if d.Team != nil {
			to = -1
		}
		if d.Fused {
			from = -1
		}
		v.carry(at.Rank, from, to, v.a)
		if err := v.land(at, d); err != nil {
			return err
		}
	}
	return nil
}

// land stores v.a where a put or a multimem store lands.
func (v *verifier) land(at *schedule.Visit, d *schedule.Dest) error {
	if d.Team == nil && d.Put {
		how := writing | afar
		if d.Message() {
			how |= landing
		}
		return v.put(at, int(d.Peer.Rank), &d.Region, how)
	}
	for _, rank := range d.Team {
		if err := v.put(at, int(rank), &d.Region, writing|afar); err != nil {
			return err
		}
	}
	return nil
}

// put stores v.a in a region of a rank, and records the access.
func (v *verifier) put(at *schedule.Visit, rank int, r *schedule.Region, how accessKind) error {
	where := at.Spot()
	where.Rank = rank
	m, of, base := v.memory.at(where, r.Buffer)
	base += v.turn(r.Buffer, at.Rank)
	v.spans = v.s.Spans(v.spans[:0], where, r)
	total := int64(0)
	for _, span := range v.spans {
		total += span.Len
	}
	if size := sizeOf(v.a); size != total {
		return &schedule.Violation{Kind: schedule.Malformed, Rank: int(at.Rank), Lane: int(at.Lane),
			Step: int(at.Number), Chunk: v.firstBlock(at, r),
			Text: fmt.Sprintf("%s stores %d elements in a region of %d", at.Step.Name(), size, total)}
	}
	if v.formulas != nil {
		v.reach(at, of, how)
		v.holdType(at, of)
	}
	if how&afar == 0 && ontoItself(v.s, at, r) {
		return nil
	}
	if v.places != nil {
		v.places.stores(v.spans, v.a)
	}
	m.divideAt(v.spans, base)
	left, from := v.a, int64(0)
	for _, span := range v.spans {
		span.Off += base
		v.access(m, span, of, at.Index, how)
		left, from = m.write(span, left, from)
		if v.roleCounts != nil {
			v.roleCounts.wrote(v.memory.in(of), of, span, at)
		}
	}
	return nil
}

// ontoItself reports whether a step copies elements onto themselves, which does nothing.
func ontoItself(s *schedule.Schedule, at *schedule.Visit, to *schedule.Region) bool {
	if step := at.Step; len(step.From) != 1 || step.From[0].Kind != schedule.Local ||
		step.From[0].Scale || step.Scale || step.Kernel != nil {
		return false
	}
	from := &at.Step.From[0].Region
	x, a := s.Locate(at.Spot(), from.Buffer)
	y, b := s.Locate(at.Spot(), to.Buffer)
	if x != y {
		return false
	}
	p, q := s.Spans(nil, at.Spot(), from), s.Spans(nil, at.Spot(), to)
	for i := range p {
		p[i].Off += a
	}
	for i := range q {
		q[i].Off += b
	}
	return slices.Equal(p, q)
}
