package proof

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"collsim/schedule"
)

// A blame is a violation whose text is still to name the step that wrote the elements.
type blame struct {
	x    *schedule.Violation
	at   memory
	off  int64
	call int
	by   *schedule.At
	part string
}

// want returns the definition for a call, evaluated at most once.
func (v *verifier) want(call int) *definition {
	for len(v.defined) <= call {
		v.defined = append(v.defined, v.define(len(v.defined)))
	}
	return v.defined[call]
}

// leftOpen lists the results that the definition leaves open; nil if values are not formulas.
func (v *verifier) leftOpen() []string {
	if v.formulas == nil {
		return nil
	}
	return v.undefined(v.want(0))
}

// checkResults compares the results of a rank after a call with the definition.
func (v *verifier) checkResults(rank, call int) {
	want := v.want(call)
	for _, b := range v.results {
		n := v.s.Len(b, rank)
		if n == 0 {
			continue
		}
		m, base := v.memory.of(b, rank)
		w, at := want.all.of(b, rank)
		got := m.read(nil, schedule.Span{Off: base, Len: n})
		expected := w.read(nil, schedule.Span{Off: at, Len: n})
		for off := int64(0); off < n; {
			k := min(got[0].n, expected[0].n)
			v.checkRun(resultRun{b, rank, call, off, k}, got[0], expected[0])
			got, expected = skip(got, k), skip(expected, k)
			off += k
		}
	}
}

// A resultRun is n elements of a result of a rank after a call, from off on.
type resultRun struct {
	buffer     schedule.Buffer
	rank, call int
	off, n     int64
}

// checkRun compares n elements of a result with the definition, and reports the run if they differ.
func (v *verifier) checkRun(at resultRun, got, want seg) {
	kind, text := schedule.Missing, "is never written"
	switch {
	case got.v == spoilt || want.v == nil || len(v.found) >= maxViolations:
		return
	case got.v == nil:
		if at.n > 1 {
			text = "are never written"
		}
	case want.v == spoilt || got.v == want.v && got.off == want.off:
		return
	default:
		if kind, text = v.formulas.differ(got, want, at.call); at.n > 1 {
			text = "are wrong: the first " + text
		}
	}
	home, base := v.s.Home(at.buffer, at.rank)
	x := &schedule.Violation{Kind: kind, Rank: v.names.of(at.rank), Lane: -1, Step: -1,
		Chunk: v.s.BlockAt(at.buffer, at.rank, at.off),
		Text:  fmt.Sprintf("%s %s %s", v.s.BufferName(at.buffer), elements(at.off, at.n), text)}
	v.found = append(v.found, x)
	if got.v != nil {
		v.blames = append(v.blames,
			blame{x: x, at: memory{at.rank, home}, off: base + at.off, call: at.call})
	}
}

// assignBlame executes the schedule once more to find the steps that wrote wrong elements, and adds
// them to the violations' texts.
func (v *verifier) assignBlame(slots int) {
	if slots == 0 || len(v.blames) == 0 {
		return
	}
	clear(v.ended)
	_, _ = v.run(slots, false, schedule.Hooks{Step: v.noteWriter, Finished: func(rank, _ int) error {
		v.ended[rank]++
		return nil
	}})
	for _, c := range v.blames {
		if c.by != nil {
			c.x.Say("%s, written by %v%s", c.x.Text, *c.by, c.part)
		}
	}
}

// noteWriter notes a step if it writes elements that are looked for.
func (v *verifier) noteWriter(at *schedule.Visit) error {
	note := func(rank int, r *schedule.Region) {
		where := at.Spot()
		where.Rank = rank
		home, base := v.s.Locate(where, r.Buffer)
		for i := range v.blames {
			c := &v.blames[i]
			if c.at != (memory{rank, home}) || v.ended[rank] > c.call {
				continue
			}
			for _, span := range v.s.Spans(nil, where, r) {
				if off := c.off - base; off >= span.Off && off < span.Off+span.Len {
					c.by = &schedule.At{Rank: int(at.Rank), Lane: int(at.Lane), Step: int(at.Number)}
					c.part = v.partName(int(at.Rank), int(at.Lane))
				}
			}
		}
	}
	for i := range at.Step.To {
		if !ontoItself(v.s, at, &at.Step.To[i]) {
			note(int(at.Rank), &at.Step.To[i])
		}
	}
	for i := range at.Step.Send {
		d := &at.Step.Send[i]
		if d.Put && d.Team == nil {
			note(int(d.Peer.Rank), &d.Region)
		}
		for _, rank := range d.Team {
			note(int(rank), &d.Region)
		}
	}
	return nil
}

// A term is one element of a source, scaled, with its multiplicity.
type term struct {
	source int32
	off    int64
	scale  int32
	times  int32
}

// maxTerms bounds how many terms of a sum are compared to explain a difference.
const maxTerms = 1 << 12

// terms lists the terms of an element of a value, by source and offset.
func (f *formulas) terms(g seg) (list []term) {
	for _, group := range f.of(g.v).groups {
		f.multisets.each(group.sources, func(s, times int32) bool {
			if len(list) < maxTerms {
				list = append(list, term{s, g.off + group.off, group.scale, times})
			}
			return len(list) < maxTerms
		})
	}
	slices.SortFunc(list, func(a, b term) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.off, b.off),
			cmp.Compare(a.scale, b.scale))
	})
	return list
}

// differ explains how an element differs from what is wanted in a call, and returns the kind of the
// violation.
func (f *formulas) differ(got, want seg, call int) (schedule.ViolationKind, string) {
	a, b := f.of(got.v), f.of(want.v)
	say := wording{f, call}
	if a.typ != b.typ || a.op != b.op && a.op != 0 && b.op != 0 {
		return schedule.Misplaced, fmt.Sprintf("holds %s instead of %s", say.formula(a, got.off, 2),
			say.formula(b, want.off, 2))
	}
	x, y := f.terms(got), f.terms(want)
	var strange, lacking []term
	for len(x) > 0 || len(y) > 0 {
		switch {
		case len(x) > 0 && len(y) > 0 && x[0] == y[0]:
			x, y = x[1:], y[1:]
		case len(y) == 0 || len(x) > 0 && before(x[0], y[0]):
			strange, x = append(strange, x[0]), x[1:]
		default:
			lacking, y = append(lacking, y[0]), y[1:]
		}
	}
	switch {
	case len(strange) == 0 && len(lacking) == 0: // the difference is beyond maxTerms
		return schedule.Misplaced, "differs from the definition"
	case len(strange) == 0:
		return schedule.Missing, "lacks " + say.term(lacking[0], 2)
	}
	s := strange[0]
	if i := slices.IndexFunc(lacking, func(t term) bool {
		return t.source == s.source && t.off == s.off
	}); i >= 0 && lacking[i].scale != s.scale {
		return schedule.Misplaced, fmt.Sprintf("holds %s times %s instead of %s", say.term(s, 2),
			f.factors[s.scale].RatString(), f.factors[lacking[i].scale].RatString())
	} else if i >= 0 && s.times > lacking[i].times {
		return schedule.Doubled, fmt.Sprintf("holds %s %d times", say.term(s, 2), s.times)
	} else if i >= 0 {
		return schedule.Missing, fmt.Sprintf("holds %s only %d times", say.term(s, 2), s.times)
	}
	text := "holds " + say.term(s, 2)
	if len(lacking) == 0 {
		return schedule.Misplaced, text + ", which does not belong there"
	}
	instead := say.term(lacking[0], 2)
	if i := slices.IndexFunc(lacking, func(t term) bool { return t.source == s.source }); i >= 0 {
		instead = fmt.Sprintf("element %d", lacking[i].off)
	}
	return schedule.Misplaced, text + " instead of " + instead
}

// before orders terms by source, offset, scale and multiplicity.
func before(a, b term) bool {
	return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.off, b.off),
		cmp.Compare(a.scale, b.scale), cmp.Compare(a.times, b.times)) < 0
}

// wording puts values into words, relative to a call.
type wording struct {
	*formulas
	call int
}

// term formats a term, such as "element 5 of x of rank 2".
func (s wording) term(t term, depth int) string {
	return fmt.Sprintf("element %d of %s", t.off, s.source(t.source, depth))
}

// source formats a source, such as "x of rank 2" or "matmul(x of rank 2, w of rank 2)". depth
// limits the nesting.
func (s wording) source(i int32, depth int) string {
	src := &s.sources[i]
	switch {
	case src.of != nil && src.scale != 0:
		return fmt.Sprintf("(%s) times %s", s.formula(src.of, 0, depth-1),
			s.factors[src.scale].RatString())
	case src.of != nil:
		return fmt.Sprintf("(%s)", s.formula(src.of, 0, depth-1))
	case src.rows != nil && depth == 0:
		return src.rows.op.Kind.String() + "(…)"
	case src.rows != nil:
		return s.kernel(src.rows, depth)
	}
	text := fmt.Sprintf("%s of rank %d", s.name(src.given), src.rank)
	if int(src.call) < s.call {
		text += " of the call before"
	} else if int(src.call) > s.call {
		text += " of the next call"
	}
	return text
}

// kernel formats a kernel with its operands: first those read row by row, then those read whole.
func (s wording) kernel(r *rows, depth int) string {
	var list []string
	add := func(text string) {
		if !slices.Contains(list, text) && len(list) < 4 {
			list = append(list, text)
		}
	}
	for _, p := range r.pieces {
		text := s.formula(s.of(p.v), 0, depth-1)
		if p.off != 0 {
			text += fmt.Sprintf(" moved by %d", p.off)
		}
		add(text)
	}
	for _, id := range r.whole {
		for _, g := range s.whole[id] {
			add(s.formula(s.of(g.v), g.off, depth-1))
		}
	}
	return fmt.Sprintf("%v(%s)", r.op.Kind, strings.Join(list, ", "))
}

// formula formats a formula, such as "x of rank 2", "x of rank 2 from element 8 on", or "sum of x
// of rank 0, …".
func (s wording) formula(x *formula, off int64, depth int) string {
	var list []string
	for _, t := range s.terms(seg{1, &x.value, off}) {
		if len(list) == 3 {
			list = append(list, "…")
			break
		}
		text := s.source(t.source, max(depth, 0))
		if t.off != 0 {
			text += fmt.Sprintf(" from element %d on", t.off)
		}
		list = append(list, text)
	}
	if x.op == 0 {
		return list[0]
	}
	return fmt.Sprintf("%v of %s", x.op, strings.Join(list, ", "))
}
