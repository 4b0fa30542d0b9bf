package report

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "rewrite what testdata has")

// TestScreens: what is printed of a few scenarios is what it was: tables of one algorithm and of
// several side by side, of more than a screen is wide, with what is wrong and what is left out,
// JSON, CSV, and what explains a time.
func TestScreens(t *testing.T) {
	replaced := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(small) }
	files := []struct{ name, text string }{
		{"one algorithm", replaced(`"1 KiB"`, `["0 B", "4 B", "1 KiB", "1 MiB"]`)},
		{"all algorithms", replaced(`"ring"`, `"all"`, `"1 KiB"`, `["1 KiB", "4 MiB"]`)},
		{"two side by side", replaced(`"ring"`, `["ring", "one-shot"]`, `"1 KiB"`,
			"[\"1 KiB\", \"2 MiB\"]\nop = [\"sum\", \"max\"]\ndtype = [\"float32\", \"int8\"]")},
		{"roots", replaced(`"all_reduce"`, `"broadcast"`, `"ring"`,
			"[\"binomial\", \"flat\"]\nroot = 2")},
		{"uneven", replaced(`ranks = 4`, `ranks = 3`, `"1 KiB"`, `"1000 B"`)},
		{"an odd number", replaced(`ranks = 4`, `ranks = 5`, `"ring"`,
			`["rabenseifner", "ring", "hierarchical"]`)},
		{"no checks", small + "[check]\nproof = false\nnumbers = false\n"},
	}
	var b strings.Builder
	for _, f := range files {
		s := load(t, "s.toml", f.text)
		r := runAll(t, s)
		fmt.Fprintf(&b, "=== %s\n%s", f.name, Table(r))
		table, err := CSV(r)
		require.NoError(t, err)
		fmt.Fprintf(&b, "--- csv\n%s", table)
	}
	one := load(t, "s.toml", small)
	text, err := JSON(runAll(t, one))
	require.NoError(t, err)
	fmt.Fprintf(&b, "=== json\n%s=== explain\n%s", text, ExplanationText(explained(t, one)))
	const file = "testdata/screens.txt"
	if *rewrite {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}
