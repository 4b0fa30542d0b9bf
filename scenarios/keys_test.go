package scenarios

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/internal/tier"
)

// TestKeys: the table is complete, and its examples and defaults are what its own loader takes.
func TestKeys(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Keys() {
		require.False(t, seen[k.Path], k.Path)
		seen[k.Path] = true
		require.NotNil(t, newSchema().section(k.table()), k.Path)
		require.NotEmpty(t, k.Type, k.Path)
		require.True(t, strings.HasSuffix(k.Doc, "."), "%s: a sentence", k.Path)
		require.NotEmpty(t, k.Example, k.Path)
		for _, text := range []string{k.Example, k.Default} {
			if text == "" || text == k.Default && strings.ContainsAny(text, "' n") && text[0] != '"' {
				continue // words, as "the preset's", "none"
			}
			_, p := k.read(setNode(text))
			require.Nil(t, p, "%s = %s", k.Path, text)
		}
		for _, v := range k.Values {
			if k.kind != aFlag && v != collective.PremulSum.String() { // it has a factor
				got, p := k.read(setNode(`"` + v + `"`))
				require.Nil(t, p, "%s = %s", k.Path, v)
				require.Equal(t, v, canonical(got))
			}
		}
		require.True(t, k.Sweep || !k.Axis, k.Path)
		require.True(t, (k.to == nil) != (k.by == nil), "%s: a row has to or by, not both", k.Path)
	}
}

// TestReference: docs/scenario.md is what the table says. go test ./scenarios -rewrite writes it.
func TestReference(t *testing.T) {
	path := filepath.Join("..", "docs", "scenario.md")
	if f := flag.Lookup("rewrite"); f != nil && f.Value.String() == "true" {
		require.NoError(t, os.WriteFile(path, []byte(markdown()), 0o644))
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, markdown(), string(have), "regenerate: go test ./scenarios -rewrite")
	for _, k := range Keys() {
		require.Contains(t, string(have), "| `"+k.name()+"` |", k.Path)
	}
}

// TestExamples: they load without a note, say what they are for, and are all listed.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("examples/*.toml")
	require.NoError(t, err)
	require.Len(t, files, len(Examples()))
	w := testOptions()
	w.Algorithms = func(k collective.Kind) []string { // that no other test needs
		return append(known(k), "hierarchical", "nccl:auto", "nccl:collnet-direct",
			"nccl:collnet-chain", "nccl:nvlstree", "nccl:ring", "synth")
	}
	for _, name := range Examples() {
		text, err := Example(name)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(text), "# "), name)
		require.Contains(t, string(text), "collsim example:"+name)
		s, err := load(examplePrefix+name, text, w)
		require.NoError(t, err)
		require.NotZero(t, len(s.Points)+len(s.Programs))
		require.LessOrEqual(t, len(s.Points), 40, name)
		require.Empty(t, s.Notes, name)
		for _, line := range strings.Split(string(text), "\n") {
			require.LessOrEqual(t, len([]rune(line)), 100, line)
		}
	}
	_, err = Example("rign")
	require.EqualError(t, err,
		"example:rign: no example of that name; did you mean example:ring?")
	_, err = Example("../doc")
	require.ErrorContains(t, err, "no example of that name; there are ring, ")
}

// TestRing: the first example is the scenario of the design, to the letter but for comments.
func TestRing(t *testing.T) {
	text, err := Example("ring")
	require.NoError(t, err)
	var lines []string
	for _, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	require.Equal(t, []string{`name = "ring all-reduce on 8 ranks"`,
		`[topology]`, `preset = "switch"`, `ranks = 8`, `bandwidth = "100 Gbit/s"`,
		`latency = "500 ns"`,
		`[[collective]]`, `kind = "all_reduce"`, `algorithm = "ring"`, `bytes = "64 MiB"`,
		`dtype = "float32"`, `op = "sum"`}, lines)
}

// TestLaws: an algorithm's spelling reads back as itself; a range has the values between its ends,
// in steps, and no others.
func TestLaws(t *testing.T) {
	params := gopter.DefaultTestParametersWithSeed(1)
	params.MinSuccessfulTests = 300
	laws := gopter.NewProperties(params)
	laws.Property("algorithm: read(spell(a)) = a", prop.ForAll(
		func(name string, channels, slices int, segment int64) bool {
			a := Algorithm{Name: "x" + strings.ToLower(name), Channels: channels, Slices: slices}
			if segment > 0 {
				a.Params = []Param{{"segment", canonical(segment)}, {"k", "4"}}
			}
			got, p := parseAlgorithm(a.String())
			if p != nil {
				return false
			}
			b := got.(Algorithm)
			b.Channels, b.Slices = max(b.Channels, 1), max(b.Slices, 1)
			return b.String() == a.String() && equal(a.Params, b.Params)
		}, gen.AlphaString(), gen.IntRange(1, maxCopies), gen.IntRange(1, maxCopies),
		gen.Int64Range(0, 1<<40)))
	count := newSchema().byPath["collective.count"]
	laws.Property("range: from + i·step up to and including to", prop.ForAll(
		func(from, length, step int64) bool {
			text := "{ from = " + canonical(from) + ", to = " + canonical(from+length) +
				", step = " + canonical(step) + " }"
			items := count.values(setNode(text), func(string, *node, *problem) {})
			if int64(len(items)) != length/step+1 {
				return false
			}
			for i, it := range items {
				if it.value != from+int64(i)*step {
					return false
				}
			}
			return true
		}, gen.Int64Range(0, 1<<30), gen.Int64Range(0, 5000), gen.Int64Range(1, 100)))
	laws.TestingRun(t)
}

func equal(a, b []Param) bool { return slices.Equal(a, b) }

// TestManyPoints: the largest scenario that is allowed loads, each point with an id of its own.
func TestManyPoints(t *testing.T) {
	counts := tier.Of(maxPoints/1000, maxPoints/100)
	s, err := load("s.toml", fmt.Appendf(nil, someNetwork+`
[[collective]]
kind = "all_reduce"
algorithm = "ring"
count = { from = 1, to = %d, step = 1 }
[sweep]
sim.slots = { from = 1, to = 10, step = 1 }
topology.ranks = { from = 1, to = 10, step = 1 }
`, counts), testOptions())
	require.NoError(t, err)
	require.Len(t, s.Points, 100*counts)
	networks := map[*Topology]bool{}
	for _, p := range s.Points {
		networks[p.Topology] = true
	}
	require.Len(t, networks, 10)
}

// TestOptions: without a list of algorithms every name is taken; what is answered becomes an error
// with a place.
func TestOptions(t *testing.T) {
	text := []byte(someNetwork + `
[[collective]]
kind = "barrier"
algorithm = ["anything(x=1)", "file:x.schedule"]
`)
	s, err := load("s.toml", text, world{})
	require.NoError(t, err)
	require.Len(t, s.Points, 2)
	var asked []string
	_, err = load("s.toml", text, world{Check: func(k collective.Kind, a Algorithm) error {
		asked = append(asked, k.String()+" "+a.String())
		return os.ErrNotExist
	}})
	require.Equal(t, []string{"barrier anything(x=1)", "barrier file:x.schedule"}, asked)
	require.ErrorContains(t, err,
		`s.toml:10: collective.algorithm = "file:x.schedule": file does not exist`)
	_, err = load("s.toml", text, world{Algorithms: func(k collective.Kind) []string {
		if k == collective.SendRecv || k == collective.Gather {
			return []string{"flat"}
		}
		return nil
	}})
	require.ErrorContains(t, err, `s.toml:9: collective.kind = "barrier": no algorithm computes `+
		"this kind yet\n  kinds with algorithms: gather, send_recv")
}

// TestKeysAreTheCallers checks that the table, which is made once, is not what callers get.
func TestKeysAreTheCallers(t *testing.T) {
	want := fmt.Sprint(Keys())
	newSchema("mine")
	keys := Keys()
	for i := range keys {
		keys[i].Doc = "mine"
		for j := range keys[i].Values {
			keys[i].Values[j] = "mine"
		}
	}
	require.Equal(t, want, fmt.Sprint(Keys()))
}
