package random

import (
	"math"

	"collsim/collective"
	"collsim/dtype"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
)

// maxRanks and maxCount bound the output of Specs. They allow blocks that are empty, uneven and
// longer than any number of ranks, and are small enough for many tries.
const (
	maxRanks = 17
	maxCount = 200
)

// Specs generates random collectives of these kinds, or of all kinds if none are given. They have 1
// to 17 ranks and up to 200 elements a rank (or a split). Root, operator, mode of the mean and type
// are any, and they may be in place. All are valid. A failure shrinks to fewer ranks and elements,
// the sum, root 0 and separate buffers.
func Specs(kinds ...collective.Kind) gopter.Gen {
	if len(kinds) == 0 {
		kinds = collective.Kinds()
	}
	number := gen.IntRange(0, 1<<30)
	draw := gopter.CombineGens(gen.IntRange(0, len(kinds)-1), gen.IntRange(1, maxRanks),
		gen.Int64Range(0, maxCount), number, number, gen.Bool(), number)
	return draw.Map(func(v []any) collective.Spec {
		d := drawn{kinds[v[0].(int)], v[1].(int), v[2].(int64), v[3].(int), v[4].(int), v[5].(bool),
			v[6].(int)}
		return d.spec()
	}).WithShrinker(shrinkSpec)
}

// drawn holds the independent random numbers from which a collective is derived.
type drawn struct {
	kind     collective.Kind
	ranks    int
	count    int64
	root, op int // of any size
	inPlace  bool
	rest     int // determines the type, the factor and the splits
}

func (d drawn) spec() collective.Spec {
	types := dtype.All()
	s := collective.Spec{Kind: d.kind, Type: types[d.rest%len(types)], Ranks: d.ranks,
		Count: d.count, InPlace: d.inPlace && d.kind != collective.AllToAllV &&
			d.kind != collective.Barrier}
	if d.kind.Rooted() {
		s.Root = d.root % d.ranks
	}
	if d.kind.Reduces() {
		ops := collective.OpsOf(s.Type)
		modes := []collective.AvgMode{collective.AvgNCCL, collective.AvgPost}
		s.Op = ops[d.op%len(ops)]
		switch s.Op {
		case collective.Avg:
			s.Avg = modes[d.rest/len(types)%len(modes)]
		case collective.PremulSum: // a whole number, since integers are multiplied, too
			s.Factor = []float64{1, -1, 2, 3}[d.rest/len(types)%4]
			if !s.Type.Signed() {
				s.Factor = math.Abs(s.Factor)
			}
		}
	}
	rows := 0
	switch {
	case d.kind == collective.AllToAllV:
		rows = d.ranks
	case d.kind.Splits():
		rows = 1
	case d.kind == collective.Barrier:
		s.Type, s.Count = 0, 0
	}
	state := uint64(d.rest)
	for range rows {
		row := make([]int64, d.ranks)
		for q := range row { // the constants of Knuth's MMIX generator; a quarter are empty
			state = state*6364136223846793005 + 1442695040888963407
			if state>>62 != 0 {
				row[q] = int64(state>>33) % (d.count + 1)
			}
		}
		s.Splits, s.Count = append(s.Splits, row), 0
	}
	return s
}

// shrinkSpec shrinks collectives.
func shrinkSpec(v any) gopter.Shrink { return each(simplerSpecs(v.(collective.Spec))) }

// simplerSpecs lists simpler collectives, those that drop most first.
func simplerSpecs(s collective.Spec) (list []collective.Spec) {
	try := func(change func(*collective.Spec)) {
		c := s
		change(&c)
		list = append(list, c)
	}
	for _, ranks := range smaller(int64(s.Ranks), 1) {
		try(func(c *collective.Spec) { resize(c, int(ranks)) })
	}
	for _, count := range smaller(s.Count, 0) {
		try(func(c *collective.Spec) { c.Count = count })
	}
	if !s.Empty() && s.Kind.Splits() {
		try(func(c *collective.Spec) { c.Splits = halved(s.Splits) })
	}
	if s.Root > 0 {
		try(func(c *collective.Spec) { c.Root = 0 })
	}
	if s.InPlace {
		try(func(c *collective.Spec) { c.InPlace = false })
	}
	if simplest := collective.OpsOf(s.Type)[0]; s.Kind.Reduces() && s.Op != simplest {
		try(func(c *collective.Spec) { c.Op, c.Avg, c.Factor = simplest, 0, 0 })
	}
	return list
}

// smaller lists numbers between least and n, below n: the least, the half, one less.
func smaller(n, least int64) []int64 {
	var list []int64
	for _, m := range []int64{least, n / 2, n - 1} {
		if m >= least && m < n && (len(list) == 0 || m > list[len(list)-1]) {
			list = append(list, m)
		}
	}
	return list
}

// resize drops the last ranks.
func resize(s *collective.Spec, ranks int) {
	s.Ranks, s.Root = ranks, min(s.Root, ranks-1)
	splits := s.Splits
	s.Splits = nil
	for i, row := range splits {
		if len(splits) == 1 || i < ranks {
			s.Splits = append(s.Splits, row[:ranks:ranks])
		}
	}
}

// halved returns splits of half the size each, rounded down.
func halved(splits [][]int64) [][]int64 {
	half := make([][]int64, len(splits))
	for i, row := range splits {
		for _, n := range row {
			half[i] = append(half[i], n/2)
		}
	}
	return half
}
