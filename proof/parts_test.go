package proof

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/schedule"
)

// layersText is the text of layers of parts on up to three streams, that write each other's memory,
// their inputs and scratch buffers, in an order that need not be enough.
func layersText(rng *rand.Rand) string {
	const sum = "  collective all_reduce float32 sum\n  ranks 3\n  count 2\n  group 3\n"
	bodies := []string{
		sum + "  rank *\n    lane 0\n      send in to 1\n      send in to 2\n" +
			"      recvReduceCopy from 1, from 2, in into out\n",
		"  collective all_gather float32\n  ranks 3\n  count 2\n  group 3\n" +
			"  cut out block even 3 by rank\n  rank *\n    lane 0\n      copySend in into out[0] to 1\n" +
			"      recvCopySend from 2 into out[2] to 1\n      recv from 2 into out[1]\n",
		"  collective custom float32\n  ranks 3\n  group 3\n  tensor p given float32 3\n" +
			"  tensor q result float32 3\n  define q = (add 3 float32+float32->float32) of p, p\n" +
			"  rank *\n    lane 0\n      compute (add 3 float32+float32->float32) p, p into q\n",
		// over its own input, and by way of a scratch buffer
		sum + "  rank *\n    lane 0\n      send in to 1\n      send in to 2\n" +
			"      recvReduce from 1, from 2, in into in\n      copy in into out\n",
		sum + "  scratch 2\n  rank *\n    lane 0\n      send in to 1\n      send in to 2\n" +
			"      recvReduceCopy from 1, from 2, in into scratch\n      copy scratch into out\n",
	}
	sizes := [][2]int{{2, 2}, {2, 6}, {3, 3}, {2, 2}, {2, 2}}
	text := "ranks 3\n"
	for _, t := range []string{"x given", "y inner", "z inner", "v inner", "w result"} {
		text += fmt.Sprintf("tensor %s float32 6\n", t)
	}
	kinds := []int{rng.IntN(5), rng.IntN(5)}
	streams, orders, first := 1+rng.IntN(3), rng.IntN(4)/2, map[int]int{}
	n := 0
	add := func(kind int, in, out string, from, off int) {
		text += fmt.Sprintf("part stream %d", rng.IntN(streams))
		if n > 0 && rng.IntN(4) >= orders {
			text += fmt.Sprintf(" after %d", n-1)
		}
		names := []string{"in", "out"}
		if kind == 2 {
			names = []string{"p", "q"}
		}
		text += fmt.Sprintf(" %s=%s@%d %s=%s@%d", names[0], in, from, names[1], out, off)
		if kind == 4 {
			text += fmt.Sprintf(" scratch=v@%d", rng.IntN(5))
		}
		at, known := first[kind]
		if n++; known {
			text += fmt.Sprintf(" as %d\n", at)
			return
		}
		first[kind] = n - 1
		text += "\n" + bodies[kind]
	}
	had := []string{"x"}
	add(1, "x", "y", 0, 0)
	for range 4 + rng.IntN(8) {
		kind := kinds[rng.IntN(2)]
		out := []string{"y", "z", "v"}[rng.IntN(3)]
		from, to := 7-sizes[kind][0], 7-sizes[kind][1]
		add(kind, had[rng.IntN(len(had))], out, rng.IntN(2)*rng.IntN(from), rng.IntN(2)*rng.IntN(to))
		if kind == 1 || rng.IntN(3) == 0 {
			had = append(had, out)
		}
	}
	add(1, []string{"x", "y", "z"}[rng.IntN(3)], "w", 0, 0)
	return text
}

// TestPartsStandForAll: a program that is proven by its parts, where equal ones have one proof, is
// right, and has the same said of it, as one that is walked. Where parts meet, read what nobody has
// written or what another has left there, it is walked.
func TestPartsStandForAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 1))
	byParts, walked, wrong := 0, 0, 0
	for range tier.Of(200, 5000) {
		text := layersText(rng)
		s, err := schedule.Parse(text)
		require.NoError(t, err, text)
		o := Options{Slots: rng.IntN(3)}
		p := verifyParts(s, Options{Slots: o.Slots, Iterations: 1})
		o.Unfolded = true
		all, found := Verify(s, o)
		switch {
		case p != nil:
			byParts++
			require.Empty(t, found, text)
			require.Equal(t, all, p, text)
		case all != nil:
			walked++
		default:
			wrong++
		}
	}
	t.Logf("%d proven by their parts, %d walked, %d wrong", byParts, walked, wrong)
	require.Greater(t, min(byParts, walked, wrong), 10)
}

// TestPartsThatAreAlmostRight: a program of many equal parts is proven by them, and is walked when
// one of them is another, reads or writes an element further, or has nothing to wait for.
func TestPartsThatAreAlmostRight(t *testing.T) {
	s := many(t, 40)
	p := verifyParts(s, Options{Iterations: 1})
	all, found := Verify(s, Options{Unfolded: true})
	require.Empty(t, found)
	require.Equal(t, all, p)
	text := s.String()
	require.Contains(t, text, "out=x30")
	for _, c := range []struct{ was, is string }{
		{"out=x30", "out=x29"}, {"in=x28 out=x30", "in=x29 out=x30"},
		{"in=x28 out=x30", "in=x30 out=x30"},
	} {
		damaged, err := schedule.Parse(strings.Replace(text, c.was, c.is, 1))
		require.NoError(t, err)
		require.Nil(t, verifyParts(damaged, Options{Iterations: 1}), c.is)
	}
}

// TestPartsOfAKind: parts are proven alone if they are all alike, but not with slots of their own,
// nor where they reach into memory of others, nor in place where a collective does not say what
// all of its
// memory is to be.
func TestPartsOfAKind(t *testing.T) {
	const (
		two    = "ranks 2\ncount 2\ngroup 2\n"
		reduce = "collective all_reduce float32 sum\n" + two
		gather = "collective all_gather float32\n" + two + "cut out block even 2 by rank\n"
		lane   = "rank *\n  lane 0\n    "
	)
	for _, c := range []struct {
		text    string
		slots   int
		inPlace bool
		known   bool
	}{
		{text: reduce + lane + "send in to 1\n", known: true},
		{text: reduce + lane + "send in to 1\n", slots: 1},
		{text: reduce + lane + "reduce in, get 1 in into out\n"},
		{text: reduce + lane + "send in to 1\n", inPlace: true, known: true},
		{text: gather + lane + "send in to 1\n", known: true},
		{text: gather + lane + "send in to 1\n", inPlace: true},
	} {
		s, err := schedule.Parse(c.text)
		require.NoError(t, err, c.text)
		s.Slots, s.Spec.InPlace = c.slots, c.inPlace
		p := &partsProof{parts: []schedule.Part{{Schedule: s}, {Schedule: s}},
			alike: map[*schedule.Schedule]*provenPart{}, byForm: map[string]*provenPart{}}
		require.Equal(t, c.known, p.known(), "%+v", c)
	}
}
