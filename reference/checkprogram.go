package reference

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/dtype"
	"collsim/kernel"
	"collsim/schedule"
	"collsim/unit"
)

// aTensor is the collective for which the numbers of a tensor are made: no operator, one rank.
var aTensor = collective.Spec{Ranks: 1}

// defaultFLOPs bounds the operations of a check's kernels by default.
const defaultFLOPs = 100e9

// checkProgram checks a program or a composed schedule (Check).
func checkProgram(s *schedule.Schedule, o *CheckOptions) (Report, error) {
	p, err := o.affordProgram(s)
	if err != nil || p.why != "" {
		return Report{Numbers: NumbersOff, Why: p.why}, err
	}
	given, exact := p.d.given(o.Data, o.Seed)
	exact = !p.d.replace(given, o.Given) && exact
	if p.s.Means != nil {
		r, err := checkMeaning(p.d, given, exact, o)
		return p.d.weakened(r), err
	}
	got, err := runTensors(p.s, given, RunOptions{Accumulate: o.Accumulate}, o.Slots)
	if err != nil {
		return Report{}, err
	}
	r, err := p.d.compare(given, got, exact)
	return p.d.weakened(r), err
}

// weakened returns a report with the verdict that stand-ins leave of it.
func (d *script) weakened(r Report) Report {
	names := d.standIns()
	if names == nil || r.Numbers == NumbersOff || r.Numbers == NumbersMismatch {
		return r
	}
	const most = 3
	if n := len(names) - most; n > 1 {
		names = append(names[:most], fmt.Sprintf("%d more", n))
	}
	r.Why = fmt.Sprintf("%s, with stand-ins for the results of %s", r.Numbers,
		strings.Join(names, ", "))
	r.Numbers = NumbersStandIn
	return r
}

// standIns lists the parts that write what nobody knows, by their names; those that write gradients
// of what others read, in one.
func (d *script) standIns() (names []string) {
	for i := range d.lines {
		l := &d.lines[i]
		if l.kernel == nil || l.kernel.Kind != kernel.Opaque {
			continue
		}
		name := l.kernel.Kind.String()
		if schedule.Composed(d.s) {
			name = schedule.PartOf(d.s, l.part).Name
		}
		if l.kernel.Gradient > 0 {
			name = "their gradients"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// affordedProgram is a program that a check computes, its definition, and its cost; or why there is
// none.
type affordedProgram struct {
	s   *schedule.Schedule
	d   *script
	c   cost
	by  int64 // its sizes are divided by this
	why string
}

// affordProgram returns the program with the first sizes that are affordable.
func (o *CheckOptions) affordProgram(s *schedule.Schedule) (p affordedProgram, err error) {
	p = affordedProgram{s: s, by: 1}
	for {
		if err := p.look(o); err != nil {
			return affordedProgram{}, err
		}
		if p.why == "" || o.Smaller == nil || p.by >= 1<<30 {
			return p, nil
		}
		next, err := o.Smaller(2 * p.by)
		if err != nil {
			return affordedProgram{}, fmt.Errorf("the program in one of %d parts: %w", 2*p.by,
				err)
		}
		if next == nil {
			return p, nil
		}
		p.s, p.by = next, 2*p.by
	}
}

// look finds a schedule's definition and cost, and why that is too much.
func (p *affordedProgram) look(o *CheckOptions) (err error) {
	s := p.s
	if p.why = ""; !schedule.Composed(s) && (s.Len(schedule.Input, 0) > 0 ||
		s.Len(schedule.Output, 0) > 0) {
		p.why = "a program has an input or an output beside its tensors"
		return nil
	}
	p.d, err = scriptOf(s, RunOptions{Accumulate: o.Accumulate}, o.Slots)
	if none, undefined := err.(*noDefinition); undefined {
		p.why = none.text
		return nil
	}
	if err != nil {
		return err
	}
	if p.c, err = costOf(s, o.Slots); err != nil {
		return err
	}
	most := o.FLOPs
	if most == 0 {
		most = defaultFLOPs
	}
	need := unit.AddCapped(p.c.bytes, p.d.bytes())
	if o.Theirs != nil {
		need = unit.AddCapped(need, p.d.judgedBytes())
	}
	if need > o.Memory {
		p.why = fmt.Sprintf("the check needs %d bytes, but memory is %d", need, o.Memory)
	} else if need = unit.AddCapped(p.c.flops, p.d.flops()); need > most {
		p.why = fmt.Sprintf("the check's kernels have %.3g operations; at most %.3g are computed",
			float64(need), float64(most))
	}
	return nil
}

// A tensorFinding is the comparison of some elements; loose says that some differ without a known
// bound.
type tensorFinding struct {
	finding
	loose bool
}

// compare compares results with the definition; exact says that nothing is rounded on these data.
func (d *script) compare(given, got Tensors, exact bool) (Report, error) {
	v, err := evaluate(d, given, exact)
	if err != nil {
		return Report{}, err
	}
	var c tensorComparison
	for _, i := range results(d.s) {
		for rank := range d.s.Spec.Ranks {
			for _, run := range v.known[i][rank] {
				c.add(v, got, i, rank, run)
			}
		}
	}
	return c.report(v, got), nil
}

// tensorComparison accumulates comparisons of values with their definitions.
type tensorComparison struct {
	r              Report
	mean           mean
	compared       int64
	inexact, loose bool
}

// add compares elements of a value of a rank.
func (c *tensorComparison) add(v *definedValues, got Tensors, i, rank int, at schedule.Span) {
	r := &c.r
	for off := at.Off; off < at.Off+at.Len; off += block {
		n := min(block, at.Off+at.Len-off)
		f := v.hold(got, i, rank, schedule.Span{Off: off, Len: n})
		c.compared += n
		c.inexact, c.loose = c.inexact || f.differ, c.loose || f.loose
		r.Wrong += f.wrong
		r.MaxULP, r.MaxRelative = max(r.MaxULP, f.ulp), max(r.MaxRelative, f.share)
		c.mean.add(0, f.units, n)
		if f.wrong > 0 && r.First == nil {
			r.First = v.mismatch(got, i, rank, off+int64(f.at))
		}
	}
}

// report returns the comparison of all values; got are the results.
func (c *tensorComparison) report(v *definedValues, got Tensors) Report {
	r := &c.r
	for _, i := range results(v.s) {
		r.Checked = max(r.Checked, v.s.Tensors[i].Shape.Elements())
	}
	r.RanksAgree, r.MeanULP = v.agree(got), c.mean.value()
	if v.most > 0 {
		r.Depth, r.Bound = v.bound.height, v.most
	}
	switch {
	case c.compared == 0:
		return Report{Numbers: NumbersOff, Why: "nothing that is defined is a result"}
	case r.Wrong > 0:
		r.Numbers = NumbersMismatch
	case c.loose:
		r.Numbers = NumbersUnbounded
	case c.inexact || v.merges || v.script.merges && v.most > 0:
		r.Numbers = NumbersBounded
	default:
		r.Numbers = NumbersExact
	}
	return *r
}

// hold compares elements of a value.
func (v *definedValues) hold(got Tensors, i, rank int, at schedule.Span) tensorFinding {
	width := int64(v.types[i].Width())
	from, to := at.Off*width, (at.Off+at.Len)*width
	return typeOf(v.types[i]).hold(v.values[i][rank][from:to], got[i][rank][from:to],
		v.doubts[i][rank].slice(at.Off, at.Len))
}

// mismatch formats a wrong element.
func (v *definedValues) mismatch(got Tensors, i, rank int, element int64) *Mismatch {
	width := int64(v.types[i].Width())
	show := func(b []byte) string { return typeOf(v.types[i]).text(b[element*width:][:width]) }
	m := &Mismatch{Tensor: v.s.Tensors[i].Name, Rank: rank, Element: element,
		Got: show(got[i][rank]), Want: show(v.values[i][rank])}
	m.ofComponent(v.typeOf(i))
	return m
}

// agree reports whether all ranks hold the same bits of every result that is last defined by a
// collective that gives them all the same.
func (v *definedValues) agree(got Tensors) bool {
	last := map[int]*line{}
	for i := range v.lines {
		last[v.lines[i].to.value] = &v.lines[i]
	}
	for _, i := range results(v.s) {
		l := last[i]
		if l == nil || l.spec == nil || !l.spec.Kind.Shared() {
			continue
		}
		width := int64(v.types[i].Width())
		elements := func(k int) string {
			at := l.to.offsets[k] * width
			return string(got[i][l.ranks[k]][at : at+l.spec.Out(k)*width])
		}
		first := elements(0)
		for k := range l.ranks {
			if elements(k) != first {
				return false
			}
		}
	}
	return true
}

// hold compares elements with their definitions, within their doubt. Zeros of both signs are equal,
// and so are all NaN.
func (as[T]) hold(want, got []byte, d *doubt) (f tensorFinding) {
	if string(want) == string(got) {
		return f
	}
	x, y := getAll[T](got), getAll[T](want)
	if !isFloat[T]() {
		for i := range x {
			if x[i] == y[i] {
				continue
			}
			distance := gap(x[i], y[i])
			f.note(distance, 1, math.Abs(dtype.Value(y[i])))
			f.judge(i, distance, d)
		}
		return f
	}
	format := layoutOf(dtype.Of[T]())
	wide, right := make([]float64, len(x)), make([]float64, len(x))
	dtype.Widen(wide, x)
	dtype.Widen(right, y)
	for i, have := range wide {
		y := right[i]
		if have == y || math.IsNaN(have) && math.IsNaN(y) {
			continue
		}
		unit := math.Abs(format.clip(y))
		if d != nil {
			if large := d.largest[i]; large <= math.MaxFloat64 {
				unit = max(unit, format.clip(large))
			}
		}
		distance := format.apart(have, y)
		f.note(distance, format.ulp(unit), math.Abs(y))
		f.judge(i, distance, d)
	}
	return f
}

// judge records an element that differs: as loose if its doubt is infinite, or NaN, or as wrong if
// it exceeds its doubt.
func (f *tensorFinding) judge(i int, distance float64, d *doubt) {
	switch {
	case d != nil && (math.IsNaN(d.most[i]) || math.IsInf(d.most[i], 1) && !math.IsNaN(distance)):
		f.loose = true
	case d == nil || !(distance <= d.most[i]):
		f.reject(i)
	}
}
