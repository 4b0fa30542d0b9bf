package run

import (
	"bytes"
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/formats/arrays"
	"collsim/proof"
)

// Outside is an element of theirs that no order of additions gives: it lies outside the bound of
// all of them, or nothing is added at all.
type Outside struct {
	Rank    int
	Element int64 // of the rank's output tensor, in C order
	Theirs  Bits
	Right   Bits // the exact result, rounded once
	// Looks is what it looks like, such as "the rank's own input" or "the sum without r3": of what
	// explains it, that which explains most of Comparison.Outside. Empty if nothing does.
	Looks []string
}

// stray is such an element, as the collective has it.
type stray struct {
	place         int
	flat          int64
	theirs, right []byte
}

// outside finds what no order of additions gives, and marks it: of each place that has any, by
// element of the collective's output.
func (t *teamRun) outside(theirs []arrays.Array, c *Comparison) ([][]bool, error) {
	spec := &t.schedule.Spec
	wrong := make([][]bool, spec.Ranks)
	if spec.Kind == collective.Custom || t.altered {
		c.Undefined, c.Altered = true, t.altered
		return wrong, nil
	}
	width := int64(spec.Type.Width())
	flat, found := make([][]byte, spec.Ranks), make([]int, spec.Ranks)
	for place, rank := range t.team {
		flat[place] = t.flattened(place, theirs[rank].Data)
	}
	var strays []stray
	err := t.number.judge(spec, t.played.in, flat, func(place int, element int64, right []byte) {
		if wrong[place] == nil {
			wrong[place] = make([]bool, spec.Out(place))
			c.WrongRanks++
		}
		wrong[place][element] = true
		c.Wrong++
		if found[place]++; found[place] <= maxSample {
			strays = append(strays, stray{place, element, flat[place][element*width:][:width], right})
		}
	})
	if err != nil || len(strays) == 0 {
		return wrong, err
	}
	list := make([]Outside, len(strays))
	slices.SortStableFunc(strays, func(a, b stray) int { return t.team[a.place] - t.team[b.place] })
	strays = strays[:min(len(strays), maxSample)]
	looks := t.looks(strays)
	for i, s := range strays {
		list[i] = Outside{t.team[s.place], t.unflat(s.place, s.flat), t.number.bits(s.theirs),
			t.number.bits(s.right), looks[i]}
	}
	c.Outside = append(c.Outside, list[:len(strays)]...)
	slices.SortStableFunc(c.Outside, func(a, b Outside) int { return a.Rank - b.Rank })
	c.Outside = c.Outside[:min(len(c.Outside), maxSample)]
	return wrong, nil
}

// guess is something that wrong elements may be. Of guesses that explain as many, those of the
// lesser kind are told.
type guess struct {
	what string
	kind guessKind
	fits []bool // of each stray
	n    int    // that it fits
}

type guessKind int

const (
	ownInput    guessKind = iota // the bits of the rank's own input, which lay there before
	anyInput                     // the bits of a rank's input
	unwritten                    // 0: nothing was ever written
	partialSum                   // the bits of a sum on the schedule's way
	missingRank                  // within rounding of what a rank is missing from
	doubledRank                  // or is in twice
)

// looks is what each of some wrong elements looks like.
func (t *teamRun) looks(strays []stray) [][]string {
	looks := make([][]string, len(strays))
	x := &suspect{teamRun: t, strays: strays}
	x.gather()
	x.bits()
	if t.schedule.Spec.Kind.Reduces() && len(t.team) <= maxTried {
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

// suspect is wrong elements and what they may be.
type suspect struct {
	*teamRun
	strays  []stray
	inputs  [][][]byte // of each place, its input where each stray is; nil where it has none
	guesses []*guess
}

// gather collects the inputs that strays are made of.
func (x *suspect) gather() {
	spec := &x.schedule.Spec
	width := int64(spec.Type.Width())
	x.inputs = make([][][]byte, spec.Ranks)
	for _, s := range x.strays {
		at := s.flat
		for _, p := range spec.Want(s.place) {
			if s.flat >= p.Off && s.flat < p.Off+p.Len {
				at = p.InOff + s.flat - p.Off
			}
		}
		for place, in := range x.played.in {
			var element []byte
			if (at+1)*width <= int64(len(in)) {
				element = in[at*width:][:width]
			}
			x.inputs[place] = append(x.inputs[place], element)
		}
	}
}

// is reports whether the i-th stray has the bits of a place's input.
func (x *suspect) is(i, place int) bool {
	in := x.inputs[place][i]
	return in != nil && x.number.same(x.strays[i].theirs, in)
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
		return x.is(i, x.strays[i].place)
	})
	for place := range x.team {
		x.add(anyInput, "the input of "+x.rankName(place), func(i int) bool {
			return x.is(i, place)
		})
	}
	zero := make([]byte, x.schedule.Spec.Type.Width())
	x.add(unwritten, "0, as where nothing was written", func(i int) bool {
		return string(x.strays[i].theirs) == string(zero)
	})
}

// partials looks for the bits of what the schedule adds on the way to the first stray.
func (x *suspect) partials() {
	first := x.strays[0]
	order, err := proof.OrderOf(x.schedule, first.place, first.flat)
	if err != nil { // of a wrong schedule there may be none to tell
		return
	}
	var walk func(at *proof.Term)
	walk = func(at *proof.Term) {
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
			sum := x.number.value(&term{at, &x.schedule.Spec, x.sums}, func(int) []byte {
				next++
				return x.inputs[leaves[next]][i]
			})
			return x.number.same(sum, x.strays[i].theirs)
		})
	}
	walk(order)
}

// few is on how many strays guesses are tried that take a sum over the ranks, for every rank.
func (x *suspect) few() int {
	const most = 1 << 22
	return min(len(x.strays), max(1, most/len(x.team)/len(x.team)))
}

// counted looks for a rank that is missing, or in twice: within the bound of any order.
func (x *suspect) counted() {
	spec, n := x.schedule.Spec, x.few()
	spec.Kind, spec.Root, spec.Splits, spec.InPlace = collective.Reduce, 0, nil, false
	spec.Count = int64(n)
	inputs := make([][]byte, len(x.team))
	for place := range inputs {
		inputs[place] = bytes.Join(x.inputs[place][:n], nil)
	}
	theirs := []byte{}
	for _, s := range x.strays[:n] {
		theirs = append(theirs, s.theirs...)
	}
	try := func(kind guessKind, what string, spec collective.Spec, inputs [][]byte) {
		wrong, out := make([]bool, n), make([][]byte, len(inputs))
		out[0] = theirs
		err := x.number.judge(&spec, inputs, out, func(_ int, element int64, _ []byte) {
			wrong[element] = true
		})
		if err == nil {
			x.add(kind, what, func(i int) bool { return i < n && !wrong[i] })
		}
	}
	for place := range x.team {
		name := x.rankName(place)
		if len(x.team) > 1 {
			without := slices.Clone(inputs)
			without[place] = x.neutral(inputs, place)
			try(missingRank, fmt.Sprintf("the %v without %s", spec.Op, name), spec, without)
		}
		twice, more := slices.Clone(inputs), spec
		switch spec.Op {
		case collective.Min, collective.Max: // change nothing
			continue
		case collective.Prod:
			twice, more.Ranks = append(twice, inputs[place]), spec.Ranks+1
		default:
			twice[place] = x.number.twice(inputs[place])
		}
		try(doubledRank, fmt.Sprintf("the %v with %s twice", spec.Op, name), more, twice)
	}
}

// neutral is what leaves a place out: 0, 1 for products, and of least and greatest another's.
func (x *suspect) neutral(inputs [][]byte, place int) []byte {
	size := len(inputs[place])
	switch x.schedule.Spec.Op {
	case collective.Min, collective.Max:
		return inputs[(place+1)%len(inputs)]
	case collective.Prod:
		return slices.Repeat(x.number.one(), size/x.schedule.Spec.Type.Width())
	}
	return make([]byte, size)
}
