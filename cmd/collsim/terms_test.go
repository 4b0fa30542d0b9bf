package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTerms: a name is of one term, and finds it whatever its case; each term is a sentence or
// more, and `help terms` prints them all.
func TestTerms(t *testing.T) {
	var out, wrong bytes.Buffer
	a := &app{out: &out, err: &wrong}
	require.Zero(t, a.main(context.Background(), []string{"help", "terms"}), wrong.String())
	seen := map[string]bool{}
	for _, one := range terms() {
		require.Regexp(t, `\.$`, one.means)
		require.Contains(t, out.String(), termText(one))
		for name := range strings.SplitSeq(one.names, ", ") {
			require.False(t, seen[name], name)
			seen[name] = true
			found, ok := findTerm(strings.ToUpper(name))
			require.True(t, ok)
			require.Equal(t, one, found)
		}
	}
}
