package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/program"
	"collsim/reference"
	"collsim/run"
	"collsim/scenarios"
	"collsim/sim"
)

// again writes a T, checks that it has its form, and reads it back from JSON.
func again[T any](t *testing.T, l fields[T], of T) (back T) {
	text, err := encodeLine(l.write(&of))
	require.NoError(t, err)
	v, err := parse(text)
	require.NoError(t, err)
	form := l.form()
	require.NoError(t, form.check("it", v))
	l.read(v, &back)
	return back
}

// TestFields writes what few examples have, and reads it back: it is the same.
func TestFields(t *testing.T) {
	ring := scenarios.Algorithm{Name: "ring", Slices: 1}
	for _, c := range []run.Candidate{{Algorithm: ring, Time: -1, Why: "it stalls"},
		{Algorithm: ring, Time: 0}, {Algorithm: ring, Time: 7}} {
		require.Equal(t, c, again(t, candidateFields(), c))
	}
	plain := run.Violation{Kind: "race", Rank: 3, Lane: -1, Step: 5, Chunk: -1, Text: "a\u2028b"}
	placed := plain
	placed.Place = &run.Place{File: "x.xml", Line: 0, Block: -1, FileStep: -1, What: "s",
		Places: []run.PlacedStep{{Rank: 1, Line: 9, What: "r"}}}
	for _, v := range []run.Violation{plain, placed} {
		require.Equal(t, v, again(t, violationFields(), v))
	}
	bits := reference.Bits{Bits: "0x3f80", Value: "1"}
	first := &reference.Difference{Rank: 1, Theirs: bits, Ours: bits, Order: "r0 + r1",
		Tried: []string{"fma"}, Explains: 2, Differ: 3, Changes: 1, Equal: 9, Part: true}
	for _, c := range []run.Comparison{{File: "a.npy", Why: "the schedule is wrong"},
		{File: "a.npy", BitComparison: reference.BitComparison{Elements: 9, Different: 1, Ranks: 1,
			First: first, Wrong: 1, WrongRanks: 1, Shared: true,
			Outside: []reference.Outside{{Rank: 1, Theirs: bits, Right: bits, Looks: []string{"0"}}},
			Disagree: &reference.Disagreement{Ranks: [2]int{1, 2},
				Theirs: [2]reference.Bits{bits, bits}}}}} {
		require.Equal(t, c, again(t, comparisonFields(), c))
	}
	for _, g := range []run.Gradient{{Mode: "full", By: "transpose", Scale: 0.125, Passes: 2,
		Law: "exact", Count: 5}, {Mode: "local", Law: run.Off, LawOff: "little memory", Mask: true}} {
		require.Equal(t, g, again(t, gradientFields(), g))
	}
	for _, n := range []program.Note{{Pass: "bucket", Did: "left", Timed: true},
		{Pass: "reuse", Ops: []string{"a"}, Why: "it is", Saved: -3, Timed: true}} {
		require.Equal(t, n, again(t, noteFields(), n))
	}
	for w := sim.Start; w <= sim.EventLatency; w++ {
		h := run.Held{Share: run.Share{What: w, Link: "a->b", Time: 2}, Of: 3, Slots: w == sim.Copy}
		require.Equal(t, h, again(t, heldFields(), h))
	}
	m := reference.Mismatch{Rank: 2, Element: 1 << 40, Got: "nan", Want: "1e-7"}
	require.Equal(t, m, again(t, mismatchFields(), m))
}

// TestParse reads numbers as they are: whole ones stay whole, however large.
func TestParse(t *testing.T) {
	v, err := parse([]byte(`{"a":9223372036854775807,"b":1.5,"c":[1e2,null,true],"d":{"e":"\u00e9"}}`))
	require.NoError(t, err)
	require.Equal(t, int64(9223372036854775807), v.get("a").whole)
	require.InDelta(t, 1.5, v.get("b").float(), 0)
	require.Equal(t, isNull, v.get("c").list[1].kind)
	require.Equal(t, "é", v.get("d", "e").text)
	for _, wrong := range []string{"", "{", `{"a":1,"a":2}`, "{} {}", `{"a":1e999}`, `{"a" 1}`} {
		_, err := parse([]byte(wrong))
		require.Error(t, err, wrong)
	}
}
