package scenarios

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// What a case may leave out: the test appends it after the case, so that lines keep their numbers.
const (
	someNetwork = `
[topology]
preset = "switch"
ranks = 8
bandwidth = "100 Gbit/s"
latency = "500 ns"
`
	someCollective = `
[[collective]]
kind = "all_reduce"
algorithm = "ring"
bytes = "1 MiB"
`
)

// internals are words that only somebody who reads our source could understand.
var internals = regexp.MustCompile(`BUG|map\[|interface|\bnil\b|\[\]|strconv|toml:|hash|%!|panic|` +
	`\b(unit|dtype|topology|collective|device|scenarios): `)

// TestErrors loads the scenario of each case in testdata and prints its errors. Lines "#! --set x"
// and "#! --only x" are flags (and, to TOML, comments).
func TestErrors(t *testing.T) {
	datadriven.Walk(t, "testdata/errors", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, c *datadriven.TestData) string {
			text, o := c.Input+"\n", testOptions()
			o.Set, o.Only = flags(c.Input)
			if c.HasArg("network") {
				text += someNetwork
			}
			if c.HasArg("collective") {
				text += someCollective
			}
			_, err := load("s.toml", []byte(text), o)
			require.Error(t, err, "%s", c.Pos)
			requirePlain(t, err)
			requireOurs(t, err)
			return err.Error() + "\n"
		})
	})
}

// classes are the ways in which a scenario can be wrong; each has a file of the same name with at
// least five cases, that says so in its first line.
var classes = map[string]string{
	"syntax": "syntax", "unknown-key": "unknown key", "unknown-name": "unknown name",
	"wrong-type": "wrong type", "bad-unit": "bad unit", "out-of-range": "out of range",
	"missing": "missing", "contradictory": "contradictory", "impossible": "impossible combination",
	"file": "unreadable or missing file", "huge": "huge values", "not-toml": "not TOML at all",
	"variants": "variants",
}

// TestClasses: of every class there are enough wrong scenarios, each with an error of its own.
func TestClasses(t *testing.T) {
	require.Len(t, classes, 13)
	for file, class := range classes {
		text, err := os.ReadFile("testdata/errors/" + file)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(text), "# Class: "+class+".\n"), file)
		cases := strings.Split(string(text), "\nload")[1:]
		require.GreaterOrEqual(t, len(cases), 5, file)
		seen := map[string]bool{}
		for _, c := range cases {
			require.False(t, seen[c], "%s has a case twice: %s", file, c)
			seen[c] = true
		}
	}
}

// requireOurs checks that an error is in our words, not in those of Go or of a library.
func requireOurs(t *testing.T, err error) {
	t.Helper()
	for _, e := range err.(*Errors).List {
		require.NotRegexp(t, internals, e.Text+"\n"+e.Hint)
	}
}

// requirePlain checks what every error must be like.
func requirePlain(t *testing.T, err error) {
	t.Helper()
	var list *Errors
	require.ErrorAs(t, err, &list)
	require.NotEmpty(t, list.List)
	require.LessOrEqual(t, len(list.List), MaxErrors)
	before := 0
	for _, e := range list.List {
		require.NotEmpty(t, e.File)
		require.NotEmpty(t, e.Text)
		require.NotContains(t, e.Text+e.Hint+e.Key+e.Value, "\n")
		if e.File == list.List[0].File {
			require.GreaterOrEqual(t, e.Line, before)
			before = e.Line
		}
	}
	var one *Error
	require.True(t, errors.As(err, &one))
	require.Equal(t, list.List[0], one)
}
