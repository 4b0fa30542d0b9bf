package reference

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/dtype"
	"collsim/kernel"
	"collsim/schedule"
	"collsim/unit"
)

// A line is one result that a program, or a part of a composed schedule, defines: the contents of a
// place on all ranks that take part.
type line struct {
	spec   *collective.Spec
	kernel *kernel.Op
	from   []place
	to     place
	ranks  []int    // of the whole, by rank of the line
	part   int      // that defines it
	rounds rounding // of a collective
	doubts bool     // a switch adds, in unknown order
}

// A place is where a line reads or writes: a value, and its offset for every rank of the line.
type place struct {
	value   int
	offsets []int64
}

// A script is what a schedule computes, line by line: the definition of its tensors, and of further
// values without memory. For a schedule with a meaning it is the meaning, and its tensors.
type script struct {
	s       *schedule.Schedule // with the definitions
	whole   *schedule.Schedule // that is executed
	lines   []line
	types   []dtype.Type // of all values; of complex ones that of their components
	lengths []int64
	merges  bool // a switch adds, in some step
}

// noDefinition explains why there is nothing to compare with.
type noDefinition struct{ text string }

// Error returns the explanation.
func (e *noDefinition) Error() string { return e.text }

// scriptOf lists the definitions of a program, or those of the parts of a composed schedule, one
// part after the other.
func scriptOf(s *schedule.Schedule, o RunOptions, slots int) (*script, error) {
	d := &script{s: s, whole: s, merges: s.AnyStep(func(step *schedule.Step) bool {
		return slices.ContainsFunc(step.From, func(f schedule.Source) bool {
			return f.Kind == schedule.Multimem
		})
	})}
	if s.Means != nil {
		s = s.Means.Ops
		d.s = s
	}
	for i := range s.Tensors {
		d.types = append(d.types, s.Tensors[i].Type)
		d.lengths = append(d.lengths, s.Tensors[i].Shape.Elements())
	}
	parts := s.Parts()
	if parts == nil {
		ranks, places := make([]int, s.Spec.Ranks), make([]place, s.Buffers())
		for rank := range ranks {
			ranks[rank] = rank
		}
		for i := range s.Tensors {
			places[int(schedule.FirstTensor)+i] = d.at(i, ranks)
		}
		d.program(s, 0, ranks, places)
	}
	r := roundings{accumulate: o.Accumulate, slots: slots, carried: d.whole.Parts(),
		known: map[*schedule.Schedule]line{}}
	for i := range parts {
		if err := d.part(i, &parts[i], &r); err != nil {
			return nil, err
		}
	}
	if len(d.lines) == 0 {
		return nil, &noDefinition{"the schedule does not define what it computes"}
	}
	d.inComponents()
	return d, nil
}

// at returns the beginning of a value on some ranks.
func (d *script) at(value int, ranks []int) place { return place{value, make([]int64, len(ranks))} }

// unnamed adds a value without memory.
func (d *script) unnamed(t dtype.Type, length int64, ranks []int) place {
	d.types, d.lengths = append(d.types, t), append(d.lengths, length)
	return d.at(len(d.types)-1, ranks)
}

// part appends the lines of a part.
func (d *script) part(i int, p *schedule.Part, r *roundings) error {
	sub := p.Schedule
	if len(sub.Tensors) > 0 {
		places := make([]place, sub.Buffers())
		for t := range sub.Tensors {
			b := schedule.FirstTensor + schedule.Buffer(t)
			places[b] = d.located(i, p, b)
		}
		d.program(sub, i, p.Ranks, places)
		return nil
	}
	switch sub.Spec.Kind {
	case collective.Barrier:
		return nil
	case collective.Custom:
		return &noDefinition{fmt.Sprintf("part %d (%s) does not define what it computes", i, sub.Name)}
	}
	l := line{spec: &sub.Spec, part: i}
	if sub.Spec.Kind.Reduces() && r != nil {
		carries := []int{i}
		if d.s != d.whole {
			carries = d.whole.Means.Made[i]
		}
		if err := r.of(&l, carries); err != nil {
			return err
		}
	}
	l.ranks = p.Ranks
	l.from = []place{d.located(i, p, schedule.Input)}
	l.to = d.located(i, p, schedule.Output)
	d.lines = append(d.lines, l)
	return Computable(sub.Spec)
}

// roundings finds how the sums of a composed schedule are rounded.
type roundings struct {
	accumulate Accumulate
	slots      int
	carried    []schedule.Part
	known      map[*schedule.Schedule]line // what was found about a schedule
}

// of sets in a collective's line how the parts that execute it round: as the one with the largest
// bound does.
func (r *roundings) of(l *line, parts []int) error {
	for _, i := range parts {
		s := r.carried[i].Schedule
		found, known := r.known[s]
		switch {
		case known:
		case s.Spec.Kind.Reduces():
			v, err := look(s, lookOptions{slots: r.slots, accumulate: r.accumulate})
			if err != nil {
				return err
			}
			found = line{rounds: v.rounding(), doubts: v.code.merges && rounds(&s.Spec)}
		case slices.ContainsFunc(s.Defs, func(def schedule.Def) bool { return def.Spec != nil }):
			found.rounds = anyOrder(l.spec)
		}
		r.known[s] = found
		if found.rounds.bound(l.spec) >= l.rounds.bound(l.spec) {
			l.rounds = found.rounds
		}
		l.doubts = l.doubts || found.doubts
	}
	return nil
}

// located returns the place of a part's buffer. A program's inner and defined tensors are values of
// their own, since other parts may reuse their memory.
func (d *script) located(i int, p *schedule.Part, b schedule.Buffer) place {
	s := p.Schedule
	if t := s.Tensor(b); t != nil && (t.Role == schedule.Inner || t.Role == schedule.Defined) {
		return d.unnamed(t.Type, t.Shape.Elements(), p.Ranks)
	}
	at := place{offsets: make([]int64, len(p.Ranks))}
	for k, rank := range p.Ranks {
		memory, base := d.s.Locate(schedule.Spot{Rank: rank, Part: i}, b)
		at.value, at.offsets[k] = int(memory)-int(schedule.FirstTensor), base
	}
	return at
}

// program appends the definitions of a program, as a part.
func (d *script) program(s *schedule.Schedule, part int, ranks []int, places []place) {
	for i := range s.Defs {
		def := &s.Defs[i]
		l := line{spec: def.Spec, kernel: def.Kernel, to: places[def.To], ranks: ranks, part: part}
		for _, b := range def.From {
			l.from = append(l.from, places[b])
		}
		if def.Spec != nil {
			spec := *def.Spec
			spec.Avg = collective.AvgNCCL // of both ways to take a mean, the one that may be further off
			l.spec, l.rounds = &spec, anyOrder(&spec)
		}
		d.lines = append(d.lines, l)
	}
}

// anyOrder returns how sums are rounded if their order is unknown: see Compare.
func anyOrder(spec *collective.Spec) rounding {
	return rounding{n: spec.Ranks, height: spec.Ranks - 1, widens: InFloat32.widens(spec.Type)}
}

// flops returns the operations of the kernels of all lines.
func (d *script) flops() (n int64) {
	for i := range d.lines {
		if l := &d.lines[i]; l.kernel != nil {
			n = unit.AddCapped(n, unit.MultiplyCapped(l.kernel.FLOPs(), int64(len(l.ranks))))
		}
	}
	return n
}

// bytes returns the memory of all values, with their doubts.
func (d *script) bytes() (n int64) {
	for i, t := range d.types {
		n = unit.AddCapped(n, unit.MultiplyCapped(d.lengths[i], int64(t.Width()*d.s.Spec.Ranks)))
	}
	for i := range d.lines {
		if l := &d.lines[i]; l.spec != nil && rounds(l.spec) {
			for rank := range l.ranks {
				n = unit.AddCapped(n, unit.MultiplyCapped(l.spec.Out(rank), bytesPerDoubt))
			}
		}
	}
	return n
}

// results lists the tensors that are outputs.
func results(s *schedule.Schedule) (list []int) {
	for i := range s.Tensors {
		if s.Tensors[i].Role.IsResult() {
			list = append(list, i)
		}
	}
	return list
}

// cover adds a run to sorted runs that do not touch.
func cover(runs []schedule.Span, more schedule.Span) []schedule.Span {
	if more.Len == 0 {
		return runs
	}
	end := more.Off + more.Len
	kept := runs[:0:0]
	for _, r := range runs {
		if r.Off > end || r.Off+r.Len < more.Off {
			kept = append(kept, r)
			continue
		}
		more.Off, end = min(more.Off, r.Off), max(end, r.Off+r.Len)
	}
	more.Len = end - more.Off
	at := slices.IndexFunc(kept, func(r schedule.Span) bool { return r.Off > more.Off })
	if at < 0 {
		at = len(kept)
	}
	return slices.Insert(kept, at, more)
}
