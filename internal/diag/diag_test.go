package diag

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestError prints each part where it is known, and none of what is not.
func TestError(t *testing.T) {
	for want, p := range map[string]Problem{
		"a.toml:6: ranks = \"8\": a number is expected\n  write 8": {"a.toml", 6, "ranks", `"8"`,
			"a number is expected", "write 8"},
		"a.toml:6: ranks: it is missing": {File: "a.toml", Line: 6, Key: "ranks",
			Text: "it is missing"},
		"a.csv:2: \"x\": no number": {File: "a.csv", Line: 2, Value: `"x"`, Text: "no number"},
		"a.xml: it is empty":        {File: "a.xml", Text: "it is empty"},
		"no file\n  name one":       {Text: "no file", Hint: "name one"},
	} {
		require.Equal(t, want, p.Error())
	}
	require.Equal(t, "line 6: ranks: missing",
		(&Problem{File: "a.toml", Line: 6, Key: "ranks", Text: "missing"}).Within())
}
