package collective

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
)

// attributes are all that a communication may have, each by its text and on a communication.
var attributes = []struct {
	name, text string
	set        func(c *Communication)
	meant      func(k Kind) bool
}{
	{"type", "float32", func(c *Communication) { c.Type = dtype.Float32 }, hasData},
	{"shape", "shape 12x12", func(c *Communication) { c.Shape = Shape{12, 12} }, hasData},
	{"operator", "max", func(c *Communication) { c.Op = Max }, Kind.Reduces},
	{"premulsum", "premulsum factor 2", func(c *Communication) { c.Op, c.Factor = PremulSum, 2 },
		Kind.Reduces},
	{"premulsum alone", "premulsum", func(c *Communication) { c.Op = PremulSum }, never},
	{"premulsum by 0", "premulsum factor 0", func(c *Communication) { c.Op = PremulSum }, never},
	{"factor", "factor 2", func(c *Communication) { c.Factor = 2 }, never},
	{"factor of sum", "sum factor 2", func(c *Communication) { c.Op, c.Factor = Sum, 2 }, never},
	{"average", "average post", func(c *Communication) { c.Avg = AvgPost }, never},
	{"average of sum", "sum average post", func(c *Communication) { c.Op, c.Avg = Sum, AvgPost },
		never},
	{"average of avg", "avg average post", func(c *Communication) { c.Op, c.Avg = Avg, AvgPost },
		Kind.Reduces},
	{"team", "team 2,0,1", func(c *Communication) { c.Team = []int{2, 0, 1} },
		func(Kind) bool { return true }},
	{"root", "root 1", func(c *Communication) { c.Root = 1 }, Kind.Rooted},
	{"axis", "axis 1", func(c *Communication) { c.Axis = 1 }, func(k Kind) bool {
		return k.Gathers() || k.Scatters() || k == AllToAll || k == AllToAllV
	}},
	{"negative axis", "axis -1", func(c *Communication) { c.Axis = -1 }, never},
	{"concat", "concat 1", func(c *Communication) { c.Concat = 1 },
		func(k Kind) bool { return k == AllToAll }},
	{"splits", "splits 3,4,5", func(c *Communication) { c.Splits = [][]int64{{3, 4, 5}} },
		func(k Kind) bool { return k == AllGatherV || k == ReduceScatterV }},
	{"in_place", "in_place", func(c *Communication) { c.InPlace = true },
		func(k Kind) bool { return hasData(k) && k != AllToAllV }},
	{"disabled", "disabled", func(c *Communication) { c.Disabled = true },
		func(Kind) bool { return true }},
}

func hasData(k Kind) bool { return k != Barrier }

func never(Kind) bool { return false }

// TestAttributesMeanSomething: all kinds with all attributes, in the library and in text. What
// has no effect on a kind is refused, and no attribute is given twice.
func TestAttributesMeanSomething(t *testing.T) {
	splits := func(k Kind) [][]int64 {
		switch {
		case k == AllToAllV:
			return [][]int64{{4, 4, 4}, {4, 4, 4}, {4, 4, 4}}
		case k.Splits():
			return [][]int64{{4, 4, 4}}
		}
		return nil
	}
	for _, kind := range Kinds() {
		for _, a := range attributes {
			c := &Communication{Kind: kind, Splits: splits(kind)}
			a.set(c)
			err := c.Validate(3)
			require.Equal(t, a.meant(kind), err == nil, "%v %s: %v", kind, a.name, err)
			read, wrong := ParseCommunication(kind.String() + " " + a.text)
			if kind == AllToAllV && a.name == "splits" { // one row: Validate knows how many ranks
				require.Error(t, read.Validate(3))
				continue
			}
			require.Equal(t, a.meant(kind), wrong == nil, "%v %s: %v", kind, a.text, wrong)
			if wrong == nil {
				_, wrong = ParseCommunication(kind.String() + " " + a.text + " " + a.text)
				require.ErrorContains(t, wrong, "a second", "%v %s twice", kind, a.text)
			}
		}
	}
	for _, text := range []string{"all_reduce float32 f32", "all_reduce sum max",
		"all_reduce premulsum(factor=2) factor 2"} {
		_, err := ParseCommunication(text)
		require.ErrorContains(t, err, "a second", text)
	}
	// an axis that is not there
	c, err := ParseCommunication("all_gather float32 shape 4x4 axis 2")
	require.NoError(t, err)
	_, err = c.Spec(2)
	require.EqualError(t, err, "all_gather on axis 2 of a tensor of shape 4x4, which "+
		"has 2 axes")
}

// TestSpecsMeanSomething: the same of what algorithms are given, where 1 is the factor of all
// operators but premulsum.
func TestSpecsMeanSomething(t *testing.T) {
	for _, kind := range Kinds() {
		for _, a := range []struct {
			name  string
			set   func(s *Spec)
			meant bool
		}{
			{"nothing", func(*Spec) {}, true},
			{"operator", func(s *Spec) { s.Op = Max }, kind.Reduces()},
			{"factor 1", func(s *Spec) { s.Factor = 1 }, true},
			{"factor", func(s *Spec) { s.Factor = 2 }, false},
			{"premulsum", func(s *Spec) { s.Op, s.Factor = PremulSum, 2 }, kind.Reduces()},
			{"premulsum alone", func(s *Spec) { s.Op = PremulSum }, false},
			{"average", func(s *Spec) { s.Avg = AvgPost }, false},
			{"average of avg", func(s *Spec) { s.Op, s.Avg = Avg, AvgPost }, kind.Reduces()},
			{"root", func(s *Spec) { s.Root = 1 }, kind.Rooted()},
			{"in place", func(s *Spec) { s.InPlace = true }, kind != AllToAllV && kind != Barrier},
		} {
			s := Spec{Kind: kind, Ranks: 3}
			if hasData(kind) {
				s.Type = dtype.Float32
			}
			if kind.Reduces() {
				s.Op = Sum
			}
			switch {
			case kind == AllToAllV:
				s.Splits = [][]int64{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}
			case kind.Splits():
				s.Splits = [][]int64{{1, 1, 1}}
			}
			a.set(&s)
			err := s.Validate()
			require.Equal(t, a.meant, err == nil, "%v %s: %v", kind, a.name, err)
		}
	}
}
