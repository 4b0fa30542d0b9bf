package reference

import (
	"slices"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// replace puts values in place of made ones. It reports whether there are any.
func (d *script) replace(given Tensors, by Values) (any bool) {
	for i := range d.s.Tensors {
		if own := by[d.s.Tensors[i].Name]; own != nil && given[i] != nil {
			given[i], any = own, true
		}
	}
	return any
}

// named returns the defined elements of tensors by name; a tensor that does not exist has none.
func (v *definedValues) named(names []string) Values {
	values := Values{}
	for i := range v.s.Tensors {
		name := v.s.Tensors[i].Name
		if !slices.Contains(names, name) {
			continue
		}
		for rank := range v.s.Spec.Ranks {
			n := v.lengthOn(i, rank) * int64(v.types[i].Width())
			if n == 0 {
				values[name] = append(values[name], nil)
				continue
			}
			values[name] = append(values[name], v.values[i][rank][:n])
		}
	}
	return values
}

// lengthOn counts the elements of a tensor on a rank, up to the last that is defined.
func (v *definedValues) lengthOn(i, rank int) int64 {
	known := v.known[i][rank]
	if len(known) == 0 {
		return 0
	}
	last := known[len(known)-1]
	return last.Off + last.Len
}

// TensorLengths returns, for each tensor of a program that its ops write, how many elements they
// write on each rank. Given tensors are not among them.
func TensorLengths(s *schedule.Schedule) (map[string][]int64, error) {
	d := &script{s: s, whole: s}
	if s.Means != nil {
		d.s = s.Means.Ops
	}
	for i := range d.s.Tensors {
		d.types = append(d.types, d.s.Tensors[i].Type)
		d.lengths = append(d.lengths, d.s.Tensors[i].Shape.Elements())
	}
	for i, p := range d.s.Parts() {
		if err := d.part(i, &p, nil); err != nil {
			return nil, err
		}
	}
	lengths := map[string][]int64{}
	for i := range d.lines {
		l := &d.lines[i]
		if l.to.value >= len(d.s.Tensors) {
			continue
		}
		name := d.s.Tensors[l.to.value].Name
		if lengths[name] == nil {
			lengths[name] = make([]int64, d.s.Spec.Ranks)
		}
		for k, rank := range l.ranks {
			if n := l.sizeOn(k); n > 0 {
				lengths[name][rank] = max(lengths[name][rank], l.to.offsets[k]+n)
			}
		}
	}
	return lengths, nil
}

// judgedBytes returns the memory that judging takes: of values, with three doubts of each.
func (d *script) judgedBytes() (n int64) {
	for i, t := range d.types {
		n += d.lengths[i] * int64((t.Width()+3*bytesPerDoubt)*d.s.Spec.Ranks)
	}
	return n
}

// A judging computes a program as theirs may have been: in any order of additions, and with theirs
// in the place of what an op gives.
type judging struct {
	v      *definedValues
	ours   *definedValues
	theirs Values
	last   [][]int // by value and rank: the last line that writes it
	list   []Judged
	places map[int]int // in list, by value
	behind [][]string  // by value: ops that it follows from by way of what is not among theirs
}

// judgeProgram holds theirs against a program that was computed from the same given tensors.
func judgeProgram(d *script, given Tensors, ours *definedValues, theirs Values) ([]Judged, error) {
	whole := *d
	whole.lines = slices.Clone(d.lines)
	for i := range whole.lines {
		whole.lines[i].roundInAnyOrder()
	}
	j := &judging{v: newDefinedValues(&whole, given, false), ours: ours, theirs: theirs,
		last: lastLines(&whole), places: map[int]int{}, behind: make([][]string, len(whole.types))}
	j.v.anyOrder = true
	for i := range whole.lines {
		if err := j.line(i); err != nil {
			return nil, err
		}
	}
	return j.list, nil
}

// roundInAnyOrder gives a line that adds up over ranks the bound for every order of additions, and
// for both ways to take a mean.
func (l *line) roundInAnyOrder() {
	if l.spec == nil || !l.spec.Kind.Reduces() {
		return
	}
	spec := *l.spec
	spec.Avg = collective.AvgNCCL // the one that may be further off
	l.spec, l.rounds = &spec, anyOrder(&spec)
}

// lastLines finds the last line that writes each value on each rank.
func lastLines(d *script) [][]int {
	last := make([][]int, len(d.types))
	for i := range last {
		last[i] = slices.Repeat([]int{-1}, d.s.Spec.Ranks)
	}
	for i := range d.lines {
		for _, rank := range d.lines[i].ranks {
			last[d.lines[i].to.value][rank] = i
		}
	}
	return last
}

// line computes a line; theirs then take the place of its result.
func (j *judging) line(i int) error {
	l := &j.v.lines[i]
	call := j.callOf(l)
	m, err := j.v.make(l)
	if err != nil {
		return err
	}
	j.v.store(l, m)
	var theirs [][]byte
	if l.to.value < len(j.v.s.Tensors) {
		theirs = j.theirs[j.v.s.Tensors[l.to.value].Name]
	}
	behind := j.follows(l)
	if theirs == nil {
		j.behind[l.to.value] = joinNames(behind, []string{j.v.opOf(l)})
		return nil
	}
	is := j.of(l)
	is.Behind = joinNames(is.Behind, behind)
	before := is.Different
	for k, rank := range l.ranks {
		if j.last[l.to.value][rank] == i && theirs[rank] != nil {
			j.hold(is, l, k, theirs[rank])
		}
	}
	if call != nil && is.Different > before {
		is.Calls = append(is.Calls, *call)
	}
	return nil
}

// follows lists the ops that a line's operands follow from by way of what is not among theirs.
func (j *judging) follows(l *line) (names []string) {
	for _, from := range l.from {
		names = joinNames(names, j.behind[from.value])
	}
	return names
}

// joinNames returns names and more, each once.
func joinNames(names, more []string) []string {
	all := slices.Clone(names)
	for _, name := range more {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// of returns the judgement of the tensor that a line writes.
func (j *judging) of(l *line) *Judged {
	at, known := j.places[l.to.value]
	if !known {
		at = len(j.list)
		j.places[l.to.value] = at
		j.list = append(j.list, Judged{Tensor: j.v.s.Tensors[l.to.value].Name, Op: j.v.opOf(l)})
	}
	return &j.list[at]
}

// opOf returns the name of the op that a line defines the result of.
func (d *script) opOf(l *line) string {
	if schedule.Composed(d.s) {
		return schedule.PartOf(d.s, l.part).Name
	}
	return d.s.Name
}

// callOf returns the inputs of a line that adds up over ranks; nil of another.
func (j *judging) callOf(l *line) *JudgedCall {
	if l.spec == nil || !l.spec.Kind.Reduces() {
		return nil
	}
	c := &JudgedCall{Part: l.part, Spec: *l.spec, Ranks: l.ranks, IsSure: true}
	for k, rank := range l.ranks {
		n := l.spec.In(k)
		in := j.v.read(l.from[0], k, rank, n)
		c.Inputs = append(c.Inputs, slices.Clone(in))
		d := j.v.doubtsAt(l.from[0], k, rank, n)
		c.IsSure = c.IsSure && (d == nil || allZero(d.most))
	}
	return c
}

// hold compares theirs with the result of a line on its k-th rank, and puts them in its place.
func (j *judging) hold(is *Judged, l *line, k int, theirs []byte) {
	rank, value := l.ranks[k], l.to.value
	of := j.v.typeOf(value)
	width, each := int64(of.Width()), int64(of.Components())
	off, n := l.to.offsets[k]/each, l.sizeOn(k)/each
	if n == 0 {
		return
	}
	x := theirs[off*width:][:n*width]
	is.Elements += n
	typed, own := typeOf(of), j.v.read(l.to, k, rank, n*each)
	d := j.v.doubtsAt(l.to, k, rank, n*each)
	j.bits(is, l, k, x, d)
	f := typed.hold(own, x, d)
	is.Unbounded = is.Unbounded || f.loose
	beyond := wrongElements(typed, own, x, d, of)
	is.Rounded += apart(typed, own, x, width) - beyond
	if beyond > 0 {
		is.Beyond += beyond
		is.BeyondRanks++
		if is.FirstBeyond == nil || rank < is.FirstBeyond.Rank {
			e := int64(f.at) / each
			is.FirstBeyond = &Differing{rank, off + e, bitsOf(typed, x[e*width:][:width]),
				bitsOf(typed, own[e*width:][:width])}
		}
	}
	j.v.write(l.to, k, rank, x, nil)
}

// wrongElements counts elements that have a component beyond its doubt.
func wrongElements(of typed, want, got []byte, d *doubt, t dtype.Type) (n int64) {
	each := int64(t.Components())
	if each == 1 {
		return of.hold(want, got, d).wrong
	}
	width := int64(t.Width())
	for e := range int64(len(got)) / width {
		at := e * width
		if of.hold(want[at:at+width], got[at:at+width], d.slice(e*each, each)).wrong > 0 {
			n++
		}
	}
	return n
}

// apart counts elements of other values: zeros of both signs are equal, and all NaN.
func apart(of typed, a, b []byte, width int64) (n int64) {
	for at := int64(0); at < int64(len(a)); at += width {
		x, y := a[at:at+width], b[at:at+width]
		if string(x) != string(y) && of.hold(x, y, nil).wrong > 0 {
			n++
		}
	}
	return n
}

// bits compares theirs with ours, bit for bit. A unit in the last place is one of the largest
// addend, as a doubt has it.
func (j *judging) bits(is *Judged, l *line, k int, theirs []byte, d *doubt) {
	rank, value := l.ranks[k], l.to.value
	of := j.v.typeOf(value)
	typed, width, off := typeOf(of), int64(of.Width()), l.to.offsets[k]/int64(of.Components())
	ours := j.ours.values[value][rank][off*width:][:len(theirs)]
	if string(theirs) == string(ours) {
		return
	}
	different := int64(0)
	for e := range int64(len(theirs)) / width {
		a, b := theirs[e*width:][:width], ours[e*width:][:width]
		if string(a) == string(b) || typed.isNaN(a) && typed.isNaN(b) {
			continue
		}
		different++
		if is.First == nil || rank < is.First.Rank {
			is.First = &Differing{rank, off + e, bitsOf(typed, a), bitsOf(typed, b)}
		}
	}
	f := typed.hold(ours, theirs, d)
	is.MaxULP, is.MaxRelative = max(is.MaxULP, f.ulp), max(is.MaxRelative, f.share)
	if is.Different += different; different > 0 {
		is.Ranks++
	}
}
