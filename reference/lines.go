package reference

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/dtype"
	"collsim/kernel"
	"collsim/schedule"
)

// line is one thing that a program, or a part of a composed schedule, computes: what a place holds
// afterwards on all ranks that take part.
type line struct {
	spec   *collective.Spec
	kernel *kernel.Op
	from   []place
	to     place
	ranks  []int    // of the whole, by the rank that each plays
	part   int      // that says so
	rounds rounding // of a collective
	doubts bool     // a switch adds: nobody tells its order
}

// place is where a line reads, or writes: a value, and for every rank of the line the element at
// which it begins there.
type place struct {
	value   int
	offsets []int64
}

// script is what a schedule computes, line by line: the definition of its tensors, and behind them
// of values that are no memory. Of a schedule that has a meaning it is that, and its tensors.
type script struct {
	s       *schedule.Schedule // that has the definitions
	whole   *schedule.Schedule // that is carried out
	lines   []line
	types   []dtype.Type // of all values
	lengths []int64
	merges  bool // a switch adds, in some step
}

// noDefinition is why there is nothing to compare with.
type noDefinition struct{ text string }

func (e *noDefinition) Error() string { return e.text }

// scriptOf lists the definitions of a program, or those of the parts of a composed schedule, one
// part after the other: of a collective, that it is done; of a program, what it defines.
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
	return d, nil
}

// at is the beginning of a value on some ranks.
func (d *script) at(value int, ranks []int) place { return place{value, make([]int64, len(ranks))} }

// unnamed is a value that no memory holds.
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
	if sub.Spec.Kind.Reduces() {
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

// roundings finds out how the sums of a composed schedule are rounded.
type roundings struct {
	accumulate Accumulate
	slots      int
	carried    []schedule.Part
	known      map[*schedule.Schedule]line // what was found out about a schedule
}

// of notes in a collective's line how it is rounded by the parts that carry it out: as the one that
// has the largest bound rounds it.
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

// located is where a part's buffer lies. What a program only works in, or only names, is a value of
// its own: its memory may be others' afterwards.
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

// program appends the definitions of a program, which is a part.
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

// anyOrder is how sums are rounded of which nobody knows how they are added up: see Compare.
func anyOrder(spec *collective.Spec) rounding {
	return rounding{n: spec.Ranks, height: spec.Ranks - 1, widens: InFloat32.widens(spec.Type)}
}

// flops is what the kernels of all lines take.
func (d *script) flops() (n int64) {
	for i := range d.lines {
		if l := &d.lines[i]; l.kernel != nil {
			n = capped(n, times(l.kernel.FLOPs(), int64(len(l.ranks))))
		}
	}
	return n
}

// bytes is what all values take, with how far they may be off where that is noted.
func (d *script) bytes() (n int64) {
	for i, t := range d.types {
		n = capped(n, times(d.lengths[i], int64(t.Width()*d.s.Spec.Ranks)))
	}
	for i := range d.lines {
		if l := &d.lines[i]; l.spec != nil && rounds(l.spec) {
			for rank := range l.ranks {
				n = capped(n, times(l.spec.Out(rank), bytesPerDoubt))
			}
		}
	}
	return n
}

// results are the tensors that the schedule is for.
func results(s *schedule.Schedule) (list []int) {
	for i := range s.Tensors {
		if s.Tensors[i].Role == schedule.Result {
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
