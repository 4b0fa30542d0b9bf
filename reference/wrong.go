package reference

import (
	"bytes"
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/schedule"
)

// An Outside is an element of theirs that no order of additions gives: it is outside the bound of
// all orders, or nothing is added at all.
type Outside struct {
	Rank    int
	Element int64 // of the rank's output tensor, in C order
	Theirs  Bits
	Right   Bits // the exact result, rounded once
	// Looks are descriptions such as "the rank's own input" or "the sum without r3". Of those that
	// fit it, they are the ones that fit most of BitComparison.Outside. Empty if none fits.
	Looks []string
}

// A stray is an Outside with its index in the collective's layout.
type stray struct {
	position      int
	flat          int64
	theirs, right []byte
}

// outside finds the elements that no order of additions gives, and marks them, by position and
// element of the collective's output.
func (t *Case) outside(theirs [][]byte, c *BitComparison) ([][]bool, error) {
	spec := &t.Schedule.Spec
	wrong := make([][]bool, spec.Ranks)
	if spec.Kind == collective.Custom || t.Altered {
		c.Undefined, c.Altered = true, t.Altered
		return wrong, nil
	}
	width := int64(spec.Type.Width())
	flat, found := make([][]byte, spec.Ranks), make([]int, spec.Ranks)
	for position := range t.Ranks {
		flat[position] = t.flattened(position, theirs[position])
	}
	var strays []stray
	err := t.typed.outside(spec, t.Inputs, flat, func(position int, element int64, right []byte) {
		if wrong[position] == nil {
			wrong[position] = make([]bool, spec.Out(position))
			c.WrongRanks++
		}
		wrong[position][element] = true
		c.Wrong++
		if found[position]++; found[position] <= maxSample {
			strays = append(strays, stray{position, element, flat[position][element*width:][:width], right})
		}
	})
	if err != nil || len(strays) == 0 {
		return wrong, err
	}
	list := make([]Outside, len(strays))
	slices.SortStableFunc(strays, func(a, b stray) int {
		return t.Ranks[a.position] - t.Ranks[b.position]
	})
	strays = strays[:min(len(strays), maxSample)]
	looks := t.looks(strays)
	for i, s := range strays {
		list[i] = Outside{t.Ranks[s.position], t.unflat(s.position, s.flat), t.bits(s.theirs),
			t.bits(s.right), looks[i]}
	}
	c.Outside = append(c.Outside, list[:len(strays)]...)
	slices.SortStableFunc(c.Outside, func(a, b Outside) int { return a.Rank - b.Rank })
	c.Outside = c.Outside[:min(len(c.Outside), maxSample)]
	return wrong, nil
}

// A guess is a description that may fit wrong elements. Of guesses that fit equally many, those of
// the lowest kind are reported.
type guess struct {
	what string
	kind guessKind
	fits []bool // of each stray
	n    int    // number that it fits
}

// A guessKind orders guesses.
type guessKind int

const (
	ownInput    guessKind = iota // the bits of the rank's own input, which were there before
	anyInput                     // the bits of a rank's input
	neverWrote                   // 0: never written
	partialSum                   // the bits of a partial sum of the schedule
	byRanks                      // within rounding of the result times or divided by n
	missingRank                  // within rounding of the result without a rank
	doubledRank                  // or with a rank twice
)

// looks describes each of some wrong elements.
func (t *Case) looks(strays []stray) [][]string {
	looks := make([][]string, len(strays))
	x := &suspect{Case: t, strays: strays}
	x.gather()
	x.bits()
	if t.Schedule.Spec.Kind.Reduces() && len(t.Ranks) <= maxTried {
		x.partials()
		x.counted()
	}
	for i := range strays {
		var best *guess
		for _, g := range x.guesses {
			if g.fits[i] && (best == nil || g.n > best.n || g.n == best.n && g.kind < best.kind) {
				best = g
			}
		}
		for _, g := range x.guesses {
			if best != nil && g.fits[i] && g.n == best.n && g.kind == best.kind {
				looks[i] = append(looks[i], g.what)
			}
		}
	}
	return looks
}

// A suspect is wrong elements and guesses about them.
type suspect struct {
	*Case
	strays  []stray
	inputs  [][][]byte // of each position: its input for each stray; nil where it has none
	guesses []*guess
}

// gather collects the inputs that strays are made of.
func (x *suspect) gather() {
	spec := &x.Schedule.Spec
	width := int64(spec.Type.Width())
	x.inputs = make([][][]byte, spec.Ranks)
	for _, s := range x.strays {
		at := s.flat
		for _, p := range spec.Want(s.position) {
			if s.flat >= p.Off && s.flat < p.Off+p.Len {
				at = p.InOff + s.flat - p.Off
			}
		}
		for position, in := range x.Inputs {
			var element []byte
			if (at+1)*width <= int64(len(in)) {
				element = in[at*width:][:width]
			}
			x.inputs[position] = append(x.inputs[position], element)
		}
	}
}

// is reports whether the i-th stray has the bits of a position's input.
func (x *suspect) is(i, position int) bool {
	in := x.inputs[position][i]
	return in != nil && x.same(x.strays[i].theirs, in)
}

// add notes a guess if it fits any stray.
func (x *suspect) add(kind guessKind, what string, fits func(i int) bool) {
	g := &guess{what: what, kind: kind, fits: make([]bool, len(x.strays))}
	for i := range g.fits {
		if g.fits[i] = fits(i); g.fits[i] {
			g.n++
		}
	}
	if g.n > 0 {
		x.guesses = append(x.guesses, g)
	}
}

// bits looks for the bits of an input, and for zeros.
func (x *suspect) bits() {
	x.add(ownInput, "the rank's own input", func(i int) bool {
		return x.is(i, x.strays[i].position)
	})
	for position := range x.Ranks {
		x.add(anyInput, "the input of "+x.rankName(position), func(i int) bool {
			return x.is(i, position)
		})
	}
	zero := make([]byte, x.Schedule.Spec.Type.Width())
	x.add(neverWrote, "0, as where nothing was written", func(i int) bool {
		return string(x.strays[i].theirs) == string(zero)
	})
}

// partials looks for the bits of partial sums of the first stray.
func (x *suspect) partials() {
	first := x.strays[0]
	order, _, err := x.term(first.position, first.flat)
	if err != nil { // a wrong schedule may have none
		return
	}
	var walk func(at *schedule.Term)
	walk = func(at *schedule.Term) {
		if at.Left == nil {
			return
		}
		walk(at.Left)
		walk(at.Right)
		if at == order {
			return
		}
		leaves := at.Ranks()
		what := fmt.Sprintf("a partial sum, %v alone", x.named(at))
		if len(leaves) > 8 {
			what = fmt.Sprintf("a partial sum of %d ranks, from %s to %s", len(leaves),
				x.rankName(leaves[0]), x.rankName(leaves[len(leaves)-1]))
		}
		x.add(partialSum, what, func(i int) bool {
			if i >= x.few() {
				return false
			}
			next := -1
			own := &term{Term: at, spec: &x.Schedule.Spec, accumulate: x.Accumulate}
			sum := x.typed.value(own, func(int) []byte {
				next++
				return x.inputs[leaves[next]][i]
			})
			return x.same(sum, x.strays[i].theirs)
		})
	}
	walk(order)
}

// few returns the number of strays on which guesses are tried that take a sum over the ranks for
// every rank.
func (x *suspect) few() int {
	const most = 1 << 22
	return min(len(x.strays), max(1, most/len(x.Ranks)/len(x.Ranks)))
}

// counted looks for a rank that is missing, or counted twice: within the bound of any order.
func (x *suspect) counted() {
	spec, n := x.Schedule.Spec, x.few()
	spec.Kind, spec.Root, spec.Splits, spec.InPlace = collective.Reduce, 0, nil, false
	spec.Count = int64(n)
	inputs := make([][]byte, len(x.Ranks))
	for position := range inputs {
		inputs[position] = bytes.Join(x.inputs[position][:n], nil)
	}
	theirs := []byte{}
	for _, s := range x.strays[:n] {
		theirs = append(theirs, s.theirs...)
	}
	try := func(kind guessKind, what string, spec collective.Spec, inputs [][]byte) {
		wrong, out := make([]bool, n), make([][]byte, len(inputs))
		out[0] = theirs
		err := x.typed.outside(&spec, inputs, out, func(_ int, element int64, _ []byte) {
			wrong[element] = true
		})
		if err == nil {
			x.add(kind, what, func(i int) bool { return i < n && !wrong[i] })
		}
	}
	for _, g := range byNumberOfRanks(&spec) {
		try(byRanks, g.what, g.spec, inputs)
	}
	for position := range x.Ranks {
		name := x.rankName(position)
		if len(x.Ranks) > 1 {
			without := slices.Clone(inputs)
			without[position] = x.neutral(inputs, position)
			try(missingRank, fmt.Sprintf("the %v without %s", spec.Op, name), spec, without)
		}
		twice, more := slices.Clone(inputs), spec
		switch spec.Op {
		case collective.Min, collective.Max, collective.And, collective.Or: // change nothing
			continue
		case collective.Xor: // as without it
			continue
		case collective.Prod:
			twice, more.Ranks = append(twice, inputs[position]), spec.Ranks+1
		default:
			twice[position] = x.typed.twice(inputs[position])
		}
		try(doubledRank, fmt.Sprintf("the %v with %s twice", spec.Op, name), more, twice)
	}
}

// A scaledSum is the sum with another scale.
type scaledSum struct {
	what string
	spec collective.Spec
}

// byNumberOfRanks lists sums that are divided by the number of ranks, not at all or twice, where
// the collective has it otherwise.
func byNumberOfRanks(spec *collective.Spec) (list []scaledSum) {
	add := func(what string, op collective.Op, factor float64) {
		other := *spec
		other.Op, other.Factor, other.Avg = op, factor, 0
		list = append(list, scaledSum{what, other})
	}
	switch n := float64(spec.Ranks); {
	case spec.Ranks == 1:
	case spec.Op == collective.Sum:
		add("the sum divided by the number of ranks, as avg is", collective.Avg, 0)
	case spec.Op == collective.Avg:
		add("the sum, not divided by the number of ranks", collective.Sum, 0)
		if spec.Type.IsFloat() {
			add("the sum divided by the number of ranks twice", collective.PremulSum, 1/(n*n))
		}
	}
	return list
}

// neutral returns a replacement that leaves a position out: 0, 1 for products, and another's input
// for minima and maxima, and and or.
func (x *suspect) neutral(inputs [][]byte, position int) []byte {
	size := len(inputs[position])
	switch x.Schedule.Spec.Op {
	case collective.Min, collective.Max, collective.And, collective.Or:
		return inputs[(position+1)%len(inputs)]
	case collective.Prod:
		return slices.Repeat(x.typed.one(), size/x.Schedule.Spec.Type.Width())
	}
	return make([]byte, size)
}
