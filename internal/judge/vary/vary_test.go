package vary

import (
	"math/rand/v2"
	"strings"
	"testing"

	"collsim/internal/judge"

	"github.com/stretchr/testify/require"
)

// TestRandom: random schedules come to their end and have all their messages received. Some race,
// some read what nobody wrote, and some are right.
func TestRandom(t *testing.T) {
	found := map[judge.Finding]int{}
	for seed := range uint64(500) {
		p := Random(rand.New(rand.NewPCG(seed, 1)))
		again, err := judge.Read(p.String())
		require.NoError(t, err, p)
		require.Equal(t, p.String(), again.String())
		v := judge.Judge(again, judge.Options{Calls: 1})
		found[v.Finding]++
	}
	require.Zero(t, found[judge.Malformed]+found[judge.Deadlock]+found[judge.Unmatched], found)
	require.Greater(t, found[judge.Right], 50)
	require.Greater(t, found[judge.Race], 50)
}

// TestMutate: every mutation comes about, changes the plan it is given and no other, and leaves a
// text that can be read unless it names what there is not.
func TestMutate(t *testing.T) {
	names, made, read := map[string]int{}, 0, 0
	for seed := range uint64(4000) {
		luck := rand.New(rand.NewPCG(seed, 2))
		p := Random(luck)
		before, c := p.String(), p.Clone()
		name := Mutate(c, luck)
		require.Equal(t, before, p.String(), name)
		if name == "" {
			continue
		}
		made++
		if _, err := judge.Read(c.String()); err == nil {
			read++
		}
		if c.String() != before {
			names[name]++
		}
	}
	for _, m := range (&mutator{}).mutations() {
		require.Positive(t, names[m.name], m.name)
	}
	require.Greater(t, 10*read, 9*made)
}

// TestText: something changes, and the header stays readable more often than not.
func TestText(t *testing.T) {
	text := Random(rand.New(rand.NewPCG(1, 1))).String()
	changed := 0
	for seed := range uint64(100) {
		luck := rand.New(rand.NewPCG(seed, 3))
		if other := Text(text, luck); other != text {
			changed++
		}
	}
	require.Greater(t, changed, 80)
}

// TestShrink: what is left fails, and no line of it can go.
func TestShrink(t *testing.T) {
	fails := func(text string) bool {
		return strings.Contains(text, "b\n") && strings.Contains(text, "d\n")
	}
	require.Equal(t, "b\nd\n", Shrink("a\nb\nc\nd\ne\n", fails))
	require.Equal(t, "b\nd\n", Shrink(strings.Repeat("a\n", 50)+"b\nx\ny\nd\n", fails))
}
