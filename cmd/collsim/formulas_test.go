package main

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
	"collsim/unit"
)

// TestFormulas holds the formula of every algorithm, which is for people, to its closed form, which
// the suite holds to the schedule. Some say what is usually written, for powers of two only; then
// docs/algorithms.md says so.
func TestFormulas(t *testing.T) {
	for _, a := range append(algos.Table(), algos.Further()...) {
		if a.Formula == "" {
			continue // none is published
		}
		require.Empty(t, formulaFails(t, a, algos.PerConnection, 2, 4, 8, 16), title(a))
		if a.Ports != "" {
			require.Empty(t, formulaFails(t, a, algos.PerRank, 2, 3, 4, 7, 8, 16), title(a))
			continue
		}
		for _, p := range []int{2, 8} { // where nothing else is said ports make no difference
			spec, o := plainSpec(a.Kinds[0], p).WithBytes(1<<20), algos.Options{}
			on := func(w algos.Wires) (unit.Time, error) {
				return a.ClosedForm(spec, o, algos.Model{Rate: unit.Rate(unit.GB), Wires: w})
			}
			if shared, err := on(algos.PerRank); err == nil {
				own, err := on(algos.PerPair)
				require.NoError(t, err)
				require.Equal(t, own, shared, title(a))
			}
		}
	}
}

// formulaFails compares an algorithm's formula for wires with its closed form at some ranks, for
// each of α, β and γ, and says where they differ.
func formulaFails(t *testing.T, a algos.Algorithm, wires algos.Wires,
	ranks ...int) (found []string) {
	t.Helper()
	const n = 720_720 * 64 // bytes, which any number of ranks up to 16 divides
	text := a.Formula
	if wires == algos.PerRank {
		text = a.Ports
	}
	for _, p := range ranks {
		spec := plainSpec(a.Kinds[0], p).WithBytes(n)
		var o algos.Options
		if hasSegments(a) {
			o.Params = []algos.Param{{Name: "segment", Value: fmt.Sprintf("%d B", n/8)}}
		}
		s, err := a.Build(spec, o)
		var unfit *algos.Unfit
		if errors.As(err, &unfit) { // it is for other numbers of ranks
			continue
		}
		require.NoError(t, err, "%s, %d ranks", a.Name, p)
		m := max(8/s.Blocks(schedule.Input), 1)
		counts, err := countsOf(a, spec, o, wires)
		require.NoError(t, err)
		for i, of := range []string{"α", "β", "γ"} {
			values := map[string]int64{"p": int64(p), "n": n, "m": int64(m), "α": 0, "β": 0, "γ": 0}
			values[of] = 1
			f := formula{text: []rune(text), values: rankSymbols(values)}
			got := f.sum()
			require.Empty(t, string(f.text), "%s: the rest of %s", title(a), text)
			if counts[i].Cmp(got) != 0 {
				found = append(found, fmt.Sprintf("%d ranks: %s is counted %s times, not %s", p, of,
					counts[i].RatString(), got.RatString()))
			}
		}
	}
	return found
}

func hasSegments(a algos.Algorithm) bool {
	return slices.ContainsFunc(a.Params, func(p algos.Param) bool { return p.Name == "segment" })
}

// plainSpec is a collective without data.
func plainSpec(kind collective.Kind, ranks int) collective.Spec {
	spec := collective.Spec{Kind: kind, Type: dtype.Float32, Ranks: ranks}
	if kind.Reduces() {
		spec.Op = collective.Sum
	}
	if kind == collective.Barrier {
		spec.Type = 0
	}
	return spec
}

// countsOf is how many latencies, bytes and added bytes the closed form counts: a model in which
// one of them takes a picosecond, and nothing else any time, counts them.
func countsOf(a algos.Algorithm, spec collective.Spec, o algos.Options,
	wires algos.Wires) (c [3]*big.Rat, err error) {
	const each = unit.Rate(1e12)
	for i, m := range []algos.Model{{Alpha: unit.Picosecond}, {Rate: each}, {Reduce: each}} {
		m.Wires = wires
		took, err := a.ClosedForm(spec, o, m)
		if err != nil {
			return c, err
		}
		c[i] = big.NewRat(int64(took), 1)
	}
	return c, nil
}

// rankSymbols adds what follows from the number of ranks.
func rankSymbols(values map[string]int64) map[string]int64 {
	p := values["p"]
	values["k"] = int64(bits.Len64(uint64(p - 1)))
	values["q"] = 1 << (bits.Len64(uint64(p)) - 1)
	values["f"] = min(p-values["q"], 1)
	for d := int64(1); d*d <= p; d++ {
		if p%d == 0 {
			values["inner"] = d
		}
	}
	return values
}

// formula evaluates sums and products of symbols, and ⌊ ⌋, ⌈ ⌉. What is wrong stays in the text.
type formula struct {
	text   []rune // what is left to read
	values map[string]int64
}

func (f *formula) sum() *big.Rat {
	x := f.product()
	for {
		switch f.next("+−") {
		case '+':
			x.Add(x, f.product())
		case '−':
			x.Sub(x, f.product())
		default:
			return x
		}
	}
}

func (f *formula) product() *big.Rat {
	x := f.factor()
	for {
		switch f.next("·/") {
		case '·':
			x.Mul(x, f.factor())
		case '/':
			x.Quo(x, f.factor())
		default:
			return x
		}
	}
}

func (f *formula) factor() *big.Rat {
	if open := f.next("(⌊⌈"); open != 0 {
		x := f.sum()
		f.next(")⌋⌉")
		whole := new(big.Int).Div(x.Num(), x.Denom()) // rounded down
		if open == '⌈' && !x.IsInt() {
			whole.Add(whole, big.NewInt(1))
		}
		if open != '(' {
			x.SetInt(whole)
		}
		return x
	}
	n := 0
	for n < len(f.text) && (unicode.IsLetter(f.text[n]) || unicode.IsDigit(f.text[n])) {
		n++
	}
	word := string(f.text[:n])
	f.text = f.text[n:]
	if number, ok := new(big.Rat).SetString(word); ok {
		return number
	}
	value, known := f.values[word]
	if !known {
		f.text = []rune(fmt.Sprintf("%q is not explained", word))
	}
	return big.NewRat(value, 1)
}

// next takes a sign if it is one of these, and the blanks around it; else it is 0.
func (f *formula) next(signs string) rune {
	for len(f.text) > 0 && f.text[0] == ' ' {
		f.text = f.text[1:]
	}
	if len(f.text) == 0 || !strings.ContainsRune(signs, f.text[0]) {
		return 0
	}
	sign := f.text[0]
	for f.text = f.text[1:]; len(f.text) > 0 && f.text[0] == ' '; {
		f.text = f.text[1:]
	}
	return sign
}
