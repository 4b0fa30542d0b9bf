package main

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPageSize writes a page of a thousand results, with timelines of some: it takes less than a
// megabyte, and has a row for each.
func TestPageSize(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"example:compare", "--quiet", "--csv", "rows.csv", "--report", "page.html"}
	for _, set := range []string{"check.proof=false", "check.numbers=false",
		`collective.algorithm=["ring", "one-shot", "two-shot", "recursive-doubling"]`,
		`sweep."collective.bytes"={ from = "1 KiB", to = "25 KiB", step = "1 KiB" }`,
		`sweep."topology.latency"=["1 us", "2 us", "3 us", "4 us", "5 us", "6 us", "7 us", ` +
			`"8 us", "9 us", "10 us"]`} {
		args = append(args, "--set", set)
	}
	a := &app{in: strings.NewReader(""), out: io.Discard, err: os.Stderr}
	require.Equal(t, exitOK, a.main(context.Background(), args))
	html, err := os.ReadFile("page.html")
	require.NoError(t, err)
	results, _, _ := strings.Cut(string(html), `id="part2"`)
	require.Equal(t, 1000, strings.Count(results, "<tr><td>"))
	require.Less(t, len(html), 1_000_000)
	t.Log(len(html), "bytes")
}
